package provider

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/pattern"
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

	next   int64      // position of the next batch's first row in the source
	ranges []RowRange // of the rows of the last batch, if there is a condition
	skips  bool       // the source has some rows of the input only
}

// Narrow has the source below leave out rows.
func (s *selectSource) Narrow(lists [][]pattern.Text, before, after int64) {
	if n, ok := s.Source.(pattern.Narrower); ok && s.bound == nil {
		n.Narrow(lists, before, after)
	}
}

// Select returns the columns of a source that options ask for, of the rows that meet their filter. The source has these columns, and those of the
// filter; it belongs to the result, and is closed if there is none.
func Select(src Source, name string, o ReadOptions) (_ Source, err error) {
	s := &selectSource{Source: src, name: name, mem: o.WithDefaults().Allocator, skips: o.Rows != nil}
	if !o.Filter.IsZero() {
		s.bound, err = compute.Condition(o.Filter.Node(), src.Schema())
	}
	if n, ok := src.(pattern.Narrower); ok && s.bound != nil && err == nil {
		if texts := s.bound.Texts(); texts != nil {
			n.Narrow(texts, 0, 0)
		}
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
	asked, err := s.projection.Of(batch)
	if s.bound == nil || err != nil {
		return asked, err
	}
	defer asked.Release()
	chosen, rows, err := s.bound.Filter(s.mem, batch, asked)
	if from := RangesOf(s.Source); len(from) > 1 { // there are other rows between these
		s.ranges = s.ranges[:0]
		first := int64(0) // row of from[0]
		for r := range rows.Rows() {
			for r >= first+from[0].Len() {
				first += from[0].Len()
				from = from[1:]
			}
			at := from[0].From + r - first
			s.ranges = append(s.ranges, RowRange{From: at, To: at + 1})
		}
	} else {
		if from != nil {
			s.next = from[0].From
		}
		s.ranges = slices.Collect(rows.Shift(s.next).Ranges())
	}
	s.next += batch.NumRows()
	return chosen, err
}

// Ranges implements [Numbered].
func (s *selectSource) Ranges() []RowRange {
	switch {
	case s.bound == nil:
		return RangesOf(s.Source)
	case s.skips:
		return nil
	}
	return s.ranges
}
