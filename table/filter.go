package table

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// filterSource evaluates a filter on the batches of a source that cannot.
type filterSource struct {
	Source
	name   string // of the input
	mem    memory.Allocator
	bound  *predicate.Bound
	schema *arrow.Schema
	keep   []int // where the asked columns are in the source's batches
}

// newFilterSource wraps a source that has the asked columns and those of the
// filter. It closes the source if it fails.
func newFilterSource(src Source, name string, o ReadOptions) (Source, error) {
	s := &filterSource{Source: src, name: name, mem: o.WithDefaults().Allocator}
	var err error
	if s.bound, err = predicate.Bind(o.Filter.Node(), src.Schema()); err == nil {
		s.schema, s.keep, err = Project(src.Schema(), o.Columns)
	}
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("%w in %s", err, name)
	}
	return s, nil
}

// Schema implements [Source].
func (s *filterSource) Schema() *arrow.Schema { return s.schema }

// Rows implements [Source]: nobody knows how many meet the condition.
func (s *filterSource) Rows() (int64, bool) { return 0, false }

// Next implements [Source].
func (s *filterSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for {
		batch, err := s.Source.Next(ctx)
		if err != nil {
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

// choose gives the rows of a batch that meet the condition; nil for none.
func (s *filterSource) choose(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	rows, err := s.bound.Select(batch)
	if err != nil || rows.Empty() {
		return nil, err
	}
	n := int64(rows.Len())
	columns := make([]arrow.Array, len(s.keep))
	var indices []int64
	for k, i := range s.keep {
		if columns[k] = batch.Column(i); n == batch.NumRows() {
			continue
		}
		if indices == nil {
			indices = slices.Collect(rows.Rows())
		}
		if columns[k], err = arrowutil.Take(s.mem, columns[k], indices); err != nil {
			return nil, err
		}
		defer columns[k].Release()
	}
	return array.NewRecordBatch(s.schema, columns, n), nil
}
