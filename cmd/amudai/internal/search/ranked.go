package search

import (
	"context"
	"errors"
	"strings"

	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/query"
	"github.com/amudai/amudai-go/table"
)

// Ranked prints the best matches of all inputs together, the best first. Inputs that are neither text nor tables are left out.
func (s *Search) Ranked(ctx context.Context, all []inputs.Input, p *Printer) (err error) {
	var locations []string
	for _, in := range all {
		if in.Err != nil {
			return in.Err
		}
		format, err := formatOf(ctx, in, true)
		if err != nil {
			return err
		}
		if format != "" {
			locations = append(locations, in.Location)
		}
	}
	if len(locations) == 0 {
		return nil
	}
	opener := s.Opener()
	opener.Parallelism = s.Parallelism
	opener.IndexError = func(err error) { p.Warn(indexHint(strings.Join(locations, ", "), err)) }
	t, err := opener.Joined(ctx, locations, func(text string) { p.Warn(errors.New(text)) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	o := s.SearchOptions
	if len(locations) > 1 && o.In == nil { // lines of one are no reason to leave out the texts of another
		in, err := t.Schema(ctx)
		if err != nil {
			return err
		}
		o.In = query.StringColumns(in)
	}
	if o.Columns == nil {
		o.Columns = o.In
	}
	p.begin()
	for rows, err := range t.Search(ctx, o) {
		if errors.Is(err, table.ErrNoText) {
			p.Warn(err)
			break
		}
		if err != nil {
			return err
		}
		text := cellsOf(rows, s.JSON, s.Columns == nil)
		for i, r := range rows.Ranks {
			p.Matches++
			p.line(inputs.Input{Location: t.Locations()[r.Input]}, Line{Row: r.Row, Match: true, Text: text(nil, i), Score: r.Score}, -1)
		}
	}
	return p.out.Flush()
}
