package scan

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// rowFilter finds the rows of a task that a filter is true for. The columns of the filter
// are decoded one after the other, each for the rows that are left.
type rowFilter struct {
	*stripeFilter
	options table.ReadOptions
	result  []table.Column // what the scan gives
	stats   *runStats
	arrays  []decodedColumn // by column of the filter
	bits    []byte
}

// decodedColumn is the last array that was made of a column, and its rows.
type decodedColumn struct {
	rows     rowset.Set
	array    arrow.Array // as the filter takes it
	physical arrow.Array // nil if that has not been read
}

func newRowFilter(f *stripeFilter, sc *scanner, j *job) *rowFilter {
	r := &rowFilter{stripeFilter: f, result: sc.columns, stats: sc.stats, arrays: make([]decodedColumn, len(f.columns)), options: sc.readOptions(j)}
	r.options.Prefetched = j.looked
	return r
}

func (r *rowFilter) release() {
	for i := range r.arrays {
		r.drop(i)
	}
}

func (r *rowFilter) drop(i int) {
	a := &r.arrays[i]
	arrowutil.ReleaseAll([]arrow.Array{a.array, a.physical})
	*a = decodedColumn{}
}

// apply gives the rows of a set that the filter is true for.
func (r *rowFilter) apply(ctx context.Context, set rowset.Set) (rowset.Set, error) {
	set = set.And(r.maybe)
	sure := set.And(r.sure)
	if !sure.Empty() {
		set = set.And(sure.Not(r.stripe.Rows()))
	}
	if r.stats != nil {
		r.stats.evaluated.Add(set.Len())
	}
	found, err := r.node(ctx, r.bound.expr.Root(), set)
	return found.Or(sure), err
}

func (r *rowFilter) node(ctx context.Context, n *predicate.Node, set rowset.Set) (rowset.Set, error) {
	if set.Empty() {
		return set, nil
	}
	if known := r.known[n]; known != nil {
		switch {
		case known.Maybe.Empty():
			return rowset.Set{}, nil
		case known.True.Len() == r.stripe.Rows():
			return set, nil
		}
	}
	switch n.Kind {
	case predicate.NodeAnd:
		for _, k := range r.order[n] {
			var err error
			if set, err = r.node(ctx, k, set); err != nil {
				return set, err
			}
		}
		return set, nil
	case predicate.NodeOr:
		var found rowset.Set
		for _, k := range r.order[n] {
			more, err := r.node(ctx, k, set)
			if err != nil {
				return more, err
			}
			found = found.Or(more)
			set = set.And(more.Not(r.stripe.Rows()))
		}
		return found, nil
	}
	return r.leaf(ctx, n, set)
}

func (r *rowFilter) leaf(ctx context.Context, n *predicate.Node, set rowset.Set) (rowset.Set, error) {
	found, err := r.evaluate(ctx, n, set)
	r.bound.hits[n].add(set, found)
	return found, err
}

// evaluate finds the rows of a leaf: by codes, by numbers in their encoded form, block by
// block, or with all values decoded, whichever is the first that can.
func (r *rowFilter) evaluate(ctx context.Context, n *predicate.Node, set rowset.Set) (found rowset.Set, err error) {
	if c := r.codes.Codes(n); c != nil {
		reader, err := r.reader(ctx, n.Column)
		if err != nil {
			return found, err
		}
		return reader.(table.DictionaryReader).SelectCodes(ctx, set, c.Keep, &r.options)
	}
	columns := make([]arrow.Array, len(r.columns))
	if r.numbers(n, set) {
		if found, ok, err := r.findNumbers(ctx, n, set); ok || err != nil {
			return found, err
		}
	}
	if r.blockwise(n, set) {
		if found, ok, err := r.findInBlocks(ctx, n, set, columns); ok || err != nil {
			return found, err
		}
	}
	for _, i := range n.Columns() {
		if err := r.decode(ctx, i, set); err != nil {
			return found, err
		}
		columns[i] = r.arrays[i].array
	}
	r.bits, err = n.Eval(r.bits, columns, int(set.Len()))
	if err != nil {
		return found, err
	}
	return set.Select(r.bits), nil
}

func (r *rowFilter) findNumbers(ctx context.Context, n *predicate.Node, set rowset.Set) (found rowset.Set, ok bool, err error) {
	reader, err := r.reader(ctx, n.Column)
	if err != nil {
		return found, false, err
	}
	finder, ok := reader.(table.NumberFinder)
	if !ok {
		return found, false, nil
	}
	return finder.FindNumbers(ctx, set, n.Test, &r.options)
}

