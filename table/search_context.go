package table

import (
	"context"
	"errors"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/table/internal/around"
	"github.com/amudai/amudai-go/table/internal/searched"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
)

// Numbers of matches that are read together with their context: few at first, to be quick.
const (
	fewMatches  = 16
	mostMatches = 1 << 20
)

// withContext finds the rows of matches first, and reads them with their context after that: of files that filter, few rows are read.
func (s *search) withContext(ctx context.Context, src provider.Source) error {
	w := around.Window{Before: s.Before, After: s.After}
	var shown *tables.Shown // once there are rows
	together := fewMatches
	for b, err := range tables.Batches(ctx, src) {
		if err != nil {
			return err
		}
		rows, err := searched.Positions(src, b.NumRows())
		if err != nil {
			return err
		}
		if shown == nil {
			if shown, err = s.table.union.Shown(ctx); err != nil {
				return err
			}
		}
		if err := shown.Number(rows); err != nil {
			return err
		}
		for _, row := range rows {
			w.Add(row)
		}
		if len(w.Matches) >= together {
			if err := s.read(ctx, &w, shown); err != nil {
				return err
			}
			together = min(8*together, mostMatches)
		}
	}
	w.Flush(math.MaxInt64)
	return s.read(ctx, &w, shown)
}

// read gives the rows that were added to a window.
func (s *search) read(ctx context.Context, w *around.Window, shown *tables.Shown) error {
	if len(w.Ranges) == 0 {
		return nil
	}
	var o ScanOptions
	for _, r := range w.Ranges {
		o.Rows = append(o.Rows, provider.RowRange{From: shown.Position(r.From), To: shown.Position(r.To-1) + 1})
	}
	src, err := s.open(ctx, o, func(c *searched.Columns) ([]string, filter.Expr) { return c.Result, filter.Expr{} })
	if err != nil {
		return err
	}
	return seq.Each(tables.Batches(ctx, src), func(b arrow.RecordBatch) error { return s.around(w, b, shown) })
}

// around gives the next rows of a window, which are those of a batch.
func (s *search) around(w *around.Window, b arrow.RecordBatch, shown *tables.Shown) error {
	rows, isContext := w.Take(b.NumRows())
	shown.Locate(rows)
	return s.give(Found{RecordBatch: b, Positions: rows, Context: isContext})
}

// stream reads all rows once, and keeps those that may be context of a match in the next batch.
func (s *search) stream(ctx context.Context) (err error) {
	var columns *searched.Columns
	src, err := s.open(ctx, ScanOptions{}, func(c *searched.Columns) ([]string, filter.Expr) {
		columns = c
		return c.All, filter.Expr{}
	})
	if err != nil {
		return err
	}
	bound, err := compute.Condition(columns.Filter.Node(), src.Schema())
	result, err2 := provider.Project(src.Schema(), columns.Result)
	if err := errors.Join(err, err2); err != nil {
		return errors.Join(err, src.Close())
	}
	n, ok := src.(pattern.Narrower)
	if texts := bound.Texts(); ok && texts != nil && len(s.table.locations) == 1 { // of several, a line may be near a match in the next
		n.Narrow(texts, s.Before, s.After)
	}
	k := around.Kept{Window: around.Window{Before: s.Before, After: s.After}}
	defer func() { k.Drop(math.MaxInt64) }()
	var positions tables.Shown
	for b, err := range tables.Batches(ctx, src) {
		if err != nil {
			return err
		}
		rows, err := bound.Select(b)
		if err != nil {
			return err
		}
		first := k.End
		shown, err := result.Of(b)
		if err != nil {
			return err
		}
		k.Keep(shown)
		positions.Add(b.NumRows(), provider.RangesOf(src))
		for row := range rows.Rows() {
			if s.Limit > 0 && s.left == 0 {
				break
			}
			s.left--
			k.Add(first + row)
		}
		more := k.Flush(k.End)
		if err := k.Give(func(b arrow.RecordBatch) error { return s.around(&k.Window, b, &positions) }); err != nil {
			return err
		}
		if s.Limit > 0 && s.left == 0 && !more {
			return nil
		}
		k.Drop(k.End - s.Before)
	}
	return nil
}
