package shard

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/stripe/read"
)

// selection finds the rows of a task that a filter is true for. The columns of the
// filter are decoded one after the other, each for the rows that are left.
type selection struct {
	*stripeFilter
	options read.Options
	result  []arrowmap.Column // what the scan gives
	stats   *scanStats
	arrays  []selected // by column of the filter
	bits    []byte
}

// selected is the last array that was made of a column, and its rows.
type selected struct {
	rows  rowset.Set
	array arrow.Array // as the filter takes it
	bare  arrow.Array // of the column's bare type, nil if that has not been read
}

func newSelection(f *stripeFilter, sc *scanner, limit int64) *selection {
	return &selection{
		stripeFilter: f, result: sc.columns, stats: sc.stats, arrays: make([]selected, len(f.columns)),
		options: read.Options{Allocator: sc.o.Allocator, MaxArrayBytes: limit, Counters: sc.stats.counters()},
	}
}

func (s *selection) release() {
	for i := range s.arrays {
		s.drop(i)
	}
}

func (s *selection) drop(i int) {
	a := &s.arrays[i]
	for _, arr := range []arrow.Array{a.array, a.bare} {
		if arr != nil {
			arr.Release()
		}
	}
	*a = selected{}
}

// choose gives the rows of a set that the filter is true for.
func (s *selection) choose(ctx context.Context, set rowset.Set) (rowset.Set, error) {
	set = set.And(s.maybe)
	sure := set.And(s.sure)
	if !sure.Empty() {
		set = set.And(sure.Not(s.stripe.Rows()))
	}
	if s.stats != nil {
		s.stats.evaluated.Add(set.Len())
	}
	found, err := s.node(ctx, s.pred.bound.Root(), set)
	return found.Or(sure), err
}

func (s *selection) node(ctx context.Context, n *filter.Node, set rowset.Set) (rowset.Set, error) {
	if set.Empty() {
		return set, nil
	}
	switch s.verdict(n, s.facts) {
	case filter.None:
		return rowset.Set{}, nil
	case filter.All:
		return set, nil
	}
	switch n.Kind {
	case filter.NodeAnd:
		for _, k := range s.order[n] {
			var err error
			if set, err = s.node(ctx, k, set); err != nil {
				return set, err
			}
		}
		return set, nil
	case filter.NodeOr:
		var found rowset.Set
		for _, k := range s.order[n] {
			more, err := s.node(ctx, k, set)
			if err != nil {
				return more, err
			}
			found = found.Or(more)
			set = set.And(more.Not(s.stripe.Rows()))
		}
		return found, nil
	}
	return s.leaf(ctx, n, set)
}

func (s *selection) leaf(ctx context.Context, n *filter.Node, set rowset.Set) (rowset.Set, error) {
	found, err := s.evaluate(ctx, n, set)
	s.pred.found[n].add(set, found)
	return found, err
}

func (s *selection) evaluate(ctx context.Context, n *filter.Node, set rowset.Set) (found rowset.Set, err error) {
	if c := s.leaves[n]; c != nil {
		r, err := s.reader(ctx, n.Column)
		if err != nil {
			return found, err
		}
		return r.With(s.options).SelectCodes(ctx, set, c.keep)
	}
	columns := make([]arrow.Array, len(s.columns))
	if wanted, ok := s.numbers(n, set); ok {
		r, err := s.reader(ctx, n.Column)
		if err != nil {
			return found, err
		}
		if found, ok, err := r.With(s.options).SelectNumbers(ctx, set, wanted); ok || err != nil {
			return found, err
		}
	}
	if s.blockwise(n, set) {
		r, err := s.reader(ctx, n.Column)
		if err != nil {
			return found, err
		}
		found, ok, err := r.With(s.options).SelectBlocks(ctx, set, func(dst []byte, values arrow.Array) ([]byte, error) {
			columns[n.Column] = values
			return n.Eval(dst, columns, values.Len())
		}, required(n.Test)...)
		if ok || err != nil {
			return found, err
		}
	}
	for _, i := range n.Columns() {
		if err := s.read(ctx, i, set); err != nil {
			return found, err
		}
		columns[i] = s.arrays[i].array
	}
	s.bits, err = n.Eval(s.bits, columns, int(set.Len()))
	if err != nil {
		return found, err
	}
	return set.Select(s.bits), nil
}

