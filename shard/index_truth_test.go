package shard

import (
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/searchtest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// truthIndexes are indexes of a column "line" of each kind and tokenizer.
func truthIndexes() (out []IndexDefinition) {
	for i, tokenizer := range []string{"unicode-log", "unicode-word", "trivial"} {
		collation := []string{"unicode-case-insensitive", "unicode-case-preserving"}[i%2]
		p := []Property{{Name: "tokenizers", Value: []any{tokenizer}}, {Name: "collation", Value: collation}}
		coarse := append(p[:2:2], Property{Name: "coarse", Value: 16})
		out = append(out, IndexDefinition{Columns: []string{"line"}, Properties: p}, IndexDefinition{Columns: []string{"line"}, Properties: coarse},
			IndexDefinition{Type: InvertedIndex, Columns: []string{"line"}, Properties: p})
	}
	return append(out, IndexDefinition{Type: RangeIndex, Columns: []string{"line"}, Properties: []Property{{Name: "rows", Value: 64}}})
}

// writeTexts writes a shard with a column of texts, some of them null.
func writeTexts(t *testing.T, location string, texts []string, isNull func(row int) bool, o WriterOptions) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "line", Type: arrow.BinaryTypes.String, Nullable: true}}, nil))
	defer b.Release()
	for i, text := range texts {
		if isNull(i) {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.StringBuilder).Append(text)
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	w, err := Create(t.Context(), location, batch.Schema(), o)
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
}

// Scans with an index have the rows that a search of the texts finds, and those of scans without it.
func TestIndexTruth(t *testing.T) {
	for name, texts := range map[string][]string{
		"logs":    searchtest.Lines(t, sweep.Count(40, 2000)),
		"Unicode": searchtest.Texts(rand.New(rand.NewPCG(1, 3)), 600, false),
		"whole":   searchtest.Texts(rand.New(rand.NewPCG(1, 5)), 600, false), // without nulls
		"sorted":  slices.Sorted(slices.Values(searchtest.Texts(rand.New(rand.NewPCG(1, 4)), 600, false))),
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(2, 9))
			m := searchtest.NewMaker(r, texts)
			isNull := func(row int) bool { return name != "whole" && row%37 == 36 }
			dir := t.TempDir()
			var shards []*Shard
			for _, d := range truthIndexes() {
				location := filepath.Join(dir, "x.shard"+string(rune('a'+len(shards))))
				writeTexts(t, location, texts, isNull, WriterOptions{Layout: TwoLevel, StripeRows: 700, Indexes: []IndexDefinition{d}})
				s, err := Open(t.Context(), location, OpenOptions{IndexError: func(err error) { t.Error(err) }})
				require.NoError(t, err)
				defer s.Close()
				shards = append(shards, s)
			}
			for range sweep.Count(15, 200) {
				q := m.Question()
				var want []rowset.Range
				for row, text := range texts {
					if !isNull(row) && q.True(text) {
						want = append(want, rowset.Range{From: int64(row), To: int64(row) + 1})
					}
				}
				for i, s := range shards {
					requireScanned(t, s, q.Text, 0, rowset.Of(want...))
					if i == 0 {
						requireScanned(t, s, q.Text, Indexes, rowset.Of(want...))
					}
				}
			}
		})
	}
}

// requireScanned scans a shard.
func requireScanned(t *testing.T, s *Shard, where string, disable Sources, want rowset.Set) {
	e, err := filter.Parse(where)
	require.NoError(t, err, where)
	gaps := []int64{0, 1 << 20} // the second as over a network, where indexes are asked first
	for _, gap := range gaps[:1+min(1, bits.OnesCount8(uint8(Indexes&^disable)))] {
		var got []rowset.Range
		for b, err := range s.Scan(t.Context(), ScanOptions{Filter: e, Disable: disable, Columns: []string{}, FetchGap: gap}) {
			require.NoError(t, err, where)
			for _, r := range b.RowRanges() {
				got = append(got, rowset.Range(r))
			}
		}
		require.Equal(t, want.String(), rowset.Of(got...).String(), where)
	}
}