func (r *rowFilter) findInBlocks(ctx context.Context, n *predicate.Node, set rowset.Set, columns []arrow.Array) (found rowset.Set, ok bool, err error) {
	reader, err := r.reader(ctx, n.Column)
	if err != nil {
		return found, false, err
	}
	finder, ok := reader.(table.BlockFinder)
	if !ok {
		return found, false, nil
	}
	holds := func(dst []byte, values arrow.Array) ([]byte, error) {
		columns[n.Column] = values
		return n.Eval(dst, columns, values.Len())
	}
	return finder.FindInBlocks(ctx, set, holds, required(n.Test), &r.options)
}

// blockwise tells whether a leaf is best evaluated block by block, and what it decoded for
// that dropped: where few rows are to be expected, or none.
func (r *rowFilter) blockwise(n *predicate.Node, set rowset.Set) bool {
	if !r.toDecode(n, set) {
		return false
	}
	switch t := n.Test.(type) {
	case *predicate.Text:
		return !t.Not && (len(t.Prefix) > 0 || len(t.Parts) > 0)
	case valueset.Bytes:
		_, ok := t.Constants()
		return ok
	}
	return false
}

// required are byte strings that every value contains which meets a test.
func required(t predicate.Test) [][]byte {
	switch t := t.(type) {
	case *predicate.Text:
		if !t.Not {
			return append(slices.Clip(t.Parts), t.Prefix)
		}
	case valueset.Bytes:
		if len(t) == 1 {
			if prefix, ok := t[0].Prefix(); ok {
				return [][]byte{prefix}
			}
			if value, ok := t[0].Constant(); ok {
				return [][]byte{value}
			}
		}
	}
	return nil
}

// toDecode tells whether a leaf is about a plain column that has not been decoded for the
// rows of a set.
func (r *rowFilter) toDecode(n *predicate.Node, set rowset.Set) bool {
	if n.Kind != predicate.NodeLeaf {
		return false
	}
	c, a := &r.columns[n.Column], &r.arrays[n.Column]
	return c.physical && c.direct && len(c.path) == 1 && (a.array == nil || !a.rows.Equal(set))
}

// numbers tells whether the numbers that a leaf wants are best found in encoded blocks:
// where most rows of those are asked for, and the result does not need the column, or
// probably but few values of it.
func (r *rowFilter) numbers(n *predicate.Node, set rowset.Set) bool {
	if !r.toDecode(n, set) || 2*set.Len() < set.Bounds().Len() {
		return false
	}
	switch t := n.Test.(type) {
	case valueset.Ints, valueset.Decimals, valueset.Uints:
	case valueset.Floats:
		if t.NaN {
			return false
		}
	default:
		return false
	}
	return r.bound.hits[n].low() || !r.inResult(r.columns[n.Column].top.ID)
}

func (r *rowFilter) inResult(id uint32) bool {
	return slices.ContainsFunc(r.result, func(c table.Column) bool { return c.ID == id })
}

// decode decodes a column of the filter for the rows of a set.
func (r *rowFilter) decode(ctx context.Context, i int, set rowset.Set) error {
	if a := &r.arrays[i]; a.array != nil && a.rows.Equal(set) {
		return nil
	}
	r.drop(i)
	reader, err := r.reader(ctx, i)
	if err != nil {
		return err
	}
	c := &r.columns[i]
	read := reader.Read
	if c.physical {
		read = reader.ReadPhysical
	}
	a := decodedColumn{rows: set}
	if a.array, err = read(ctx, set, &r.options); err != nil {
		return err
	}
	if !c.direct {
		whole := a.array
		a.array, err = predicate.Child(whole, c.index)
		whole.Release()
		if err != nil {
			return err
		}
	} else if c.physical && len(c.path) == 1 {
		a.physical = a.array
		a.physical.Retain()
	}
	r.arrays[i] = a
	return nil
}

// same tells whether a column of the filter has the arrays that a column of the result is
// made of.
func (r *rowFilter) same(i int, col *table.Column) bool {
	top := &r.columns[i].top
	return top.ID == col.ID && len(top.Children) == 0 && arrow.TypeEqual(top.Arrow.Type, col.Arrow.Type)
}

// onlyEntry gives the only entry of its dictionary that a column has in rows that the filter
// is true for, nil if there may be others.
func (r *rowFilter) onlyEntry(col *table.Column) *onlyEntry {
	for k := range r.only {
		if r.same(r.only[k].column, col) {
			return &r.only[k]
		}
	}
	return nil
}

// decoded gives what was decoded for the filter of a column, nil if that has not all the
// rows or another type.
func (r *rowFilter) decoded(col *table.Column, rows rowset.Set) *decodedColumn {
	for i := range r.arrays {
		a := &r.arrays[i]
		if a.physical != nil && r.same(i, col) && a.rows.Has(rows) {
			return a
		}
	}
	return nil
}
