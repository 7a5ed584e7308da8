// Package ranked finds the rows of tables that match words best. Shards with an index that has frequencies are asked by it; of other tables a scan finds the rows with
// these words, and the same scores.
package ranked

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/query"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/table/internal/searched"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
)

// Question asks for the best rows of a table.
type Question struct {
	Query      *query.Query
	Phrases    []rowset.Set        // positions of the rows with each term of the query that is no word; nil if a row matches if and only if it has one of the words
	Columns    []string            // paths
	Tokenizer  *analysis.Tokenizer // nil for those of the first index
	Boosts     []float64           // of the columns
	Parameters *ranking.Parameters // nil for those of the first index
	Among      *rowset.Set         // positions; nil for all rows
	Limit      int
	Read       provider.ReadOptions // memory and temporary files
}

// maxBoost keeps sums of scores far from overflow.
const maxBoost = 1_000_000

// SetBoosts sets the factors of columns by path, 1 for others, and checks them and the parameters.
func (q *Question) SetBoosts(boosts map[string]float64) error {
	if p := q.Parameters; p != nil && !(p.K1 >= 0 && p.K1 <= ranking.MaxK1 && p.B >= 0 && p.B <= 1) {
		return fmt.Errorf("K1 is from 0 to %d, and B from 0 to 1, not %v and %v", ranking.MaxK1, p.K1, p.B)
	}
	q.Boosts = slices.Repeat([]float64{1}, len(q.Columns))
	for path, boost := range boosts {
		i := slices.Index(q.Columns, path)
		if i < 0 {
			return fmt.Errorf("column %q, which is to have a factor, is not searched", path)
		}
		if q.Boosts[i] = boost; !(boost > 0 && boost <= maxBoost) {
			return fmt.Errorf("the factor %v of column %q is not above 0 and at most %d", boost, path, maxBoost)
		}
	}
	return nil
}

// SetTokenizer sets the tokenizer of a name, if there is one.
func (q *Question) SetTokenizer(name string) error {
	if name == "" {
		return nil
	}
	z, ok := analysis.TokenizerByName(name)
	if !ok || z == analysis.Trivial {
		return fmt.Errorf("there is no tokenizer %q of words", name)
	}
	q.Tokenizer = &z
	return nil
}

// SetPhrases finds the rows with the terms of the query that are no words, if a row needs more than one of the words.
func (q *Question) SetPhrases(positions func(query.Term) (*rowset.Set, error)) (err error) {
	if q.Query.AnyWord() {
		return nil
	}
	for _, t := range q.Query.Terms() {
		rows := &rowset.Set{}
		if !t.IsWord() {
			if rows, err = positions(t); err != nil {
				return err
			}
		}
		q.Phrases = append(q.Phrases, *rows)
	}
	return nil
}

// Hit is a row with its score.
type Hit struct {
	Position int64
	Score    ranking.Score
	Input    int
	Row      int64 // in the input
}

// Top returns the best rows of a table, the best first, and of equal ones the first row. It also returns the names of the tokenizers of the columns, each once.
func Top(ctx context.Context, u *tables.Union, q Question) (hits []Hit, tokenizers []string, err error) {
	err = q.answer(ctx, u, func() { hits = nil }, func(s *search, p part, among *rowset.Set) error {
		tokenizers = nil
		for _, z := range s.tokenizers {
			if !slices.Contains(tokenizers, z.String()) {
				tokenizers = append(tokenizers, z.String())
			}
		}
		terms, err := s.terms(ctx, p)
		if err != nil {
			return err
		}
		floor := ranking.Score(0)
		if len(hits) == q.Limit && q.Limit > 0 {
			floor = hits[q.Limit-1].Score
		}
		some, err := ranking.Top(ctx, terms, among, q.Limit, floor)
		for _, h := range some {
			row := p.row + int64(h.Row)
			hits = append(hits, Hit{p.first + row, h.Score, p.input, row})
		}
		slices.SortFunc(hits, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Position, b.Position))
		})
		hits = hits[:min(len(hits), q.Limit)]
		return err
	})
	return hits, tokenizers, err
}

// Matches are the positions of all rows of a table that [Top] finds with any limit.
func Matches(ctx context.Context, u *tables.Union, q Question) (rowset.Set, error) {
	var all []rowset.Range
	err := q.answer(ctx, u, func() { all = nil }, func(_ *search, p part, among *rowset.Set) error {
		var any rowset.Set
		for _, c := range p.columns {
			for _, w := range c.words {
				rows, err := ranking.Rows(ctx, w.postings)
				if err != nil {
					return err
				}
				any = any.Or(rows)
			}
		}
		if among != nil {
			any = any.And(*among)
		}
		all = slices.AppendSeq(all, any.Shift(p.first+p.row).Ranges())
		return nil
	})
	return rowset.Of(all...), err
}

