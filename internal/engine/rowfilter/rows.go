package rowfilter

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/search"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// Rows searches some rows of a stripe for those that a filter is true for. It belongs to one goroutine at a time.
// Release ends it.
type Rows struct {
	*Stripe
	Options table.ReadOptions // of all reads

	result    []table.Column  // columns of the result
	evaluated *atomic.Int64   // rows whose values were examined; nil for no count
	arrays    []decodedColumn // indexed by column of the filter
	bits      []byte
	deciders  map[*predicate.Text]search.Decide
}

// decodedColumn is the latest decoded array of a column, and its rows.
type decodedColumn struct {
	rows     rowset.Set
	array    arrow.Array // with the values that the filter needs
	physical arrow.Array // nil if no physical array was read
}

// Rows begins a search. result are the columns that the caller will read for the rows found. The number of rows
// whose values are examined is added to evaluated, if it is not nil.
func (f *Stripe) Rows(result []table.Column, o table.ReadOptions, evaluated *atomic.Int64) *Rows {
	return &Rows{Stripe: f, Options: o, result: result, evaluated: evaluated, arrays: make([]decodedColumn, len(f.columns))}
}

// Release releases the decoded columns.
func (r *Rows) Release() {
	for i := range r.arrays {
		r.drop(i)
	}
}

func (r *Rows) drop(i int) {
	a := &r.arrays[i]
	arrowutil.ReleaseAll([]arrow.Array{a.array, a.physical})
	*a = decodedColumn{}
}

// Apply returns the rows of a set that the filter is true for.
func (r *Rows) Apply(ctx context.Context, set rowset.Set) (rowset.Set, error) {
	set = set.And(r.Maybe)
	sure := set.And(r.Sure)
	if sure.Len() == set.Len() {
		return set, nil
	}
	set = set.Minus(sure)
	if r.evaluated != nil {
		r.evaluated.Add(set.Len())
	}
	found, err := r.node(ctx, r.bound.expr.Root(), set)
	if err == nil && r.finding != nil {
		r.finding.Add(set, found)
	}
	return found.Or(sure), err
}

func (r *Rows) node(ctx context.Context, n *predicate.Node, set rowset.Set) (rowset.Set, error) {
	if set.Empty() {
		return set, nil
	}
	switch known := &r.known[n.ID]; {
	case known.Maybe.Empty():
		return rowset.Set{}, nil
	case known.True.Len() == r.stripe.Rows():
		return set, nil
	}
	switch n.Kind {
	case predicate.NodeAnd:
		for _, k := range n.Nodes {
			var err error
			if set, err = r.node(ctx, k, set); err != nil {
				return set, err
			}
		}
		return set, nil
	case predicate.NodeOr:
		var found rowset.Set
		for _, k := range n.Nodes {
			more, err := r.node(ctx, k, set)
			if err != nil {
				return more, err
			}
			found = found.Or(more)
			set = set.Minus(more)
		}
		return found, nil
	}
	return r.leaf(ctx, n, set)
}

func (r *Rows) leaf(ctx context.Context, n *predicate.Node, set rowset.Set) (rowset.Set, error) {
	found, err := r.evaluate(ctx, n, set)
	r.bound.hits[n.ID].asked.Add(set.Len())
	r.bound.hits[n.ID].found.Add(found.Len())
	return found, err
}

