// Package scored is the columns of compact term indexes that rows can be ranked by.
package scored

import (
	"context"
	"slices"

	"github.com/amudai/amudai-go/index/term"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Column is a field of a term index with frequencies. It is a [ranking.Column].
type Column struct {
	Index *term.Index
	Field int
	Words analysis.Tokenizer
	BM25  ranking.Parameters
	Known *parallel.Once[[]uint8] // the length codes of the rows
}

// Parameters implements [ranking.Column].
func (c *Column) Parameters() ranking.Parameters { return c.BM25 }

// Tokenizer implements [ranking.Column].
func (c *Column) Tokenizer() analysis.Tokenizer { return c.Words }

// Collection implements [ranking.Column].
func (c *Column) Collection(ctx context.Context) (ranking.Collection, error) {
	l, err := c.Index.Lengths(ctx, c.Field, nil)
	return ranking.Collection{Rows: l.Rows, Terms: l.Terms}, err
}

// Lengths implements [ranking.Column].
func (c *Column) Lengths(ctx context.Context) ([]uint8, error) {
	return c.lengths(ctx, c.Index)
}

// lengths reads them from an index, which may have bytes of them in memory.
func (c *Column) lengths(ctx context.Context, x *term.Index) ([]uint8, error) {
	return c.Known.Get(ctx, func() ([]uint8, error) {
		codes := make([]uint8, x.Rows)
		_, err := x.Lengths(ctx, c.Field, codes)
		return codes, err
	})
}

// Find has two rounds of requests at most: blocks of terms and of lengths, and long lists. Lengths are read with them, as scores need them.
func (c *Column) Find(ctx context.Context, words []ranking.Word) ([]ranking.Found, error) {
	var texts [][]byte
	for _, w := range words {
		if !w.Inside && w.Distance == 0 {
			texts = append(texts, []byte(w.Text))
		}
	}
	x, err := c.Index.Ahead(ctx, texts)
	if err != nil {
		return nil, err
	}
	of := make([][]term.Entry, len(words))
	for i, w := range words {
		if of[i], err = c.entries(ctx, x, w); err != nil {
			return nil, err
		}
	}
	all := slices.Concat(of...)
	if len(all) == 0 {
		return make([]ranking.Found, len(words)), nil
	}
	if x, err = x.ListsAhead(ctx, all); err != nil {
		return nil, err
	}
	lengths, err := c.lengths(ctx, x)
	found := make([]ranking.Found, len(words))
	for i, entries := range of {
		if err != nil {
			return nil, err
		}
		found[i], err = postings(ctx, x, entries, lengths)
	}
	return found, err
}

// entries are those of a word in an index.
func (c *Column) entries(ctx context.Context, x *term.Index, w ranking.Word) (entries []term.Entry, err error) {
	text, is := []byte(w.Text), w.Matcher()
	all := x.Find(ctx, text, w.Prefix)
	if w.Distance > 0 {
		all = x.FindFuzzy(ctx, text, w.Distance)
	} else if w.Inside {
		blocks, err := x.Containing(ctx, text)
		if err != nil {
			return nil, err
		}
		all = x.FindContaining(ctx, blocks, text, false)
	}
	for e, err := range all {
		if err != nil {
			return nil, err
		}
		if e.Field == c.Field && is(analysis.AppendUpper(nil, e.Term)) {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// postings are the rows of some entries together.
func postings(ctx context.Context, x *term.Index, entries []term.Entry, lengths []uint8) (f ranking.Found, err error) {
	switch len(entries) {
	case 0:
		return f, nil
	case 1:
		f.Postings, err = x.List(ctx, entries[0])
		f.Rows = entries[0].Rows
		return f, err
	}
	u := ranking.NewUnion(int(x.Rows))
	for _, e := range entries {
		err := x.EachFrequency(ctx, e, func(rows, frequencies []uint32) error {
			u.Add(rows, frequencies)
			return ctx.Err()
		})
		if err != nil {
			return f, err
		}
	}
	rows, counts := u.Rows()
	return ranking.Found{Postings: ranking.NewMemory(rows, counts, lengths), Rows: int64(len(rows))}, nil
}
