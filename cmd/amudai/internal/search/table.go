package search

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// table searches an input in a format other than shards, from its first row to its last.
func (s *Search) table(ctx context.Context, f *Found, format string) (err error) {
	src, p, err := s.open(ctx, f, format)
	if src == nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	t := tableSearch{Search: s, found: f, window: window{before: s.Before, after: s.After}}
	t.out = &sender{ctx: ctx, out: f.lines, json: s.JSON}
	if t.bound, err = filter.Bind(p.filter, src.Schema()); err != nil {
		return err
	}
	if t.printed, err = provider.Project(src.Schema(), p.printed); err != nil {
		return err
	}
	for !t.done() {
		b, err := src.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		err = t.batch(b)
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// open opens an input with the columns that are needed. The source is nil if there is nothing to search.
func (s *Search) open(ctx context.Context, f *Found, format string) (provider.Source, *plan, error) {
	location, opener := f.Input.Location, s.Opener()
	o := provider.ReadOptions{Notice: func(string) {}, Warning: func(string) {}}
	if format == formats.Lines { // as bytes, which may be anything
		o.Schema = []arrow.Field{{Name: lineColumn, Type: arrow.BinaryTypes.Binary}}
		if !s.namesColumns() {
			o.Columns = []string{lineColumn}
		}
	}
	source := opener.Source
	if format == formats.Lines && location == "-" {
		source = opener.Live
	}
	src, err := source(ctx, location, format, o)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.plan(f.Input, src.Schema())
	if p == nil {
		if err == nil && !f.Input.Found {
			f.warn(fmt.Errorf("%s: %w", location, errNoText))
		}
		return nil, nil, errors.Join(err, src.Close())
	}
	if o.Columns = p.read(); format == formats.Lines || location == "-" || len(o.Columns) == src.Schema().NumFields() {
		return src, p, nil
	}
	if err := src.Close(); err != nil {
		return nil, nil, err
	}
	src, err = opener.Source(ctx, location, format, o)
	return src, p, err
}

// tableSearch is the search of batches one after the other.
type tableSearch struct {
	*Search
	found   *Found
	bound   *filter.Bound
	printed *provider.Projection
	out     *sender
	window  window
	first   int64  // row of the batch
	tail    []Line // the last rows before the batch that may become context
}

// done reports whether no further row is wanted.
func (t *tableSearch) done() bool { return t.full() && t.window.due <= t.first }

func (t *tableSearch) full() bool { return t.Limit > 0 && t.found.Count >= t.Limit }

// batch searches the next batch.
func (t *tableSearch) batch(b arrow.RecordBatch) error {
	rows := b.NumRows()
	var ranges []shard.RowRange
	var matches []int64
	if !t.full() {
		selected, err := t.bound.Select(b)
		if err != nil {
			return err
		}
		for i, set := range selected {
			for ; set != 0 && !t.full(); set &= set - 1 {
				row := t.first + int64(8*i+bits.TrailingZeros8(set))
				t.found.Count++
				if !t.Count {
					ranges, matches = t.window.add(ranges, row), append(matches, row)
				}
			}
		}
	}
	if t.Count {
		t.first += rows
		return t.out.ctx.Err()
	}
	ranges = t.window.flush(ranges, t.first+rows)
	view := t.printed.Of(b)
	defer view.Release()
	c := t.out.cells(view)
	for _, r := range ranges {
		for n := r.From; n < r.To; n++ {
			match := len(matches) > 0 && matches[0] == n
			if match {
				matches = matches[1:]
			}
			if err := t.send(c, n, match); err != nil {
				return err
			}
		}
	}
	if !t.full() {
		t.keep(c, rows)
	}
	t.first += rows
	return t.out.flush()
}

// send sends a row of the batch or of the tail.
func (t *tableSearch) send(c cells, row int64, match bool) error {
	if row >= t.first {
		return t.out.row(c, int(row-t.first), row, match)
	}
	kept := t.tail[row-t.tail[0].Row]
	return t.out.row(func(dst []byte, _ int) []byte { return append(dst, kept.Text...) }, 0, row, match)
}

// keep keeps the last rows, which may be context of a match in the next batch.
func (t *tableSearch) keep(c cells, rows int64) {
	end := t.first + rows
	from := max(end-t.Before, t.window.next, 0)
	var tail []Line
	for n := from; n < end; n++ {
		if n < t.first {
			tail = append(tail, t.tail[n-t.tail[0].Row])
		} else {
			tail = append(tail, Line{Row: n, Text: c(nil, int(n-t.first))})
		}
	}
	t.tail = tail
}
