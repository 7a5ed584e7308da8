package read

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
	"github.com/amudai/amudai-go/storage"
)

// NumRows implements [table.Table].
func (t *Table) NumRows() int64 { return int64(t.footer.Entries()) }

// NumStripes implements [table.Table].
func (t *Table) NumStripes() int { return len(t.clusters) }

// Stripe implements [table.Table].
func (t *Table) Stripe(i int) table.Stripe { return cluster{table: t, index: i} }

// StoredBytes implements [table.Table].
func (t *Table) StoredBytes() int64 { return t.file.Size() }

// NumNodes implements [table.Table].
func (t *Table) NumNodes() int { return len(t.tree.Nodes) }

// Latency implements [table.Table].
func (t *Table) Latency() storage.Latency { return t.file.Reader().Capabilities().Latency }

// Project implements [table.Table].
func (t *Table) Project(_ context.Context, paths []string) (*table.Projection, error) {
	return table.ProjectFields(t.arrow, paths, func(i int, part *projection.Part) table.Column { return columnOf(t.tree.Fields[i].Prune(part)) })
}

// ProjectTops implements [table.Table].
func (t *Table) ProjectTops(ctx context.Context, paths []string) (*table.Projection, error) {
	return table.ProjectTops(ctx, t, paths, table.UniqueIn(t.arrow))
}

// Facts implements [table.Table]: an ntuple has no statistics.
func (t *Table) Facts(_ context.Context, path []*table.Column) (predicate.Facts, error) {
	return factsOf(path), nil
}

func factsOf(path []*table.Column) predicate.Facts {
	f := predicate.Facts{NoNulls: true}
	for _, c := range path {
		f.NoNulls = f.NoNulls && !c.Arrow.Nullable && kinds.Of(c.Plain) != kinds.Choice
	}
	return f
}

// PhysicalType implements [table.Table].
func (t *Table) PhysicalType(c *table.Column) (dt arrow.DataType, same bool) {
	f := t.fieldOf(c)
	return f.Physical, arrow.TypeEqual(f.Physical, f.Arrow.Type)
}

// Logical implements [table.Table].
func (t *Table) Logical(mem memory.Allocator, physical arrow.Array, c *table.Column) (arrow.Array, error) {
	return logical(mem, physical, t.fieldOf(c))
}

// PrefetchStripes implements [table.Table]: Load has read all page lists.
func (t *Table) PrefetchStripes(context.Context, []int) error { return nil }

// NewCounters implements [table.Table].
func (t *Table) NewCounters() table.Counters { return table.NewBlockCounters[uint64]() }

// Requests implements [table.Table].
func (t *Table) Requests() table.Requests {
	if c, ok := t.file.Source().(*table.Counted); ok {
		return c.Requests()
	}
	return table.Requests{}
}

// columnOf is a field as the engine knows it. Its ID is the node. Children are those of the
// Arrow type; an optional field has those of its item.
func columnOf(f *fields.Field) table.Column {
	c := table.Column{Arrow: f.Arrow, Plain: f.Plain, Wraps: f.Wraps, ID: f.Node}
	for f.Layout == fields.Optional {
		f = f.Children[0]
	}
	kids := f.Children
	if f.IsUnion() {
		kids = f.With(kids, true).Children // with their names
	}
	c.Children = make([]table.Column, len(kids))
	for i, kid := range kids {
		c.Children[i] = columnOf(kid)
		if f.Layout == fields.Variant && kid.Layout != fields.Tag { // null where another one is chosen
			c.Children[i].Arrow.Nullable = true
		}
	}
	return c
}

// fieldOf is the field that a column stands for, with those of its children that the
// column has.
func (t *Table) fieldOf(c *table.Column) *fields.Field {
	return t.withChildren(t.tree.Nodes[c.ID], c)
}

func (t *Table) withChildren(f *fields.Field, c *table.Column) *fields.Field {
	isWrapped := len(c.Wraps) == len(f.Wraps)
	switch {
	case f.Layout == fields.Optional:
		item := t.withChildren(f.Children[0], c)
		if item == f.Children[0] {
			return f
		}
		return f.With([]*fields.Field{item}, isWrapped)
	case len(f.Children) == 0 || f.IsUnion() && kinds.Of(c.Plain) == kinds.Choice:
		return f
	}
	children, whole := make([]*fields.Field, len(c.Children)), isWrapped && len(c.Children) == len(f.Children)
	for i := range c.Children {
		children[i] = t.fieldOf(&c.Children[i])
		whole = whole && children[i] == f.Children[i]
	}
	if whole {
		return f
	}
	return f.With(children, isWrapped)
}

// cluster is a [table.Stripe]. Load has read all metadata.
type cluster struct {
	table.PlainStripe
	table *Table
	index int
}

func (c cluster) Index() int      { return c.index }
func (c cluster) Position() int64 { return int64(c.table.clusters[c.index].FirstEntry) }
func (c cluster) Rows() int64     { return int64(c.table.clusters[c.index].Entries) }

