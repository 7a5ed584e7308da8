package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/query"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/internal/ranked"
	"github.com/amudai/amudai-go/table/internal/searched"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
)

// SearchOptions ask for the rows whose texts match a query, and for rows around them.
type SearchOptions struct {
	// Query has words, phrases and the operators AND, OR and NOT (docs/search.md), or is one regular expression in the syntax of package regexp.
	Query      string
	Regexp     bool
	IgnoreCase bool // of a regular expression; words always do

	In      []string // columns to search, by path; default the column "line", or all columns of strings
	Columns []string // of the result; default those that are searched. With an empty list, batches have a number of rows only
	Filter  filter.Expr
	// Since and Until are a range of times, without its end: times, or texts as in filters. Nil is no bound. A [time.Time] is a local time in
	// a column without a zone. TimeColumn is the path of their column; default the first column of times or dates.
	Since, Until any
	TimeColumn   string

	Before, After int64 // rows of context around each match
	Limit         int64 // maximum number of matches; 0 for all, or for the 10 best

	Rank *RankOptions // the best matches first; nil for the order of rows
}

// Found is rows that [Table.Search] returns: a batch, which is valid until the next step of the loop.
type Found struct {
	arrow.RecordBatch
	Positions []int64 // of the rows in the table
	Context   []bool  // by row: it is no match, but near one; nil if all are matches
	Ranks     []Rank  // of a ranked search, by row
	// Tokenizers are the names of those that found the words of a ranked search, each once.
	Tokenizers []string
}

// NumMatches is the number of rows that match.
func (f Found) NumMatches() (n int64) {
	if f.Context == nil && f.RecordBatch != nil {
		return f.NumRows()
	}
	for _, isContext := range f.Context {
		if !isContext {
			n++
		}
	}
	return n
}

// ErrNoText is the error of a search in a table without a column of strings.
var ErrNoText = searched.ErrNoText

// Search returns the rows that match a query, in their order or ranked, as [Table.Scan] does. Files with an index of words are asked by it.
func (t *Table) Search(ctx context.Context, o SearchOptions) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		ctx := inputs.Question(ctx)
		s, err := newSearch(o, t)
		if err == nil {
			s.yield, s.left = yield, o.Limit
			err = s.run(ctx)
		}
		if err != nil && err != errEnough {
			yield(Found{}, err)
		}
	}
}

// matches opens the rows of a scan that match.
func (o *SearchOptions) matches(ctx context.Context, t *Table, so ScanOptions) (provider.Source, error) {
	s, err := newSearch(*o, t)
	if err != nil {
		return nil, err
	}
	if o.Rank == nil {
		return s.open(ctx, so, func(c *searched.Columns) ([]string, filter.Expr) { return so.Columns, filter.And(c.Filter, so.Filter) })
	}
	_, q, err := s.question(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := ranked.Matches(ctx, t.union, *q)
	if err != nil {
		return nil, err
	}
	if so.Rows != nil {
		rows = rows.And(rowset.Of(so.Rows...))
	}
	so.Rows = slices.AppendSeq([]RowRange{}, rows.Ranges())
	return so.open(ctx, t)
}

// search is one run of a search.
type search struct {
	SearchOptions
	table *Table
	query *query.Query
	yield func(Found, error) bool
	left  int64 // matches up to the limit, if there is one
}

// errEnough ends a search whose rows are no longer wanted.
var errEnough = errors.New("enough was found")

func newSearch(o SearchOptions, t *Table) (s *search, err error) {
	for _, n := range []struct {
		name string
		n    int64
	}{{"Before", o.Before}, {"After", o.After}, {"Limit", o.Limit}} {
		if n.n < 0 {
			return nil, &OptionError{Option: n.name, Value: strconv.FormatInt(n.n, 10), Err: errors.New("it is negative")}
		}
	}
	s = &search{SearchOptions: o, table: t}
	if s.query, err = query.New(o.Query, o.Regexp, o.IgnoreCase); err != nil {
		return nil, &OptionError{Option: "Query", Value: strconv.Quote(o.Query), Err: err}
	}
	return s, nil
}

func (s *search) run(ctx context.Context) error {
	if s.Rank != nil {
		return s.ranked(ctx)
	}
	hasContext := s.Before > 0 || s.After > 0
	if hasContext && !s.table.Rereadable() {
		return s.stream(ctx)
	}
	src, err := s.open(ctx, ScanOptions{Limit: s.Limit}, func(c *searched.Columns) ([]string, filter.Expr) {
		if hasContext {
			return []string{}, c.Filter
		}
		return c.Result, c.Filter
	})
	if err != nil {
		return err
	}
	if hasContext && !s.table.filters() {
		if err := src.Close(); err != nil {
			return err
		}
		return s.stream(ctx)
	}
	if hasContext {
		return s.withContext(ctx, src)
	}
	return seq.Each(tables.Batches(ctx, src), func(b arrow.RecordBatch) error { return s.matches(b, src) })
}

// matches gives a batch of rows that match.
func (s *search) matches(b arrow.RecordBatch, src provider.Source) (err error) {
	f := Found{RecordBatch: b}
	if s.Columns == nil || len(s.Columns) > 0 {
		if f.Positions, err = searched.Positions(src, b.NumRows()); err != nil {
			return err
		}
	}
	return s.give(f)
}

// give returns rows to the caller.
func (s *search) give(f Found) error {
	if !s.yield(f, nil) {
		return errEnough
	}
	return nil
}

// columns finds the columns of a search in those of the table. A ranked search finds words itself.
func (s *search) columns(in *arrow.Schema) (*searched.Columns, error) {
	q := s.query
	if s.Rank != nil {
		q = nil
	}
	c, err := searched.Resolve(in, searched.Question{
		Query: q, In: s.In, Columns: s.SearchOptions.Columns, Filter: s.Filter, Since: s.Since, Until: s.Until, TimeColumn: s.TimeColumn,
	})
	if err == searched.ErrNoTimes {
		err = &OptionError{Err: err, Advice: "--since and --until need one"}
	}
	return c, err
}

// open opens the table with the columns, and the rows, that choose chooses.
func (s *search) open(ctx context.Context, so ScanOptions, choose func(*searched.Columns) ([]string, filter.Expr)) (provider.Source, error) {
	o := s.table.options(so)
	o.Choose = func(in *arrow.Schema) ([]string, filter.Expr, error) {
		c, err := s.columns(in)
		if err != nil && len(s.table.locations) == 1 {
			err = fmt.Errorf("%s: %w", storage.Redact(s.table.locations[0]), err)
		}
		if err != nil {
			return nil, filter.Expr{}, err
		}
		columns, where := choose(c)
		return columns, where, nil
	}
	return s.table.openChosen(ctx, o)
}
