package shard_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// indexedFiles are the files of a shard of texts with an index in files of its own.
func indexedFiles(t *testing.T, kind, word string) (files map[string][]byte, indexes []string) {
	ctx, store := t.Context(), storage.NewMemory()
	location := "mem://x/s"
	s := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := range 3000 {
		b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("%s %d", word, i))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	w, err := shard.Create(ctx, location, s, shard.WriterOptions{Store: store, Layout: shard.TwoLevel})
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, batch))
	require.NoError(t, w.Close(ctx))
	require.NoError(t, shard.AddIndex(ctx, location, shard.EditOptions{Open: shard.OpenOptions{Store: store}}, shard.IndexDefinition{Type: kind, Columns: []string{"text"}}))
	files = map[string][]byte{}
	for info, err := range store.List(ctx, "mem://x/") {
		require.NoError(t, err)
		r, err := store.Open(ctx, info.Location)
		require.NoError(t, err)
		raw, err := storage.ReadRange(ctx, r, 0, info.Size)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		files[info.Location] = raw
		if strings.HasSuffix(info.Location, ".index") {
			indexes = append(indexes, info.Location)
		}
	}
	slices.Sort(indexes)
	return files, indexes
}

// TestExchangedIndexes puts the file of a valid index of other data, in a shard of the same schema and rows, in the place of an index. The
// identity in its description tells them apart: the error names the file, and scans find the right rows without the index.
func TestExchangedIndexes(t *testing.T) {
	for _, kind := range []string{shard.TermIndex, shard.HashIndex, shard.RangeIndex} {
		files, indexes := indexedFiles(t, kind, "alpha")
		others, otherIndexes := indexedFiles(t, kind, "omega")
		require.Len(t, indexes, 1, kind)
		require.Len(t, otherIndexes, 1, kind)
		changed := maps.Clone(files)
		changed[indexes[0]] = others[otherIndexes[0]]
		store, ctx := storage.NewMemory(), t.Context()
		for location, raw := range changed {
			w, err := store.Create(ctx, location, storage.CreateOptions{})
			require.NoError(t, err)
			require.NoError(t, w.Write(ctx, raw))
			require.NoError(t, w.Publish(ctx))
		}
		var reported error
		open := shard.OpenOptions{Store: store, IndexError: func(err error) { reported = err }}
		s, err := shard.Open(ctx, "mem://x/s", open)
		require.NoError(t, err)
		name := filepath.Base(indexes[0])

		list, err := s.Indexes(ctx)
		require.NoError(t, err)
		require.ErrorIs(t, list[0].Err, shard.ErrCorrupt, kind)
		require.ErrorContains(t, list[0].Err, name)

		e, err := filter.Parse("text = 'alpha 17'")
		require.NoError(t, err)
		n, err := s.Count(ctx, e)
		require.NoError(t, err)
		require.EqualValues(t, 1, n, kind)
		if reported != nil {
			require.ErrorContains(t, reported, name)
		}
		require.NoError(t, s.Close())

		report, err := shard.Verify(ctx, "mem://x/s", shard.VerifyOptions{Open: shard.OpenOptions{Store: store}})
		require.NoError(t, err)
		require.False(t, report.OK(), kind)
		require.ErrorContains(t, report.Problems[0].Err, name)
	}
}