func (c cluster) Metadata(_ context.Context, path []*table.Column) (source.Metadata, error) {
	m := source.Metadata{Facts: factsOf(path), Direct: true}
	for _, p := range path[:len(path)-1] {
		m.Direct = m.Direct && !p.Arrow.Nullable && c.table.tree.Nodes[p.ID].Layout != fields.Variant
	}
	return m, nil
}

// ValueBytes implements [table.Stripe]: the elements of the cluster's pages.
func (c cluster) ValueBytes(_ context.Context, col *table.Column) int64 {
	return int64(min(c.valueBytes(c.table.fieldOf(col))/max(uint64(c.Rows()), 1), math.MaxInt32))
}

// valueBytes is the size of the elements of a field in the cluster.
func (c cluster) valueBytes(f *fields.Field) (total uint64) {
	c.pages(f, func(f *fields.Field, id uint32, p envelope.Page) {
		bits := uint64(c.table.schema.Columns[id].Bits)
		if c.table.schema.Columns[id].Type.Real() {
			bits = uint64(8 * f.Kind.Size(1))
		}
		total += uint64(p.Elements) * bits / 8
	})
	return total
}

// pages calls do with the pages of a field in the cluster, and of all below it.
func (c cluster) pages(f *fields.Field, do func(f *fields.Field, id uint32, p envelope.Page)) {
	for _, id := range slices.Concat(f.Columns...) {
		for _, p := range c.table.clusters[c.index].Pages(id) {
			do(f, id, p)
		}
	}
	for _, kid := range f.Children {
		c.pages(kid, do)
	}
}

// RangesToOpen implements [table.Stripe]: opening a column reads nothing.
func (c cluster) RangesToOpen(_ context.Context, columns []table.Column, parts table.Parts, limit int64) (ranges []storage.ByteRange, err error) {
	if parts != table.AllValues {
		return nil, nil
	}
	for i := range columns {
		c.pages(c.table.fieldOf(&columns[i]), func(_ *fields.Field, _ uint32, p envelope.Page) {
			if int64(stored(p)) <= limit {
				ranges = c.table.pages.appendRange(ranges, p)
			}
		})
	}
	return ranges, nil
}

func (c cluster) Open(_ context.Context, col *table.Column, _ bool, _ func() (storage.Prefetched, error)) (table.ColumnReader, error) {
	cl := &c.table.clusters[c.index]
	f, err := c.table.openField(cl, c.table.fieldOf(col), int64(cl.Entries))
	if err != nil {
		return nil, c.place(err, col)
	}
	return &columnReader{c, f, col}, nil
}

func (c cluster) place(err error, col *table.Column) error {
	return fault.Of(fault.In(fault.In(err, fmt.Sprintf("field %q", col.Arrow.Name), -1), fmt.Sprintf("cluster %d", c.index), -1), c.table.file.Name())
}

// columnReader is a top-level field in a cluster, as a [table.ColumnReader].
type columnReader struct {
	cluster cluster
	field   *openField
	column  *table.Column
}

func (r *columnReader) Read(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	physical, err := r.ReadPhysical(ctx, rows, o)
	if err != nil {
		return nil, err
	}
	defer physical.Release()
	return logical(o.Allocator, physical, r.field.Field)
}

func (r *columnReader) ReadPhysical(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	b := builder{ctx: ctx, mem: o.Allocator, limit: o.MaxArrayBytes, in: input{have: o.Prefetched}}
	b.in.counters, _ = o.Counters.(*counters)
	b.limit = cmp.Or(b.limit, maxArrayBytes)
	defer b.release()
	data, err := b.data(r.field, runsOf(rows))
	if err != nil {
		return nil, r.cluster.place(err, r.column)
	}
	return array.MakeFromData(data), nil
}

func runsOf(rows rowset.Set) (rs runs) {
	for r := range rows.Ranges() {
		rs = rs.add(r.From, r.To-r.From)
	}
	return rs
}

// AppendRanges implements [table.ColumnReader]. Where the items of collections lie is not known
// before their index columns are read: their pages are those in the same part of the cluster.
func (r *columnReader) AppendRanges(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange {
	return r.field.appendRanges(dst, runsOf(rows), r.cluster.Rows())
}

// appendRanges appends the bytes that runs among n values of the field need.
func (f *openField) appendRanges(dst []storage.ByteRange, rs runs, n int64) []storage.ByteRange {
	for _, c := range f.columns {
		dst = c.appendRanges(dst, rs.scale(n, c.len()))
	}
	for _, kid := range f.children {
		dst = kid.appendRanges(dst, rs, n)
	}
	return dst
}

func (r *columnReader) Blocks() int64 { return r.field.blocks() }

func (f *openField) blocks() (n int64) {
	for _, c := range f.columns {
		n += int64(len(c.list))
	}
	for _, kid := range f.children {
		n += kid.blocks()
	}
	return n
}
