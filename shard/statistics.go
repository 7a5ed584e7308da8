package shard

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/shardtable"
	"github.com/amudai/amudai-go/internal/format/hll"
	"github.com/amudai/amudai-go/internal/format/stats"
	"github.com/amudai/amudai-go/stripe/read"
)

// ColumnStatistics are what is recorded about the values of a column, in a shard or in one of
// its stripes.
type ColumnStatistics struct {
	Rows  int64
	Nulls int64 // -1 if that is not known
	// Min and Max are bounds of the values that are neither null nor NaN: arrays of
	// one value of the column's physical type (see stripe.Physical), nil if there are no
	// such values or bounds are not known. They are values of the column themselves
	// if MinExact and MaxExact say so, else they may be less and greater.
	Min, Max           arrow.Array
	MinExact, MaxExact bool
	// RawBytes is the size of the values without any encoding, 0 if that is not recorded.
	RawBytes int64
	// DictionaryEntries is the number of entries of the column's value dictionary in a
	// stripe, a null entry included. 0 is none, and what a shard as a whole has.
	DictionaryEntries int64
	// Distinct is about how many different values there are, by the column's
	// sketch; -1 if there is none.
	Distinct int64
}

// Statistics reads what is recorded about the column at path, which may be one inside of
// structs. Nulls are those of the column, and of the structs it is in. No value is read.
func (s *Shard) Statistics(ctx context.Context, path string) (*ColumnStatistics, error) {
	return s.statistics(ctx, path, s.NumRows(), func(id uint32) (*shardpb.FieldDescriptor, error) { return s.descriptor(ctx, id) })
}

// StripeStatistics is [Shard.Statistics] for stripe i of NumStripes.
func (s *Shard) StripeStatistics(ctx context.Context, i int, path string) (*ColumnStatistics, error) {
	st := s.file.Stripe(i)
	return s.statistics(ctx, path, st.Rows(), func(id uint32) (*shardpb.FieldDescriptor, error) {
		d, err := st.Descriptor(ctx, id)
		if d == nil && err == nil { // a column that a stripe lacks is null there
			rows := uint64(st.Rows())
			return &shardpb.FieldDescriptor{PositionCount: rows, NullCount: &rows}, nil
		}
		return d.GetField(), err
	})
}

// statistics makes what is known of so many rows out of the descriptors of the nodes on
// the path.
func (s *Shard) statistics(ctx context.Context, path string, rows int64, descriptor func(id uint32) (*shardpb.FieldDescriptor, error)) (*ColumnStatistics, error) {
	p, err := s.table.Project(ctx, []string{path})
	if err != nil {
		return nil, err
	}
	nodes, err := s.schema.PathNodes(path)
	if err != nil {
		return nil, err
	}
	out := &ColumnStatistics{Rows: rows, Nulls: -1, Distinct: -1}
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
		out.Distinct = distinctOf(d)
	}
	return out, nil
}

// descriptor is that of a node for the whole shard, made of those of the stripes if
// there is none.
func (s *Shard) descriptor(ctx context.Context, id uint32) (*shardpb.FieldDescriptor, error) {
	d, err := s.file.FieldDescriptor(ctx, id)
	if d != nil || err != nil {
		return d, err
	}
	for i := range s.NumStripes() {
		sd, err := s.file.Stripe(i).Descriptor(ctx, id)
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

// distinctOf is the number of distinct values, -1 if it is not known.
func distinctOf(d *shardpb.FieldDescriptor) int64 {
	c := d.GetCardinality()
	if c == nil {
		return -1
	}
	if c.Count != nil {
		return int64(min(*c.Count, 1<<62))
	}
	if h := c.HllSketch; h != nil {
		if sketch, err := hll.Parse(h.BitsPerIndex, h.Counters); err == nil {
			return int64(min(sketch.Estimate(), 1<<62))
		}
	}
	return -1
}
