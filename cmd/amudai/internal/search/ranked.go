package search

import (
	"context"
	"errors"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/query"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// joined opens all inputs as one table, without those that are neither text nor tables; nil if there are no others.
func (s *Search) joined(ctx context.Context, all []inputs.Input, p *Printer) (*table.Table, table.SearchOptions, error) {
	o := s.SearchOptions
	var locations []string
	for _, in := range all {
		format, err := "", in.Err
		if in.Location == "-" {
			err = usage.Errorf("save it to a file first", "--by and --rank read tables, not standard input")
		}
		if err == nil {
			format, err = formatOf(ctx, in, true)
		}
		if err != nil {
			return nil, o, err
		}
		if format != "" {
			locations = append(locations, in.Location)
		}
	}
	if len(locations) == 0 {
		return nil, o, nil
	}
	opener := s.Opener()
	opener.Parallelism = s.Parallelism
	opener.IndexError = func(err error) { p.Warn(indexHint(strings.Join(locations, ", "), err)) }
	t, err := opener.Joined(ctx, locations, func(text string) { p.Warn(errors.New(text)) })
	if err == nil && len(locations) > 1 && o.In == nil { // lines of one are no reason to leave out the texts of another
		in, err := t.Schema(ctx)
		if err != nil {
			return nil, o, errors.Join(err, t.Close())
		}
		o.In = query.StringColumns(in)
	}
	return t, o, err
}

// Groups prints how many matches each group of all inputs together has.
func (s *Search) Groups(ctx context.Context, all []inputs.Input, p *Printer, by string, create app.CreateSink) (err error) {
	t, o, err := s.joined(ctx, all, p)
	if t == nil || err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	src, err := t.Reader(ctx, table.GroupOptions{By: by, Search: &o, Limit: o.Limit})
	if err != nil {
		return app.Flagged(err)
	}
	return app.PrintRows(ctx, groups{src, p}, create)
}

// groups counts groups that are printed.
type groups struct {
	provider.Source
	printer *Printer
}

// Next implements [provider.Source].
func (g groups) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := g.Source.Next(ctx)
	if b != nil {
		g.printer.Matches += b.NumRows()
	}
	return b, err
}

// Ranked prints the best matches of all inputs together, the best first.
func (s *Search) Ranked(ctx context.Context, all []inputs.Input, p *Printer) (err error) {
	t, o, err := s.joined(ctx, all, p)
	if t == nil || err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if o.Columns == nil {
		o.Columns = o.In
	}
	q, err := query.New(o.Query, o.Regexp, o.IgnoreCase)
	if err != nil {
		return err
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
		var tokenizers []analysis.Tokenizer
		for _, name := range rows.Tokenizers {
			z, _ := analysis.TokenizerByName(name)
			tokenizers = append(tokenizers, z)
		}
		p.Highlighter = q.Highlighter(tokenizers...)
		text := cellsOf(rows, s.JSON, s.Columns == nil)
		for i, r := range rows.Ranks {
			p.Matches++
			p.line(inputs.Input{Location: t.Locations()[r.Input]}, Line{Row: r.Row, Match: true, Text: text(nil, i), Score: r.Score}, -1)
		}
	}
	return p.out.Flush()
}
