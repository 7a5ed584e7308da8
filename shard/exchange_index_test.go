package shard_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// indexedFiles are the files of a shard of texts with an index in files of its own, which are listed in their order in the description.
func indexedFiles(t *testing.T, kind string, text func(row int) string) (files map[string][]byte, indexes []string) {
	ctx, store := t.Context(), storage.NewMemory()
	location := "mem://x/s"
	s := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := range 3000 {
		b.Field(0).(*array.StringBuilder).Append(text(i))
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
	}
	opened, err := shard.Open(ctx, location, shard.OpenOptions{Store: store})
	require.NoError(t, err)
	defer opened.Close()
	list, err := opened.Indexes(ctx)
	require.NoError(t, err)
	return files, list[0].Files
}

// numbered are texts of a word and the number of the row.
func numbered(word string) func(row int) string {
	return func(row int) string { return fmt.Sprintf("%s %d", word, row) }
}

// otherFiles are the files of an index of other data, each as long as that of an index if there are several: those of a longer range would not
// be read.
func otherFiles(t *testing.T, kind string, files map[string][]byte, indexes []string) (others [][]byte) {
	for i := range 1000 {
		text := numbered("omega")
		if kind == shard.HashmapIndex { // one partition has all rows, perhaps the same one
			text = func(int) string { return fmt.Sprintf("omega%d", i) }
		}
		all, names := indexedFiles(t, kind, text)
		others = nil
		for k, name := range names {
			if len(indexes) > 1 && (len(names) != len(indexes) || len(all[name]) != len(files[indexes[k]])) {
				break
			}
			others = append(others, all[name])
		}
		if len(others) == len(indexes) {
			return others
		}
	}
	t.Fatal("no other index has the same sizes")
	return nil
}

// TestExchangedIndexes puts the files of a valid index of other data, in a shard of the same schema and rows, in the places of those of an index. The
// identity in its description tells them apart: the error names the file if there is only one, and scans find the right rows without the index.
func TestExchangedIndexes(t *testing.T) {
	for kind, text := range map[string]func(int) string{
		shard.TermIndex: numbered("alpha"), shard.HashIndex: numbered("alpha"), shard.RangeIndex: numbered("alpha"), shard.InvertedIndex: numbered("alpha"),
		shard.HashmapIndex: func(int) string { return "alpha" },
	} {
		files, indexes := indexedFiles(t, kind, text)
		changed := maps.Clone(files)
		for i, raw := range otherFiles(t, kind, files, indexes) {
			changed[indexes[i]] = raw
		}
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
		name := kind
		if len(indexes) == 1 {
			name = filepath.Base(indexes[0])
		}

		list, err := s.Indexes(ctx)
		require.NoError(t, err)
		require.ErrorIs(t, list[0].Err, shard.ErrCorrupt, kind)
		require.ErrorContains(t, list[0].Err, name)

		e, err := filter.Parse(fmt.Sprintf("text = '%s'", text(17)))
		require.NoError(t, err)
		n, err := s.Count(ctx, e)
		require.NoError(t, err)
		want := int64(1)
		if text(17) == text(18) {
			want = 3000
		}
		require.Equal(t, want, n, kind)
		if reported != nil {
			require.ErrorContains(t, reported, name)
		}
		require.NoError(t, s.Close())

		report, err := shard.Verify(ctx, "mem://x/s", shard.OpenOptions{Store: store}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.False(t, report.OK(), kind)
		require.ErrorContains(t, report.Problems[0], name)
	}
}
