package tables

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/table/provider"
)

// endSource returns a range of rows that is counted from the end. It keeps batches as long as it is not known whether
// their rows are in the range.
type endSource struct {
	provider.Source
	rows  provider.RowRange
	kept  []arrow.RecordBatch
	first int64 // position of the first kept row
	next  int64 // number of rows read
	ended bool
}

// Batches are those of a source, which is closed at the end of the loop, even by a panic.
func Batches(ctx context.Context, src provider.Source) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		early := true // the loop is left
		defer func() {
			if early {
				src.Close()
			}
		}()
		for b, err := range provider.Batches(ctx, src) {
			if err != nil {
				early = false
				yield(nil, errors.Join(err, src.Close()))
				return
			}
			if !yield(b, nil) {
				return
			}
		}
		early = false
		if err := src.Close(); err != nil {
			yield(nil, err)
		}
	}
}

// Last returns the last n rows of a source, which it closes.
func Last(src provider.Source, n int64) provider.Source {
	if n <= 0 {
		return &endSource{Source: src, ended: true}
	}
	return &endSource{Source: src, rows: provider.RowRange{From: -n, To: math.MaxInt64}}
}

// Rows implements [provider.Source]. It is an estimate.
func (s *endSource) Rows() (int64, bool) {
	n, known := s.Source.Rows()
	r := resolve(s.rows, n)
	r.To = min(r.To, n)
	return r.Len(), known
}

func (s *endSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for {
		if b := s.take(); b != nil {
			return b, nil
		}
		if s.ended {
			return nil, nil
		}
		b, err := s.Source.Next(ctx)
		switch {
		case err != nil:
			return nil, err
		case b == nil:
			s.ended = true
		default:
			s.kept = append(s.kept, b)
			s.next += b.NumRows()
		}
	}
}

// take returns the next rows that are in the range for certain, and drops those that are not.
func (s *endSource) take() arrow.RecordBatch {
	for len(s.kept) > 0 {
		b := s.kept[0]
		from, to := s.first, s.first+b.NumRows()
		r := resolve(s.rows, s.next)            // as if no rows followed
		begin, end := r.From, min(r.To, s.next) // further rows move bounds that are counted from the end, and never back
		switch {
		case to <= begin || s.ended && from >= end:
			s.drop()
			b.Release()
			continue
		case !s.ended && (s.rows.From < 0 || to > end):
			return nil
		}
		var out arrow.RecordBatch
		if from, to := max(begin, from), min(end, to); from < to {
			out = b.NewSlice(from-s.first, to-s.first)
		}
		s.drop()
		b.Release()
		if out != nil {
			return out
		}
	}
	return nil
}

func (s *endSource) drop() {
	s.first += s.kept[0].NumRows()
	s.kept[0] = nil
	s.kept = s.kept[1:]
}

func (s *endSource) Close() error {
	for _, b := range s.kept {
		b.Release()
	}
	s.kept = nil
	return s.Source.Close()
}
