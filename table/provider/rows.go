package provider

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// rowSource returns ranges of the rows of a source.
type rowSource struct {
	Source
	rows []RowRange // that are still to come, perhaps in part
	next int64      // position of the next batch's first row
}

func newRowSource(src Source, rows []RowRange) Source { return &rowSource{Source: src, rows: rows} }

// Limit returns the first rows of a source, n at most. 0 means all.
func Limit(src Source, n int64) Source {
	if n <= 0 {
		return src
	}
	return newRowSource(src, []RowRange{{To: n}})
}

func (s *rowSource) Rows() (int64, bool) {
	n, known := s.Source.Rows()
	return rowset.Count(rowset.Clip(s.rows, n)), known
}

// Next implements [Source]. Rows behind the last range are not read.
func (s *rowSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for last := len(s.rows) - 1; last >= 0 && s.next < s.rows[last].To && s.rows[last].Len() > 0; {
		batch, err := s.Source.Next(ctx)
		if err != nil || batch == nil {
			return nil, err
		}
		chosen, err := ChooseRows(batch, rowset.Shift(s.rows, s.next))
		s.next += batch.NumRows()
		batch.Release()
		if chosen != nil || err != nil {
			return chosen, err
		}
	}
	return nil, nil
}

// Ranges implements [Numbered] for the first rows of a source.
func (s *rowSource) Ranges() []RowRange {
	if len(s.rows) != 1 || s.rows[0].From > 0 {
		return nil
	}
	return RangesOf(s.Source)
}

// ChooseRows returns those rows of a batch that are in ascending ranges, or nil if there are none. The batch remains the caller's.
func ChooseRows(b arrow.RecordBatch, ranges []RowRange) (arrow.RecordBatch, error) {
	ranges = rowset.Clip(ranges, b.NumRows())
	switch len(ranges) {
	case 0:
		return nil, nil
	case 1:
		return b.NewSlice(ranges[0].From, ranges[0].To), nil
	}
	rows := make([]int64, 0, rowset.Count(ranges))
	for _, r := range ranges {
		for row := r.From; row < r.To; row++ {
			rows = append(rows, row)
		}
	}
	return arrowutil.TakeRows(memory.DefaultAllocator, b, rows)
}
