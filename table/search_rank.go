package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/table/internal/ranked"
	"github.com/amudai/amudai-go/table/internal/tables"
)

// RankOptions order the matches of a search by how well they match: by BM25, summed up over the words of the query that are not negated and over the columns
// that are searched. Rows, lengths and numbers of rows with a word are those of the whole table, deleted rows included as far as an index has them.
type RankOptions struct {
	Boosts map[string]float64 // factors of columns, by path; 1 for others
	K1, B  float64            // of BM25; both 0 mean those of the index, or 1.2 and 0.75
}

// Rank is a match of a ranked search.
type Rank struct {
	Score float64
	Input int   // of the table, as in [Table.Locations]
	Row   int64 // in the input, from 0
}

// defaultRanked is the number of matches of a ranked search without a limit.
const defaultRanked = 10

// ranked gives the best matches, the best first.
func (s *search) ranked(ctx context.Context) error {
	t := s.table
	switch {
	case s.Before > 0 || s.After > 0:
		return &OptionError{Option: "Rank", Err: errors.New("ranked matches have no rows around them")}
	case !t.Rereadable():
		return &OptionError{Option: "Rank", Err: errors.New("a pipe can be read once, and a ranking reads it twice")}
	}
	in, err := t.Schema(ctx)
	if err != nil {
		return err
	}
	c, err := s.columns(in)
	if err != nil {
		return err
	}
	q := ranked.Question{Words: s.query.Words, Columns: c.searched, Limit: int(s.Limit), Read: t.options(ScanOptions{})}
	if q.Limit == 0 {
		q.Limit = defaultRanked
	}
	if s.Rank.K1 != 0 || s.Rank.B != 0 {
		if q.Parameters = (&ranking.Parameters{K1: s.Rank.K1, B: s.Rank.B}); !(s.Rank.K1 >= 0 && s.Rank.B >= 0 && s.Rank.B <= 1) {
			return &OptionError{Option: "Rank", Value: fmt.Sprint(*q.Parameters), Err: errors.New("K1 is at least 0, and B from 0 to 1")}
		}
	}
	for _, path := range c.searched {
		boost, ok := s.Rank.Boosts[path]
		if !ok {
			boost = 1
		}
		if !(boost > 0 && boost <= maxBoost) {
			return &OptionError{Option: "Boosts", Value: strconv.FormatFloat(boost, 'g', -1, 64), Err: fmt.Errorf("a factor is above 0, and at most %d", maxBoost)}
		}
		q.Boosts = append(q.Boosts, boost)
	}
	for path := range s.Rank.Boosts {
		if !slices.Contains(c.searched, path) {
			return &OptionError{Option: "Boosts", Value: path, Err: errors.New("this column is not searched")}
		}
	}
	if !s.query.AnyWord() || !s.Filter.IsZero() || s.Since != nil || s.Until != nil {
		if q.Among, err = s.matching(ctx); err != nil {
			return err
		}
	}
	hits, err := ranked.Top(ctx, t.union, q)
	if err != nil || len(hits) == 0 {
		return err
	}
	return s.giveHits(ctx, hits, c.result)
}

// maxBoost keeps sums of scores far from overflow.
const maxBoost = 1_000_000

// matching is the positions of all rows that match.
func (s *search) matching(ctx context.Context) (*rowset.Set, error) {
	src, err := s.open(ctx, ScanOptions{}, func(c *searchColumns) ([]string, filter.Expr) { return []string{}, c.filter })
	if err != nil {
		return nil, err
	}
	var rows []int64
	err = eachBatch(ctx, src, func(b arrow.RecordBatch) error {
		some, err := positionsOf(src, b.NumRows())
		rows = append(rows, some...)
		return err
	})
	all := rowset.FromRows(rows)
	return &all, err
}

// giveHits gives rows in the order of their scores.
func (s *search) giveHits(ctx context.Context, hits []ranked.Hit, columns []string) error {
	o := TakeOptions{Columns: columns}
	var ranks []Rank
	for _, h := range hits {
		o.Rows, ranks = append(o.Rows, h.Position), append(ranks, Rank{h.Score.Float(), h.Input, h.Row})
	}
	src, err := o.open(ctx, s.table)
	if err != nil {
		return err
	}
	for b, err := range tables.Batches(ctx, src) {
		if err != nil {
			return err
		}
		n := int(b.NumRows())
		if err := s.give(Found{RecordBatch: b, Positions: o.Rows[:n], Ranks: ranks[:n]}); err != nil {
			return err
		}
		o.Rows, ranks = o.Rows[n:], ranks[n:]
	}
	return nil
}
