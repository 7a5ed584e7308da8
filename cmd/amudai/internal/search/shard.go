package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/shard"
)

// shard searches a shard.
func (s *Search) shard(ctx context.Context, f *Found, parallel int) (err error) {
	open, err := s.Opener().Shard(ctx, f.Input.Location, shard.OpenOptions{IndexError: func(err error) {
		f.warn(usage.WithHint(fmt.Errorf("%s: an index is not used: %w", f.Input.Location, err), "amudai index rebuild %s makes it anew", f.Input.Location))
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.Close()) }()
	fields, err := open.ArrowSchema(ctx)
	if err != nil {
		return err
	}
	p, err := s.plan(f.Input, fields)
	if p == nil {
		if err == nil && !f.Input.Found {
			f.warn(fmt.Errorf("%s: %w", f.Input.Location, errNoText))
		}
		return err
	}
	o := shard.ScanOptions{Filter: p.filter, Limit: s.Limit, Parallelism: parallel}
	if s.Count {
		return s.countShard(ctx, f, open, o)
	}
	out := &sender{ctx: ctx, out: f.lines, json: s.JSON}
	if s.Before > 0 || s.After > 0 {
		return s.withContext(ctx, f, open, o, p.printed, out)
	}
	o.Columns = p.printed
	for b, err := range open.Scan(ctx, o) {
		if err != nil {
			return err
		}
		c, row := out.cells(b), 0
		for _, r := range b.RowRanges() {
			for n := r.From; n < r.To; n++ {
				if err := out.row(c, row, n, true); err != nil {
					return err
				}
				row++
			}
		}
		f.Count += b.NumRows()
		if err := out.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Search) countShard(ctx context.Context, f *Found, open *shard.Shard, o shard.ScanOptions) (err error) {
	if o.Limit == 0 {
		f.Count, err = open.Count(ctx, o.Filter)
		return err
	}
	o.Columns = []string{}
	for b, err := range open.Scan(ctx, o) {
		if err != nil {
			return err
		}
		f.Count += b.NumRows()
	}
	return nil
}

// withContext finds the rows of matches first, and reads them with their context after that.
func (s *Search) withContext(ctx context.Context, f *Found, open *shard.Shard, o shard.ScanOptions, printed []string, out *sender) error {
	w := window{before: s.Before, after: s.After}
	o.Columns = []string{}
	all := shard.TakeOptions{Columns: printed, Parallelism: o.Parallelism}
	var ranges []shard.RowRange
	var matches []int64
	together := 16 // matches that are read together: few at first, to be quick
	for b, err := range open.Scan(ctx, o) {
		if err != nil {
			return err
		}
		for _, r := range b.RowRanges() {
			for n := r.From; n < r.To; n++ {
				ranges, matches = w.add(ranges, n), append(matches, n)
			}
		}
		f.Count += b.NumRows()
		if len(matches) < together {
			continue
		}
		if err := sendRows(ctx, open, all, ranges, matches, out); err != nil {
			return err
		}
		ranges, matches, together = ranges[:0], matches[:0], min(2*together, 1<<20)
	}
	return sendRows(ctx, open, all, w.flush(ranges, open.NumRows()), matches, out)
}

// takeRows is the number of rows of context that are read together.
const takeRows = 8192

// sendRows sends ranges of rows, some of which are matches.
func sendRows(ctx context.Context, open *shard.Shard, o shard.TakeOptions, ranges []shard.RowRange, matches []int64, out *sender) error {
	rows := make([]int64, 0, takeRows)
	for _, r := range ranges {
		for n := r.From; n < r.To; n++ {
			if rows = append(rows, n); len(rows) < takeRows {
				continue
			}
			var err error
			if matches, err = take(ctx, open, o, rows, matches, out); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	if _, err := take(ctx, open, o, rows, matches, out); err != nil {
		return err
	}
	return out.flush()
}

// take sends rows, and returns the matches behind them.
func take(ctx context.Context, open *shard.Shard, o shard.TakeOptions, rows, matches []int64, out *sender) ([]int64, error) {
	if len(rows) == 0 {
		return matches, nil
	}
	b, err := open.Take(ctx, rows, o)
	if errors.Is(err, shard.ErrBatchTooLarge) && len(rows) > 1 {
		half := len(rows) / 2
		if matches, err = take(ctx, open, o, rows[:half], matches, out); err != nil {
			return matches, err
		}
		return take(ctx, open, o, rows[half:], matches, out)
	}
	if err != nil {
		return matches, err
	}
	defer b.Release()
	c := out.cells(b)
	for i, n := range rows {
		match := len(matches) > 0 && matches[0] == n
		if match {
			matches = matches[1:]
		}
		if err := out.row(c, i, n, match); err != nil {
			return matches, err
		}
	}
	return matches, nil
}
