package tables

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/table"
)

// rangesSource reads several ranges of rows of a union, one after the other.
type rangesSource struct {
	table.Source // of the current range
	u            *Union
	o            Options // of the ranges that follow
	rows         int64
	left         int64 // rows up to the limit
}

// openRanges opens the ranges of the options, of which there are several.
func (u *Union) openRanges(ctx context.Context, o Options) (table.Source, error) {
	s := &rangesSource{u: u, o: o, left: o.Limit}
	for _, r := range o.Ranges {
		s.rows += r.End - r.Begin
	}
	if o.Limit > 0 {
		s.rows = min(s.rows, o.Limit)
	}
	if err := s.next(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// next opens the next range.
func (s *rangesSource) next(ctx context.Context) (err error) {
	o := s.o
	o.Ranges, s.o.Ranges = o.Ranges[:1], o.Ranges[1:]
	o.Limit = s.left
	s.Source, err = s.u.Open(ctx, o)
	s.o.Notice, s.o.Warning = nil, nil // they would be the same
	return err
}

// Rows implements [table.Source].
func (s *rangesSource) Rows() (int64, bool) { return s.rows, s.o.Filter.IsZero() }

// Next implements [table.Source].
func (s *rangesSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for {
		b, err := s.Source.Next(ctx)
		if err == nil && s.o.Limit > 0 {
			s.left -= b.NumRows()
		}
		if err != io.EOF || len(s.o.Ranges) == 0 || s.o.Limit > 0 && s.left == 0 {
			return b, err
		}
		if err := s.Source.Close(); err != nil {
			s.Source = closed{s.Source}
			return nil, err
		}
		current := s.Source
		if err := s.next(ctx); err != nil {
			s.Source = closed{current}
			return nil, err
		}
	}
}

// closed is a source that was closed already.
type closed struct{ table.Source }

// Next implements [table.Source].
func (closed) Next(context.Context) (arrow.RecordBatch, error) {
	return nil, errors.New("the source is closed")
}

// Close implements [table.Source].
func (closed) Close() error { return nil }
