package index

import (
	"context"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/index/term"
	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Ranked is an index that rows can be ranked by.
type Ranked interface {
	// Column is the words of a field; nil if the index has no frequencies.
	Column(field int) ranking.Column
}

// HasScores tells from its description whether an index has frequencies.
func HasScores(d *shardpb.IndexDescriptor) bool { return property(d, PropertyScores) == true }

func (x *termIndex) Column(field int) ranking.Column {
	if field >= x.Scored {
		return nil
	}
	return &rankedField{x, field}
}

// rankedField is a field of a term index with frequencies.
type rankedField struct {
	*termIndex
	field int
}

// The methods of [ranking.Column].

func (f *rankedField) Parameters() ranking.Parameters { return f.settings.bm25 }
func (f *rankedField) Tokenizer() analysis.Tokenizer  { return f.settings.tokenizers[f.field] }

func (f *rankedField) Collection(ctx context.Context) (ranking.Collection, error) {
	l, err := f.Index.Lengths(ctx, f.field, nil)
	return ranking.Collection{Rows: l.Rows, Terms: l.Terms}, err
}

// Lengths are read once.
func (f *rankedField) Lengths(ctx context.Context) ([]uint8, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lengths == nil {
		f.lengths = make([][]uint8, f.Scored)
	}
	if f.lengths[f.field] == nil {
		codes := make([]uint8, f.Rows)
		if _, err := f.Index.Lengths(ctx, f.field, codes); err != nil {
			return nil, err
		}
		f.lengths[f.field] = codes
	}
	return f.lengths[f.field], nil
}

func (f *rankedField) Find(ctx context.Context, w ranking.Word) (ranking.Postings, int64, error) {
	var entries []term.Entry
	text, is := []byte(w.Text), w.Matcher()
	all := f.Index.Find(ctx, text, w.Prefix)
	if w.Distance > 0 {
		all = f.FindFuzzy(ctx, text, w.Distance)
	} else if w.Inside {
		all = f.FindContaining(ctx, text, false)
	}
	for e, err := range all {
		if err != nil {
			return nil, 0, err
		}
		if e.Field == f.field && is(analysis.AppendUpper(nil, e.Term)) {
			entries = append(entries, e)
		}
	}
	switch len(entries) {
	case 0:
		return nil, 0, nil
	case 1:
		l, err := f.List(ctx, entries[0])
		return l, entries[0].Rows, err
	}
	lengths, err := f.Lengths(ctx)
	u := ranking.NewUnion(int(f.Rows))
	for _, e := range entries {
		if err != nil {
			return nil, 0, err
		}
		err = f.EachFrequency(ctx, e, func(rows, frequencies []uint32) error {
			u.Add(rows, frequencies)
			return ctx.Err()
		})
	}
	rows, counts := u.Rows()
	return ranking.NewMemory(rows, counts, lengths), int64(len(rows)), err
}
