package provider

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// selectSource returns the requested columns of the rows that meet a filter, for a source that does not evaluate
// filters or that reads more columns.
type selectSource struct {
	Source
	name       string // of the input
	mem        memory.Allocator
	bound      *predicate.Bound // nil for all rows
	projection *Projection
}

// newSelectSource wraps a source that has the requested columns and those of the filter. It closes the source if it
// fails.
func newSelectSource(src Source, name string, o ReadOptions) (_ Source, err error) {
	s := &selectSource{Source: src, name: name, mem: o.WithDefaults().Allocator}
	if !o.Filter.IsZero() {
		s.bound, err = compute.Condition(o.Filter.Node(), src.Schema())
	}
	if err == nil {
		s.projection, err = Project(src.Schema(), o.Columns)
	}
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("%w in %s", err, name)
	}
	return s, nil
}

func (s *selectSource) Schema() *arrow.Schema { return s.projection.Schema() }

// Rows implements [Source]. The number of rows that meet the filter is not known.
func (s *selectSource) Rows() (int64, bool) {
	if s.bound != nil {
		return 0, false
	}
	return s.Source.Rows()
}

func (s *selectSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for {
		batch, err := s.Source.Next(ctx)
		if err != nil || batch == nil {
			return nil, err
		}
		out, err := s.choose(batch)
		batch.Release()
		if err != nil {
			return nil, fmt.Errorf("%w in %s", err, s.name)
		}
		if out != nil {
			return out, nil
		}
	}
}

// choose returns the requested columns of the rows that meet the filter, or nil if there are none.
func (s *selectSource) choose(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	if s.bound == nil {
		return s.projection.Of(batch), nil
	}
	asked := s.projection.Of(batch)
	defer asked.Release()
	return s.bound.Filter(s.mem, batch, asked)
}
