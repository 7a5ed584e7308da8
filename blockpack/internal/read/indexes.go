package read

import (
	"context"
	"math"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// IndexesOfAll implements [table.Indexed].
func (t *Table) IndexesOfAll(_ context.Context, columns []table.FilterColumn) ([]source.Index, error) {
	l := &t.blocks
	if !l.trusted {
		return nil, nil
	}
	base := fileIndex{table: t, list: l, columns: columns}
	return []source.Index{traceIndex{base}, blockIndex{base}, rangeIndex{base}}, nil
}

// fileIndex is what the indexes of the metadata have in common.
type fileIndex struct {
	table   *Table
	list    *blockList
	columns []table.FilterColumn
}

// field is the column that a condition asks about. ok is false if it is none of the file's.
func (x *fileIndex) field(n *predicate.Node) (f *spans.Field, c *table.FilterColumn, ok bool) {
	if n.Kind != predicate.NodeLeaf || n.Column >= len(x.columns) {
		return nil, nil, false
	}
	c = &x.columns[n.Column]
	if len(c.Path) != 1 || c.Inside != nil {
		return nil, nil, false
	}
	return &x.table.columns.Load().fields[c.Path[0].ID], c, true
}

// range of the rows of a block.
func (x *fileIndex) rows(block int) rowset.Range {
	return rowset.Range{From: x.list.firstRows[block], To: x.list.firstRows[block+1]}
}

// blockIndex asks what the block index knows of each block: bounds of starts and of ids, names of columns, bounds of values.
type blockIndex struct{ fileIndex }

// Name implements [source.Index].
func (blockIndex) Name() string { return "block index" }

// Cost implements [source.Index].
func (x blockIndex) Cost(n *predicate.Node) (int64, []int) {
	if _, _, ok := x.field(n); !ok {
		return 0, nil
	}
	return 1, []int{n.Column}
}

// Ask implements [source.Index].
func (x blockIndex) Ask(ctx context.Context, n *predicate.Node, among rowset.Set) (source.Answer, error) {
	f, c, _ := x.field(n)
	var maybe, sure []rowset.Range
	within := among.Bounds()
	facts := make([]predicate.Facts, n.Column+1)
	for i := range x.list.meta.Blocks {
		rows := x.rows(i)
		if within.To <= rows.From || within.From >= rows.To {
			continue
		}
		facts[n.Column] = x.facts(i, f, c)
		switch n.Prune(facts) {
		case predicate.All:
			sure = append(sure, rows)
			maybe = append(maybe, rows)
		case predicate.Some:
			maybe = append(maybe, rows)
		}
	}
	return source.Answer{Maybe: rowset.Of(maybe...), True: rowset.Of(sure...)}, ctx.Err()
}

// facts are those of a column in a block.
func (x blockIndex) facts(block int, f *spans.Field, c *table.FilterColumn) (facts predicate.Facts) {
	if !x.list.meta.MayHaveColumn(block, f.Name) {
		return predicate.Facts{NoValues: true, NoNaNs: true}
	}
	b := &x.list.meta.Blocks[block]
	facts.NoNulls = !c.Path[0].Arrow.Nullable
	switch {
	case f.Name == spans.Start && f.Type == column.Uint64 && b.MinStart <= b.MaxStart && b.MaxStart != 0:
		facts.Min = limitOf(column.Value{Type: column.Uint64, Bits: b.MinStart}, c.Type)
		facts.Max = limitOf(column.Value{Type: column.Uint64, Bits: b.MaxStart}, c.Type)
	case f.Name == spans.TraceID && f.Type == column.Bytes && f.Flags&column.IDs != 0:
		facts.Min, facts.Max = predicate.BytesLimit(b.MinTrace[:]), predicate.BytesLimit(b.MaxTrace[:])
	default:
		for v := range b.Values.All() {
			if v.Name == f.Name && v.Known && v.Min.Type.Base() == f.Type {
				facts.Min, facts.Max = limitOf(v.Min, c.Type), limitOf(v.Max, c.Type)
			}
		}
	}
	return facts
}

// rangeIndex asks the range index.
type rangeIndex struct{ fileIndex }

// Name implements [source.Index].
func (rangeIndex) Name() string { return "range index" }

// Cost implements [source.Index].
func (x rangeIndex) Cost(n *predicate.Node) (int64, []int) {
	f, _, ok := x.field(n)
	if !ok || x.list.meta.Ranges.Column(f.Name) == nil || intervalsOf(n.Test, f.Type) == nil {
		return 0, nil
	}
	return 1, []int{n.Column}
}

// Ask implements [source.Index].
func (x rangeIndex) Ask(_ context.Context, n *predicate.Node, among rowset.Set) (source.Answer, error) {
	f, _, _ := x.field(n)
	var found []uint32
	for _, v := range intervalsOf(n.Test, f.Type) {
		blocks, known := x.list.meta.Ranges.Interval(f.Name, f.Type, v.lo, v.hi, f.Type.Textual())
		if !known {
			return source.Answer{Maybe: among}, nil
		}
		found = append(found, blocks...)
	}
	slices.Sort(found)
	var maybe []rowset.Range
	for _, i := range slices.Compact(found) {
		if int(i) < len(x.list.meta.Blocks) {
			maybe = append(maybe, x.rows(int(i)))
		}
	}
	return source.Answer{Maybe: rowset.Of(maybe...)}, nil
}

// interval is the values from lo to hi, of byte strings without hi; nil is no bound.
type interval struct{ lo, hi *column.Value }

// intervalsOf are the values that meet a test, or nil if the index cannot tell: it has neither nulls nor NaN, nor empty
// strings.
func intervalsOf(test predicate.Test, t column.Type) (out []interval) {
	add := func(lo, hi uint64) {
		out = append(out, interval{&column.Value{Type: t, Bits: lo}, &column.Value{Type: t, Bits: hi}})
	}
	switch s := test.(type) {
	case valueset.Ints:
		for _, i := range s {
			if t == column.Uint64 && i.Hi < 0 {
				continue
			} else if t == column.Uint64 {
				i.Lo = max(i.Lo, 0)
			}
			add(uint64(i.Lo), uint64(i.Hi))
		}
	case valueset.Uints:
		for _, i := range s {
			add(i.Lo, i.Hi)
		}
	case valueset.Floats:
		if s.NaN {
			return nil
		}
		for _, i := range s.Intervals {
			add(math.Float64bits(i.Lo), math.Float64bits(i.Hi))
		}
	case valueset.Bytes:
		return intervalsOfBytes(s, t)
	case *predicate.Text:
		if !s.Not && len(s.Prefix) > 0 {
			return intervalsOfBytes(valueset.Bytes{valueset.WithPrefix(s.Prefix)}, t)
		}
	}
	return out
}

func intervalsOfBytes(s valueset.Bytes, t column.Type) (out []interval) {
	for _, r := range s {
		if r.Holds(nil) {
			return nil
		}
		v := interval{lo: &column.Value{Type: t, Data: r.Lo}}
		if !r.NoHi {
			v.hi = &column.Value{Type: t, Data: r.Hi}
		}
		out = append(out, v)
	}
	return out
}

// traceIndex asks the trace index for the rows of traces.
type traceIndex struct{ fileIndex }

// Name implements [source.Index].
func (traceIndex) Name() string { return "trace index" }

// maxTraces is the number of ids of a condition up to which the trace index is asked: each costs a search.
const maxTraces = 100_000

// Cost implements [source.Index].
func (x traceIndex) Cost(n *predicate.Node) (int64, []int) {
	f, _, ok := x.field(n)
	if !ok || f.Name != spans.TraceID || f.Type != column.Bytes || f.Flags&column.IDs == 0 || !x.list.traceRows() {
		return 0, nil
	}
	s, ok := n.Test.(valueset.Bytes)
	if !ok || len(s) > maxTraces {
		return 0, nil
	}
	if _, ok := s.Constants(); !ok {
		return 0, nil
	}
	return int64(len(s)), []int{n.Column}
}

// traceRows reports whether the trace index has the rows of all traces.
func (l *blockList) traceRows() bool {
	x := l.meta.Traces
	return x.HasRows() && x.Len() > 0 && l.meta.TracesComplete
}

// Ask implements [source.Index].
func (x traceIndex) Ask(ctx context.Context, n *predicate.Node, _ rowset.Set) (source.Answer, error) {
	ids, _ := n.Test.(valueset.Bytes).Constants()
	var rows []int64
	var found []layout.TraceBlock
	for k, id := range ids {
		if len(id) != len(layout.TraceID{}) {
			continue
		}
		found = x.list.meta.Traces.Lookup(found[:0], layout.TraceID(id))
		for _, b := range found {
			if b.Block >= len(x.list.meta.Blocks) {
				continue
			}
			r := x.rows(b.Block)
			for i := range b.Rows.Len() {
				if row := r.From + int64(b.Rows.At(i)); row < r.To {
					rows = append(rows, row)
				}
			}
		}
		if k%1024 == 0 && ctx.Err() != nil {
			return source.Answer{}, ctx.Err()
		}
	}
	set := rowsOf(rows, x.list.firstRows[len(x.list.firstRows)-1])
	return source.Answer{Maybe: set, True: set}, nil
}

// rowsOf are rows in any order, of all rows of a table.
func rowsOf(rows []int64, all int64) rowset.Set {
	if int64(len(rows)) < all/64 {
		slices.Sort(rows)
		return rowset.FromRows(rows)
	}
	bits := make([]byte, all/8+1)
	for _, row := range rows {
		bits[row/8] |= 1 << (row % 8)
	}
	return rowset.FromBits(bits, 0, int(all), 0)
}
