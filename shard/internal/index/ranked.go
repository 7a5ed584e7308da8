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

// HasScores reports whether the description of an index says that it has frequencies.
func HasScores(d *shardpb.IndexDescriptor) bool { return property(d, PropertyScores) == true }

// Column implements [Ranked].
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

// Parameters implements [ranking.Column].
func (f *rankedField) Parameters() ranking.Parameters { return f.settings.bm25 }

// Tokenizer implements [ranking.Column].
func (f *rankedField) Tokenizer() analysis.Tokenizer { return f.settings.tokenizers[f.field] }

// Collection implements [ranking.Column].
func (f *rankedField) Collection(ctx context.Context) (ranking.Collection, error) {
	l, err := f.CountLengths(ctx, f.field)
	return ranking.Collection{Rows: l.Rows, Terms: l.Terms}, err
}

// Lengths implements [ranking.Column]. They are read once.
func (f *rankedField) Lengths(ctx context.Context) ([]uint8, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lengths == nil {
		f.lengths = make([][]uint8, f.Scored)
	}
	if f.lengths[f.field] == nil {
		l, err := f.ReadLengths(ctx, f.field)
		if err != nil {
			return nil, err
		}
		f.lengths[f.field] = l.Codes
	}
	return f.lengths[f.field], nil
}

// Find implements [ranking.Column].
func (f *rankedField) Find(ctx context.Context, w ranking.Word) (ranking.Postings, int64, error) {
	var entries []term.Entry
	for e, err := range f.Index.Find(ctx, []byte(w.Text), w.Prefix) {
		if err != nil {
			return nil, 0, err
		}
		if e.Field == f.field {
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return nil, 0, nil
	}
	if len(entries) > 1 {
		return f.union(ctx, entries)
	}
	l, err := f.List(ctx, entries[0])
	return l, entries[0].Rows, err
}

// union is the rows of several entries.
func (f *rankedField) union(ctx context.Context, entries []term.Entry) (ranking.Postings, int64, error) {
	lengths, err := f.Lengths(ctx)
	if err != nil {
		return nil, 0, err
	}
	u := ranking.NewUnion(int(f.Rows))
	for _, e := range entries {
		err := f.EachFrequency(ctx, e, func(rows, frequencies []uint32) error {
			u.Add(rows, frequencies)
			return ctx.Err()
		})
		if err != nil {
			return nil, 0, err
		}
	}
	rows, counts := u.Rows()
	return ranking.NewMemory(rows, counts, lengths), int64(len(rows)), nil
}
