package inspect

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/hll"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
	"github.com/amudai/amudai-go/table/provider"
)

// Recorded reads what a shard records of its columns.
type Recorded struct {
	File   *shardfile.File
	Schema *schema.Schema
	Table  *shardtable.Table
}

// column is what the shard records of the column at path, the nulls of enclosing structs included. It combines the descriptors of the schema
// nodes on the path.
func (s Recorded) column(ctx context.Context, path string) (provider.ColumnStatistics, error) {
	rows := s.File.Rows()
	c := provider.ColumnStatistics{Path: path, Nulls: -1, NaNs: -1, Distinct: -1, Bytes: -1}
	full, err := s.Table.ArrowSchema(ctx)
	if err != nil {
		return c, err
	}
	selected, err := provider.Project(full, []string{path})
	if err != nil {
		return c, err
	}
	var inside bool // of a list or map, whose items are not rows
	if c.Type, inside = leaf(selected.Schema().Field(0).Type, len(schema.SplitPath(path))-1); inside {
		return c, nil
	}
	p, err := s.Table.Project(ctx, []string{path})
	if err != nil {
		return c, err
	}
	nodes, err := s.Schema.PathNodes(path)
	if err != nil {
		return c, err
	}
	col := &p.Columns[0]
	certain := true // no struct above the column is null, nor is it an alternative, which need not have a position for each row
	for i := range nodes {
		d, err := s.descriptor(ctx, nodes[i].ID())
		if err != nil {
			return c, err
		}
		nulls, known := shardtable.NullsOf(d)
		if i < len(nodes)-1 {
			certain = certain && known && nulls == 0 && int64(d.PositionCount) == rows && nodes[i].Type() != schema.Union
			if len(col.Children) != 1 {
				return c, nil
			}
			col = &col.Children[0]
			continue
		}
		if d == nil {
			return c, nil
		}
		if certain && known && int64(d.PositionCount) == rows {
			c.Nulls = int64(nulls)
		}
		c.NaNs = nansOf(d, nodes[i].Type())
		c.Distinct, c.DistinctEstimated = estimatedDistinct(d)
		r := d.GetRangeStats()
		if c.Min, err = bound(*col, r.GetMinValue(), c.PlainType()); err == nil {
			c.Max, err = bound(*col, r.GetMaxValue(), c.PlainType())
		}
		c.Exact = certain && c.Min != nil && r.GetMinInclusive() && c.Max != nil && r.GetMaxInclusive()
		return c, err
	}
	return c, nil
}

// bound is a stored value as an array of one value of a type, nil if there is none.
func bound(col arrowmap.Column, v *commonpb.AnyValue, dt arrow.DataType) (arrow.Array, error) {
	if v == nil {
		return nil, nil
	}
	arr, err := read.ValueOf(col, v)
	if err != nil || arr == nil || arrow.TypeEqual(arr.DataType(), dt) {
		return arr, nil // what cannot be read is not known
	}
	return arrowutil.Wrap(memory.DefaultAllocator, arr, dt)
}

// descriptor is the descriptor of a node for the whole shard. If none is stored, those of the
// stripes are merged.
func (s Recorded) descriptor(ctx context.Context, id uint32) (*shardpb.FieldDescriptor, error) {
	d, err := s.File.FieldDescriptor(ctx, id)
	if d != nil || err != nil {
		return d, err
	}
	for i := range s.File.NumStripes() {
		sd, err := s.File.Stripe(i).Descriptor(ctx, id)
		if err != nil {
			return nil, err
		}
		if sd == nil {
			return nil, nil
		}
		d = stats.Merge(d, sd.GetField())
	}
	return d, nil
}

// nansOf is the number of NaNs, or -1 if it is not known.
func nansOf(d *shardpb.FieldDescriptor, t schema.BasicType) int64 {
	switch {
	case t != schema.Float32 && t != schema.Float64:
		return 0
	case d.GetFloatingStats() != nil:
		return int64(min(d.GetFloatingStats().GetNanCount(), math.MaxInt64))
	}
	return -1
}

// estimatedDistinct is the number of distinct values, or -1 if it is not known.
func estimatedDistinct(d *shardpb.FieldDescriptor) (n int64, estimated bool) {
	c := d.GetCardinality()
	if c == nil {
		return -1, false
	}
	if c.Count != nil {
		return int64(min(*c.Count, 1<<62)), c.GetIsEstimate()
	}
	if h := c.HllSketch; h != nil {
		if sketch, err := hll.Parse(h.BitsPerIndex, h.Counters); err == nil {
			return int64(min(sketch.Estimate(), 1<<62)), true
		}
	}
	return -1, false
}

// Columns are the statistics of columns, nil for all and the fields of structs, in the form that all formats have.
func (s Recorded) Columns(ctx context.Context, columns []string) (*provider.Statistics, error) {
	full, err := s.Table.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		columns = projection.Paths(full.Fields())
	}
	visible, err := scan.Count(ctx, s.Table, nil)
	if err != nil {
		return nil, err
	}
	out := &provider.Statistics{Rows: visible, Hidden: s.File.Rows() - visible, Columns: make([]provider.ColumnStatistics, len(columns))}
	for i := range columns {
		c := &out.Columns[i]
		if *c, err = s.column(ctx, columns[i]); err != nil {
			return nil, err
		}
		if out.Hidden > 0 { // a bound may be a hidden value
			c.Min, c.Max, c.Exact = nil, nil, false
		}
	}
	return out, nil
}

// leaf is the type that a path of some steps below a projected column leads to.
func leaf(dt arrow.DataType, steps int) (_ arrow.DataType, inside bool) {
	for range steps {
		plain, _ := extension.Unwrap(dt)
		t, ok := plain.(*arrow.StructType)
		if !ok {
			return dt, arrow.IsNested(plain.ID())
		}
		if t.NumFields() != 1 {
			return dt, false
		}
		dt = t.Field(0).Type
	}
	return dt, false
}

// Coded are the columns of a projection that are stored as codes of a dictionary in the first stripe.
func (s Recorded) Coded(ctx context.Context, columns []string) (names []string, err error) {
	if s.File.NumStripes() == 0 {
		return nil, nil
	}
	full, err := s.Table.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		for _, name := range arrowmap.UniqueNames(full.Fields()) {
			columns = append(columns, schema.JoinPath("", name))
		}
	}
	for _, name := range columns {
		path := schema.SplitPath(name)
		if at := full.FieldIndices(path[0]); len(path) > 1 || len(at) != 1 || arrow.IsNested(full.Field(at[0]).Type.ID()) {
			continue
		}
		p, err := s.Table.Project(ctx, []string{name})
		if err != nil {
			return nil, err
		}
		m, err := s.Table.Stripe(0).Metadata(ctx, []*table.Column{&p.Columns[0]})
		if err != nil {
			return nil, err
		}
		if m.DictionaryEntries > 0 {
			names = append(names, path[0])
		}
	}
	return names, nil
}
