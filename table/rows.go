package table

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
)

// rowSource returns a range of the rows of a source.
type rowSource struct {
	Source
	rows RowRange
	next int64 // position of the next batch's first row
}

func newRowSource(src Source, rows RowRange) Source { return &rowSource{Source: src, rows: rows} }

// Rows implements [Source].
func (s *rowSource) Rows() (int64, bool) {
	n, known := s.Source.Rows()
	if s.rows.End > 0 {
		n = min(n, s.rows.End)
	}
	return max(n-s.rows.Begin, 0), known
}

// Next implements [Source]. Rows behind the range are not read.
func (s *rowSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for s.rows.End == 0 || s.next < s.rows.End && s.rows.Begin < s.rows.End {
		batch, err := s.Source.Next(ctx)
		if err != nil {
			return nil, err
		}
		n := batch.NumRows()
		from, to := min(max(s.rows.Begin-s.next, 0), n), n
		if s.rows.End > 0 {
			to = min(s.rows.End-s.next, n)
		}
		s.next += n
		if from == 0 && to == n {
			return batch, nil
		}
		if from < to {
			part := batch.NewSlice(from, to)
			batch.Release()
			return part, nil
		}
		batch.Release()
	}
	return nil, io.EOF
}