// evaluate finds the rows of a leaf in the first possible way: by dictionary codes, by numbers in their encoded
// form, block by block, or with all values decoded.
func (r *Rows) evaluate(ctx context.Context, n *predicate.Node, set rowset.Set) (found rowset.Set, err error) {
	columns := make([]arrow.Array, len(r.columns))
	if c := r.codes.Codes(n); c != nil {
		reader, err := r.Column(ctx, n.Column)
		if err != nil {
			return found, err
		}
		if c.Mixed {
			return reader.(table.MixedReader).SelectMixed(ctx, set, c.Keep, r.holds(n, columns), &r.Options)
		}
		return reader.(table.DictionaryReader).SelectCodes(ctx, set, c.Keep, &r.Options)
	}
	if r.toDecode(n, set) {
		if found, ok, err := r.findEncoded(ctx, n, set, columns); ok || err != nil {
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

// findEncoded searches the column of a leaf without keeping decoded values, if that pays: nulls, numbers in their encoded form, or byte strings
// block by block. ok is false if it was not searched.
func (r *Rows) findEncoded(ctx context.Context, n *predicate.Node, set rowset.Set, columns []arrow.Array) (found rowset.Set, ok bool, err error) {
	numbers := r.numbers(n, set)
	required, rare := requiredOf(n.Test)
	if t, ok := n.Test.(*predicate.Text); ok {
		required.Decide = r.deciderOf(t)
		rare = rare || r.fewNeeded(n)
	}
	nulls, isNulls := n.Test.(predicate.Nulls)
	isNulls = isNulls && r.fewNeeded(n)
	if !numbers && !rare && !isNulls {
		return found, false, nil
	}
	reader, err := r.Column(ctx, n.Column)
	if err != nil {
		return found, false, err
	}
	if finder, is := reader.(table.NullFinder); is && isNulls {
		return finder.FindNulls(ctx, set, nulls.Not, &r.Options)
	}
	if finder, is := reader.(table.NumberFinder); is && numbers {
		return finder.FindNumbers(ctx, set, n.Test, &r.Options)
	}
	finder, is := reader.(table.BlockFinder)
	if !is || !rare {
		return found, false, nil
	}
	return finder.FindInBlocks(ctx, set, r.holds(n, columns), required, &r.Options)
}

// deciderOf tells what a test says about shapes, with memory of its own.
func (r *Rows) deciderOf(t *predicate.Text) search.Decide {
	if r.deciders == nil {
		r.deciders = map[*predicate.Text]search.Decide{}
	}
	if r.deciders[t] == nil {
		r.deciders[t] = t.Decider(t.Not)
	}
	return r.deciders[t]
}

// holds evaluates a leaf on values of its column.
func (r *Rows) holds(n *predicate.Node, columns []arrow.Array) table.Holds {
	return func(dst []byte, values arrow.Array) ([]byte, error) {
		columns[n.Column] = values
		return n.Eval(dst, columns, values.Len())
	}
}

// requiredOf is what every byte string has for which a leaf is true. rare tells that these are probably few, so that it pays not to keep the
// decoded values of a block.
func requiredOf(t predicate.Test) (r table.Required, rare bool) {
	switch t := t.(type) {
	case *predicate.Text:
		if !t.Not {
			return table.Required{Parts: append(slices.Clip(t.Parts), t.Prefix), Prefix: t.Prefix}, len(t.Prefix) > 0 || len(t.Parts) > 0
		}
	case valueset.Bytes:
		if len(t) == 1 {
			if prefix, ok := t[0].Prefix(); ok {
				return table.Required{Parts: [][]byte{prefix}, Prefix: prefix}, true
			}
			if value, ok := t[0].Constant(); ok {
				return table.Required{Parts: [][]byte{value}, Prefix: value, Equal: true}, true
			}
		}
		_, rare = t.Constants()
	}
	return r, rare
}

// toDecode reports whether a leaf needs a plain column that is not decoded for the rows of a set.
func (r *Rows) toDecode(n *predicate.Node, set rowset.Set) bool {
	if n.Kind != predicate.NodeLeaf {
		return false
	}
	c, a := &r.columns[n.Column], &r.arrays[n.Column]
	return c.physical && c.direct && len(c.path) == 1 && (a.array == nil || !a.rows.Equal(set))
}

// numbers reports whether to search the numbers of a leaf in encoded blocks. This pays for most of their rows, if
// the result needs probably few values of the column.
func (r *Rows) numbers(n *predicate.Node, set rowset.Set) bool {
	if set.Len() <= FewRows || 2*set.Len() < set.Bounds().Len() {
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
	return r.fewNeeded(n)
}

// fewNeeded reports whether the result needs probably few values of the column of a leaf.
func (r *Rows) fewNeeded(n *predicate.Node) bool {
	of := func(c table.Column) bool { return c.ID == r.columns[n.Column].top.ID }
	return r.bound.hits[n.ID].low() || !slices.ContainsFunc(r.result, of)
}

// decode decodes a column of the filter for the rows of a set.
func (r *Rows) decode(ctx context.Context, i int, set rowset.Set) error {
	if a := &r.arrays[i]; a.array != nil && a.rows.Equal(set) {
		return nil
	}
	r.drop(i)
	reader, err := r.Column(ctx, i)
	if err != nil {
		return err
	}
	c := &r.columns[i]
	a := decodedColumn{rows: set}
	if m, is := reader.(table.LengthReader); is && c.Lengths && c.direct {
		if a.array, err = m.Lengths(ctx, set, &r.Options); a.array != nil || err != nil {
			r.arrays[i] = a
			return err
		}
	}
	read := reader.Read
	if c.physical {
		read = reader.ReadPhysical
	}
	whole, err := read(ctx, set, &r.Options)
	if err != nil {
		return err
	}
	defer whole.Release()
	if c.direct {
		a.array, err = c.Values(whole)
	} else {
		a.array, err = c.valuesIn(whole)
	}
	if err != nil {
		return err
	}
	if c.direct && c.physical && len(c.path) == 1 {
		a.physical = whole
		a.physical.Retain()
	}
	r.arrays[i] = a
	return nil
}

// valuesIn returns the values of the column in an array of its top-level column.
func (c *stripeColumn) valuesIn(top arrow.Array) (arrow.Array, error) {
	field, err := predicate.Child(top, c.index)
	if err != nil {
		return nil, err
	}
	defer field.Release()
	return c.Values(field)
}

// same reports whether the arrays of a column of the filter serve as a column of the result.
func (r *Rows) same(i int, col *table.Column) bool {
	top := &r.columns[i].top
	return top.ID == col.ID && len(top.Children) == 0 && arrow.TypeEqual(top.Arrow.Type, col.Arrow.Type)
}

// Constant returns a function for n values of a column that has the same dictionary entry in all rows that the filter is true for, as an array of
// the physical type. It is nil for other columns.
func (r *Rows) Constant(col *table.Column) func(ctx context.Context, n int64) (arrow.Array, error) {
	k := slices.IndexFunc(r.only, func(o onlyEntry) bool { return r.same(o.column, col) })
	if k < 0 {
		return nil
	}
	return func(ctx context.Context, n int64) (arrow.Array, error) {
		reader, err := r.Column(ctx, r.only[k].column)
		if err != nil {
			return nil, err
		}
		return reader.(table.DictionaryReader).Repeat(ctx, r.only[k].entry, n, &r.Options)
	}
}

// Decoded returns a function for some rows of a column that was decoded for the filter, as an array of the physical type, which the caller
// releases. It is nil if rows are missing or the type differs.
func (r *Rows) Decoded(col *table.Column, rows rowset.Set) func() (arrow.Array, error) {
	for i := range r.arrays {
		a := &r.arrays[i]
		if a.physical == nil || !r.same(i, col) {
			continue
		}
		if a.rows.Equal(rows) {
			return func() (arrow.Array, error) {
				a.physical.Retain()
				return a.physical, nil
			}
		}
		if places, ok := rows.Indices(a.rows); ok {
			return func() (arrow.Array, error) { return arrowutil.Take(r.Options.Allocator, a.physical, places) }
		}
	}
	return nil
}
