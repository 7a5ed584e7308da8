package inspect

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/engine/scan"
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

// ColumnStatistics are the stored statistics of a column, in a shard or in one of its stripes.
type ColumnStatistics struct {
	// Rows is the number of rows of the shard or stripe.
	Rows int64
	// Nulls is the number of rows whose value is null, or -1 if it is not known.
	Nulls int64
	// Min and Max are bounds of the values that are neither null nor NaN. Each is an array of
	// one value of the column's physical type (see stripe.Physical), or nil if the bound is
	// not known or there are no such values. MinExact and MaxExact mean that the bound itself
	// occurs in the column; otherwise all values may lie further inside.
	// The arrays are garbage collected and need no Release.
	Min, Max           arrow.Array
	MinExact, MaxExact bool
	// RawBytes is the size of the values without any encoding, or 0 if it is not recorded.
	RawBytes int64
	// DictionaryEntries is the number of entries of the value dictionary of a stripe, the
	// null entry included. It is 0 without a dictionary, and for a whole shard.
	DictionaryEntries int64
	// NaNs is the number of values that are NaN, or -1 if it is not known. It is 0 for types without NaN.
	NaNs int64
	// Distinct is the number of distinct values, nulls excluded, or -1 if it is not known.
	// DistinctEstimated means that it is not exact.
	Distinct          int64
	DistinctEstimated bool
}

// Recorded reads what a shard records of its columns.
type Recorded struct {
	File   *shardfile.File
	Schema *schema.Schema
	Table  *shardtable.Table
}

// Column is what the shard records of the column at path, the nulls of enclosing structs included.
func (s Recorded) Column(ctx context.Context, path string) (*ColumnStatistics, error) {
	return s.statistics(ctx, path, s.File.Rows(), func(id uint32) (*shardpb.FieldDescriptor, error) { return s.descriptor(ctx, id) })
}

// ColumnOf is [Recorded.Column] for a stripe.
func (s Recorded) ColumnOf(ctx context.Context, st *shardfile.Stripe, path string) (*ColumnStatistics, error) {
	return s.statistics(ctx, path, st.Rows(), func(id uint32) (*shardpb.FieldDescriptor, error) {
		d, err := st.Descriptor(ctx, id)
		if d == nil && err == nil { // all values of a column that the stripe lacks are null
			rows := uint64(st.Rows())
			return &shardpb.FieldDescriptor{PositionCount: rows, NullCount: &rows}, nil
		}
		return d.GetField(), err
	})
}

// statistics combines the descriptors of the schema nodes on the path.
func (s Recorded) statistics(ctx context.Context, path string, rows int64, descriptor func(id uint32) (*shardpb.FieldDescriptor, error)) (*ColumnStatistics, error) {
	p, err := s.Table.Project(ctx, []string{path})
	if err != nil {
		return nil, err
	}
	nodes, err := s.Schema.PathNodes(path)
	if err != nil {
		return nil, err
	}
	out := &ColumnStatistics{Rows: rows, Nulls: -1, NaNs: -1, Distinct: -1}
	col := &p.Columns[0]
	certain := true // no struct above the column is null
	for i := range nodes {
		d, err := descriptor(nodes[i].ID())
		if err != nil {
			return nil, err
		}
		nulls, known := shardtable.NullsOf(d)
		if i < len(nodes)-1 {
			certain = certain && known && nulls == 0 && int64(d.PositionCount) == rows
			if len(col.Children) != 1 {
				return out, nil
			}
			col = &col.Children[0]
			continue
		}
		if d == nil {
			return out, nil
		}
		out.RawBytes = int64(min(d.GetRawDataSize(), math.MaxInt64))
		out.DictionaryEntries = int64(min(d.GetDictionarySize(), math.MaxInt64))
		if certain && known && int64(d.PositionCount) == rows {
			out.Nulls = int64(nulls)
		}
		r := d.GetRangeStats()
		if v := r.GetMinValue(); v != nil {
			out.Min, _ = read.ValueOf(*col, v)
			out.MinExact = out.Min != nil && certain && r.MinInclusive
		}
		if v := r.GetMaxValue(); v != nil {
			out.Max, _ = read.ValueOf(*col, v)
			out.MaxExact = out.Max != nil && certain && r.MaxInclusive
		}
		out.NaNs = nansOf(d, nodes[i].Type())
		out.Distinct, out.DistinctEstimated = estimatedDistinct(d)
	}
	return out, nil
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
	for i, path := range columns {
		if out.Columns[i], err = s.logicalColumn(ctx, full, path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s Recorded) logicalColumn(ctx context.Context, full *arrow.Schema, path string) (provider.ColumnStatistics, error) {
	c := provider.ColumnStatistics{Path: path, Nulls: -1, NaNs: -1, Distinct: -1, Bytes: -1}
	selected, err := provider.Project(full, []string{path})
	if err != nil {
		return c, err
	}
	var inside bool // of a list or map, whose items are not rows
	if c.Type, inside = leaf(selected.Schema().Field(0).Type, len(schema.SplitPath(path))-1); inside {
		return c, nil
	}
	stored, err := s.Column(ctx, path)
	if err != nil {
		return c, err
	}
	c.Nulls, c.NaNs, c.Distinct, c.DistinctEstimated = stored.Nulls, stored.NaNs, stored.Distinct, stored.DistinctEstimated
	if c.Min, err = logical(stored.Min, c.PlainType()); err == nil {
		c.Max, err = logical(stored.Max, c.PlainType())
	}
	c.Exact = stored.MinExact && stored.MaxExact
	return c, err
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

// logical converts an array of one value of a physical type. A nil array stays nil.
func logical(arr arrow.Array, dt arrow.DataType) (arrow.Array, error) {
	if arr == nil || arrow.TypeEqual(arr.DataType(), dt) {
		return arr, nil
	}
	return arrowutil.Wrap(memory.DefaultAllocator, arr, dt)
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
		stored, err := s.ColumnOf(ctx, s.File.Stripe(0), name)
		if err != nil {
			return nil, err
		}
		if stored.DictionaryEntries > 0 {
			names = append(names, path[0])
		}
	}
	return names, nil
}