// blockwise tells whether a leaf is best evaluated block by block, and what it
// decoded for that dropped: where few rows are to be expected, or none.
func (s *selection) blockwise(n *filter.Node, set rowset.Set) bool {
	if !s.unread(n, set) {
		return false
	}
	switch t := n.Test.(type) {
	case *filter.Text:
		return !t.Not && (len(t.Prefix) > 0 || len(t.Parts) > 0)
	case filter.Bytes:
		_, ok := t.Constants()
		return ok
	}
	return false
}

// required are byte strings that every value contains which meets a test.
func required(t filter.Test) [][]byte {
	switch t := t.(type) {
	case *filter.Text:
		if !t.Not {
			return append(slices.Clip(t.Parts), t.Prefix)
		}
	case filter.Bytes:
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

// unread tells whether a leaf is about a plain column that has not been decoded for
// the rows of a set.
func (s *selection) unread(n *filter.Node, set rowset.Set) bool {
	if n.Kind != filter.NodeLeaf {
		return false
	}
	c, a := &s.columns[n.Column], &s.arrays[n.Column]
	return c.bare && c.direct && len(c.nodes) == 1 && (a.array == nil || !a.rows.Equal(set))
}

// numbers are the numbers that a leaf wants, if they are best found in encoded
// blocks: where most rows of those are asked for, and the result does not need the
// column, or probably but few values of it.
func (s *selection) numbers(n *filter.Node, set rowset.Set) (wanted read.Numbers, ok bool) {
	if bounds := set.Bounds(); !s.unread(n, set) || 2*set.Len() < bounds.Len() {
		return wanted, false
	}
	switch t := n.Test.(type) {
	case filter.Ints:
		wanted.Ints = numbersOf(t)
	case filter.Decimals:
		wanted.Ints = numbersOf(t.Int64())
	case filter.Uints:
		wanted.Uints = numbersOf(t)
	case filter.Floats:
		if wanted.Floats = numbersOf(t.Intervals); t.NaN {
			return wanted, false
		}
	default:
		return wanted, false
	}
	return wanted, s.pred.found[n].few() || !s.inResult(s.columns[n.Column].top.ID)
}

func (s *selection) inResult(id uint32) bool {
	return slices.ContainsFunc(s.result, func(c arrowmap.Column) bool { return c.ID == id })
}

// numbersOf are the intervals of a leaf.
func numbersOf[T numeric.Value](in []filter.Interval[T]) []numeric.Interval[T] {
	out := make([]numeric.Interval[T], len(in))
	for i, v := range in {
		out[i] = numeric.Interval[T]{Low: v.Lo, High: v.Hi}
	}
	return out
}

// read decodes a column of the filter for the rows of a set.
func (s *selection) read(ctx context.Context, i int, set rowset.Set) error {
	if a := &s.arrays[i]; a.array != nil && a.rows.Equal(set) {
		return nil
	}
	s.drop(i)
	r, err := s.reader(ctx, i)
	if err != nil {
		return err
	}
	c := &s.columns[i]
	a := selected{rows: set}
	read := r.With(s.options).ReadRows
	if c.bare {
		read = r.With(s.options).ReadPhysical
	}
	if a.array, err = read(ctx, set); err != nil {
		return err
	}
	if !c.direct {
		whole := a.array
		a.array, err = filter.Child(whole, c.index)
		whole.Release()
		if err != nil {
			return err
		}
	} else if c.bare && len(c.nodes) == 1 {
		a.bare = a.array
		a.bare.Retain()
	}
	s.arrays[i] = a
	return nil
}

// same tells whether a column of the filter has the arrays that a field of the shard
// is made of.
func (s *selection) same(i int, col *arrowmap.Column) bool {
	top := &s.columns[i].top
	return top.ID == col.ID && len(top.Children) == 0 && arrow.TypeEqual(top.Arrow.Type, col.Arrow.Type)
}

// entry gives the only entry of its dictionary that a field of the shard has in rows
// that were chosen, nil if there is none.
func (s *selection) entry(col *arrowmap.Column) *onlyEntry {
	for k := range s.only {
		if s.same(s.only[k].column, col) {
			return &s.only[k]
		}
	}
	return nil
}

// holds gives what was decoded for the filter of a field of the shard, nil if that
// has not all the rows or another type.
func (s *selection) holds(col *arrowmap.Column, rows rowset.Set) *selected {
	for i := range s.arrays {
		a := &s.arrays[i]
		if a.bare != nil && s.same(i, col) && a.rows.Has(rows) {
			return a
		}
	}
	return nil
}
