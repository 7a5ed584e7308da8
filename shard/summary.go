package shard

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/shardtable"
	"github.com/amudai/amudai-go/internal/format/hll"
	"github.com/amudai/amudai-go/internal/format/stats"
	"github.com/amudai/amudai-go/stripe/read"
)

// Summary is what statistics say about a column, without a look at its values.
type Summary struct {
	Rows  int64
	Nulls int64 // -1 if that is not known
	// Min and Max are bounds of the values that are neither null nor NaN: arrays of
	// one value of the column's physical type (see stripe.Physical), nil if there are no
	// such values or bounds are not known. They are values of the column themselves
	// if MinExact and MaxExact say so, else they may be less and greater.
	Min, Max           arrow.Array
	MinExact, MaxExact bool
	// Distinct is about how many different values there are, by the column's
	// sketch; -1 if there is none.
	Distinct int64
}

// Summary gives what the statistics of the column at path say, which may be one
// inside of structs. Nulls are those of the column, and of the structs it is in.
func (s *Shard) Summary(ctx context.Context, path string) (*Summary, error) {
	p, err := s.table.Project(ctx, []string{path})
	if err != nil {
		return nil, err
	}
	nodes, err := s.schema.PathNodes(path)
	if err != nil {
		return nil, err
	}
	out := &Summary{Rows: s.NumRows(), Nulls: -1, Distinct: -1}
	col := &p.Columns[0]
	certain := true // no struct above the column is null
	for i := range nodes {
		d, err := s.descriptor(ctx, nodes[i].ID())
		if err != nil {
			return nil, err
		}
		nulls, known := shardtable.NullsOf(d)
		if i < len(nodes)-1 {
			certain = certain && known && nulls == 0 && int64(d.PositionCount) == s.NumRows()
			if len(col.Children) != 1 {
				return out, nil
			}
			col = &col.Children[0]
			continue
		}
		if d == nil {
			return out, nil
		}
		if certain && known && int64(d.PositionCount) == s.NumRows() {
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