// answer calls visit with each part of the inputs, and the rows of it that may match, nil for all. If an index turns out to be damaged, it calls again and scans all
// inputs instead.
func (q Question) answer(ctx context.Context, u *tables.Union, again func(), visit func(*search, part, *rowset.Set) error) error {
	err := q.visit(ctx, u, false, visit)
	if fault.Is(err) {
		if q.Read.Warning != nil {
			q.Read.Warning(fmt.Sprintf("an index is not used: %v", err))
		}
		again()
		err = q.visit(ctx, u, true, visit)
	}
	return err
}

// visit is answer, which uses no index if all is to be scanned.
func (q Question) visit(ctx context.Context, u *tables.Union, scan bool, visit func(*search, part, *rowset.Set) error) (err error) {
	n := len(q.Columns)
	s := search{Question: q, union: u, scan: scan, totals: make([]totals, n), tokenizers: make([]analysis.Tokenizer, n), known: make([]bool, n)}
	defer func() { err = errors.Join(err, seq.CloseAll(s.sources)) }()
	if t := q.Tokenizer; t != nil {
		for k := range s.tokenizers {
			s.tokenizers[k], s.known[k] = *t, true
		}
	}
	for i := range u.NumParts() {
		if err := s.open(ctx, i); err != nil {
			return err
		}
	}
	for i := range s.inputs {
		if err := s.addInput(ctx, i); err != nil {
			return err
		}
	}
	if s.Parameters == nil {
		s.Parameters = &ranking.Default
	}
	for _, p := range s.parts {
		among, err := s.among(ctx, p)
		if err == nil {
			err = visit(&s, p, among)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// search is one run of a question.
type search struct {
	Question
	union   *tables.Union
	scan    bool
	next    int64             // position of the next input
	sources []provider.Source // of indexes
	inputs  []input
	parts   []part
	totals  []totals // by column

	tokenizers []analysis.Tokenizer // by column, once they are known
	known      []bool
}

// input is one of a table.
type input struct {
	have  []string // columns
	parts []part   // nil if it is to be scanned
}

// part is consecutive rows with the words of the question in them.
type part struct {
	input   int
	first   int64 // position of the first row of the input
	row     int64 // of the input, from which on the part has rows
	rows    int64
	visible *rowset.Set // nil for all
	columns []column
}

// column is the words of the question in a column of a part.
type column struct {
	ranking.Column // nil if the part lacks it
	asked          []ranking.Word
	words          []word // that were found
}

type word struct {
	text     ranking.Word
	postings ranking.Postings
}

// totals are those of a column in all parts.
type totals struct {
	all    ranking.Collection
	rows   map[ranking.Word]int64
	scorer map[ranking.Word]*ranking.Scorer
}

// open finds the indexes of an input.
func (s *search) open(ctx context.Context, i int) error {
	src, err := s.union.OpenPart(ctx, i, s.Read)
	if err != nil {
		return err
	}
	var in input
	for _, path := range s.Columns {
		if _, err := provider.Project(src.Schema(), []string{path}); err == nil {
			in.have = append(in.have, path)
		}
	}
	in.parts, err = s.indexed(ctx, src, in.have)
	if err != nil || !s.agree(in.parts) || s.scan {
		in.parts = nil
		err = errors.Join(err, src.Close())
	} else {
		s.sources = append(s.sources, src)
	}
	s.inputs = append(s.inputs, in)
	return err
}

// agree reports whether there are indexes, which have words as those before have them: only then scores can be compared.
func (s *search) agree(parts []part) bool {
	for _, p := range parts {
		for k, c := range p.columns {
			if c.Column == nil {
				continue
			}
			if t := c.Tokenizer(); !s.known[k] {
				s.tokenizers[k], s.known[k] = t, true
			} else if t != s.tokenizers[k] {
				return false
			}
			if s.Parameters == nil {
				own := c.Parameters()
				s.Parameters = &own
			}
		}
	}
	return parts != nil
}

// addInput finds the words in an input.
func (s *search) addInput(ctx context.Context, i int) (err error) {
	in := s.inputs[i]
	if in.parts == nil {
		in.parts, err = s.scanned(ctx, i, in.have)
	}
	first := s.next
	for _, p := range in.parts {
		if err != nil {
			break
		}
		p.input, p.first = i, first
		s.next += p.rows
		err = s.add(ctx, p)
	}
	return err
}

// file is a source whose file may have indexes that rows can be ranked by: package tablefile has them.
type file interface {
	// Rankings are those of columns by path, and the rows of the file that are not hidden, nil for all; none if there is a column without an index.
	Rankings(ctx context.Context, columns []string) (all []table.Ranking, visible *rowset.Set, err error)
}

// indexed is an input as its indexes have it; nil if there are none for all of its columns.
func (s *search) indexed(ctx context.Context, src provider.Source, have []string) (parts []part, err error) {
	f, ok := src.(file)
	if !ok || len(have) == 0 {
		return nil, nil
	}
	all, visible, err := f.Rankings(ctx, have)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		p := part{row: one.Rows.From, rows: one.Rows.Len(), columns: make([]column, len(s.Columns))}
		for k, path := range have {
			p.columns[slices.Index(s.Columns, path)].Column = one.Columns[k]
		}
		if visible != nil {
			here := visible.Clip(one.Rows.From, one.Rows.To).Shift(-one.Rows.From)
			p.visible = &here
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// add finds the words in a part.
func (s *search) add(ctx context.Context, p part) error {
	for k := range p.columns {
		c, t := &p.columns[k], &s.totals[k]
		if c.Column == nil {
			continue
		}
		c.asked = s.Query.Words(s.tokenizers[k])
		found, err := c.Find(ctx, c.asked)
		if err != nil {
			return err
		}
		all, err := c.collection(ctx, p.visible)
		if err != nil {
			return err
		}
		t.all.Add(all)
		for i, f := range found {
			if f.Rows > 0 && p.visible != nil {
				rows, err := ranking.Rows(ctx, f.Postings)
				if err != nil {
					return err
				}
				f.Rows = rows.And(*p.visible).Len()
			}
			if f.Rows > 0 {
				c.words = append(c.words, word{c.asked[i], f.Postings})
				if t.rows == nil {
					t.rows, t.scorer = map[ranking.Word]int64{}, map[ranking.Word]*ranking.Scorer{}
				}
				t.rows[c.asked[i]] += f.Rows
			}
		}
	}
	s.parts = append(s.parts, p)
	return nil
}

// collection counts the rows that are visible, which are those that scores know of.
func (c *column) collection(ctx context.Context, visible *rowset.Set) (ranking.Collection, error) {
	if visible == nil {
		return c.Collection(ctx)
	}
	lengths, err := c.Lengths(ctx)
	return ranking.Collect(lengths, *visible), err
}

// terms are the words of a part with their scorers.
func (s *search) terms(ctx context.Context, p part) (terms []ranking.Term, err error) {
	for k, c := range p.columns {
		if len(c.words) == 0 {
			continue
		}
		lengths, err := c.Lengths(ctx)
		if err != nil {
			return nil, err
		}
		t := &s.totals[k]
		for _, w := range c.words {
			if t.scorer[w.text] == nil {
				t.scorer[w.text] = s.Parameters.Scorer(t.all, t.rows[w.text], s.Boosts[k])
			}
			terms = append(terms, ranking.Term{Postings: w.postings, Scorer: t.scorer[w.text], Lengths: lengths})
		}
	}
	return terms, nil
}

// among is the rows of a part that may be found; nil for all.
func (s *search) among(ctx context.Context, p part) (*rowset.Set, error) {
	among := p.visible
	only := func(rows rowset.Set) {
		if among != nil {
			rows = rows.And(*among)
		}
		among = &rows
	}
	here := func(positions rowset.Set) rowset.Set {
		from := p.first + p.row
		return positions.Clip(from, from+p.rows).Shift(-from)
	}
	if s.Among != nil {
		only(here(*s.Among))
	}
	if s.Phrases == nil {
		return among, nil
	}
	var terms []rowset.Set
	for i, t := range s.Query.Terms() {
		rows := here(s.Phrases[i])
		if t.IsWord() {
			var err error
			if rows, err = s.having(ctx, p, t); err != nil {
				return nil, err
			}
		}
		terms = append(terms, rows)
	}
	only(s.Query.Rows(rowset.All(p.rows), terms))
	return among, nil
}

// having is the rows of a part that have a term in one of the columns.
func (s *search) having(ctx context.Context, p part, t query.Term) (any rowset.Set, err error) {
	for k := range p.columns {
		c := &p.columns[k]
		if c.Column == nil {
			continue
		}
		all := rowset.All(p.rows)
		words := t.Words(s.tokenizers[k])
		for _, w := range words {
			rows, err := c.having(ctx, w)
			if err != nil {
				return any, err
			}
			all = all.And(rows)
		}
		if len(words) > 0 {
			any = any.Or(all)
		}
	}
	return any, nil
}

// having is the rows with a word. One that scores know was found before.
func (c *column) having(ctx context.Context, w ranking.Word) (rows rowset.Set, err error) {
	if i := slices.IndexFunc(c.words, func(known word) bool { return known.text == w }); i >= 0 {
		return ranking.Rows(ctx, c.words[i].postings)
	}
	if slices.Contains(c.asked, w) {
		return rows, nil
	}
	found, err := c.Find(ctx, []ranking.Word{w})
	if err != nil || found[0].Postings == nil {
		return rows, err
	}
	return ranking.Rows(ctx, found[0].Postings)
}

// Among is the positions of the rows of a source, which it closes.
func Among(ctx context.Context, src provider.Source) (*rowset.Set, error) {
	var rows []int64
	for b, err := range tables.Batches(ctx, src) {
		if err != nil {
			return nil, err
		}
		some, err := searched.Positions(src, b.NumRows())
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	all := rowset.FromRows(rows)
	return &all, nil
}
