package table

import (
	"cmp"
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/query"
	"github.com/amudai/amudai-go/table/internal/ranked"
	"github.com/amudai/amudai-go/table/internal/searched"
	"github.com/amudai/amudai-go/table/internal/tables"
)

// RankOptions order the matches of a search by how well they match: by BM25, summed up over the words of the query that are not negated and over the columns
// that are searched. Numbers of rows and their lengths are those of the whole table, whatever its filter.
type RankOptions struct {
	Boosts map[string]float64 // factors of columns, by path; 1 for others
	K1, B  float64            // of BM25; both 0 mean those of the first index, or 1.2 and 0.75
	// Tokenizer says what words are, by name (docs/format.md §15.1); "" means as those of the first index, or unicode-word. Indexes with other words are not asked.
	Tokenizer string
}

// Rank is a match of a ranked search.
type Rank struct {
	Score float64
	Input int   // of the table, as in [Table.Locations]
	Row   int64 // in the input, from 0
}

// ranked gives the best matches, the best first.
func (s *search) ranked(ctx context.Context) error {
	if s.Before > 0 || s.After > 0 {
		return &OptionError{Option: "Rank", Err: errors.New("ranked matches have no rows around them")}
	}
	c, q, err := s.question(ctx)
	if err != nil {
		return err
	}
	hits, tokenizers, err := ranked.Top(ctx, s.table.union, *q)
	if err == nil && len(hits) > 0 {
		err = s.giveHits(ctx, hits, c.Result, tokenizers)
	}
	return err
}

// question is the question of a ranked search.
func (s *search) question(ctx context.Context) (*searched.Columns, *ranked.Question, error) {
	t := s.table
	if !t.Rereadable() {
		return nil, nil, &OptionError{Option: "Rank", Err: errors.New("a pipe can be read once, and a ranking reads it twice")}
	}
	in, err := t.Schema(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, err := s.columns(in)
	if err != nil {
		return nil, nil, err
	}
	q := &ranked.Question{Query: s.query, Columns: c.Searched, Limit: cmp.Or(int(s.Limit), 10), Read: t.options(ScanOptions{})}
	if s.Rank.K1 != 0 || s.Rank.B != 0 {
		q.Parameters = &ranking.Parameters{K1: s.Rank.K1, B: s.Rank.B}
	}
	if err := cmp.Or(q.SetBoosts(s.Rank.Boosts), q.SetTokenizer(s.Rank.Tokenizer)); err != nil {
		return nil, nil, &OptionError{Option: "Rank", Err: err}
	}
	if !s.Filter.IsZero() || s.Since != nil || s.Until != nil {
		if q.Among, err = s.among(ctx, func(c *searched.Columns) filter.Expr { return c.Filter }); err != nil {
			return nil, nil, err
		}
	}
	err = q.SetPhrases(func(t query.Term) (*rowset.Set, error) {
		return s.among(ctx, func(c *searched.Columns) filter.Expr { return t.Condition(c.Searched) })
	})
	return c, q, err
}

// among is the positions of the rows with a condition.
func (s *search) among(ctx context.Context, condition func(*searched.Columns) filter.Expr) (*rowset.Set, error) {
	src, err := s.open(ctx, ScanOptions{}, func(c *searched.Columns) ([]string, filter.Expr) { return []string{}, condition(c) })
	if err != nil {
		return nil, err
	}
	return ranked.Among(ctx, src)
}

// giveHits gives rows in the order of their scores.
func (s *search) giveHits(ctx context.Context, hits []ranked.Hit, columns, tokenizers []string) error {
	o := TakeOptions{Columns: columns}
	var ranks []Rank
	for _, h := range hits {
		o.Rows, ranks = append(o.Rows, h.Position), append(ranks, Rank{h.Score.Float(), h.Input, h.Row})
	}
	src, err := o.open(ctx, s.table)
	if err != nil {
		return err
	}
	return seq.Each(tables.Batches(ctx, src), func(b arrow.RecordBatch) error {
		n := int(b.NumRows())
		f := Found{RecordBatch: b, Positions: o.Rows[:n], Ranks: ranks[:n], Tokenizers: tokenizers}
		o.Rows, ranks = o.Rows[n:], ranks[n:]
		return s.give(f)
	})
}
