package shard_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// Shards of all kinds are packed into one artifact, each is read from it as it was, and unpacked.
func TestPack(t *testing.T) {
	store := storage.NewMemory()
	var shards []*shard.Shard
	var want []string
	for _, k := range Kinds(t, 50) {
		o := shard.OpenOptions{Store: Files(k.Files)}
		s, err := shard.Open(t.Context(), Location, o)
		require.NoError(t, err, k.Name)
		defer s.Close()
		shards, want = append(shards, s), append(want, rowsText(t, Location, o))
	}
	const many, one = "mem://many.shard", "mem://one.shard"
	require.NoError(t, shard.Pack(t.Context(), many, shard.PackOptions{Store: store}, shards...))
	at := shard.OpenOptions{Store: store}
	require.Equal(t, want[len(want)-1], rowsText(t, many, at))
	report, err := shard.Verify(t.Context(), many, at, provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.Contains(t, fmt.Sprint(report.Notes), fmt.Sprintf("holds %d shards", len(want)))
	require.ErrorContains(t, shard.AddIndex(t.Context(), many, shard.EditOptions{Open: at}, shard.IndexDefinition{Columns: []string{"c0"}}), "several shards")

	all, err := shard.Directories(t.Context(), many, "", at)
	require.NoError(t, err)
	require.Len(t, all, len(want))
	for i := range all {
		of := at
		of.Directory = &all[i]
		require.Equal(t, want[i], rowsText(t, many, of))
		s, err := shard.Open(t.Context(), many, of)
		require.NoError(t, err)
		require.NoError(t, shard.Pack(t.Context(), one, shard.PackOptions{Store: store, Overwrite: true}, s))
		require.NoError(t, s.Close())
		require.Equal(t, want[i], rowsText(t, one, at))
		report, err := shard.Verify(t.Context(), one, at, provider.VerifyOptions{})
		require.NoError(t, err)
		require.Empty(t, append(report.Problems, report.Notes...))
	}
	for _, name := range []string{"-1", fmt.Sprint(len(want)), "x", "@", "@x"} {
		_, err := shard.Directories(t.Context(), many, name, at)
		require.Error(t, err, name)
	}
	for _, end := range []int64{-1, 0, 8, 100, all[0].End - 1, math.MaxInt64} {
		of := at
		of.Directory = &shard.ByteRange{End: end}
		_, err := shard.Open(t.Context(), many, of)
		require.Error(t, err, end)
	}
	require.Error(t, shard.Pack(t.Context(), one, shard.PackOptions{Store: store, Overwrite: true}))
}

func rowsText(t *testing.T, location string, o shard.OpenOptions) string {
	batches, err := Read(location, o, shard.ScanOptions{})
	require.NoError(t, err)
	defer Release(batches)
	return textOf(batches)
}

func textOf(batches []arrow.RecordBatch) string { return fmt.Sprint(batches) }

// A shard of several in a file is a table by its number.
func TestPackedTables(t *testing.T) {
	many := filepath.Join(t.TempDir(), "many.amudai.shard")
	var shards []*shard.Shard
	for _, name := range []string{"", "gone"} {
		s, err := shard.Open(t.Context(), markedShard(t, name, nil), shard.OpenOptions{})
		require.NoError(t, err)
		defer s.Close()
		shards = append(shards, s)
	}
	require.NoError(t, shard.Pack(t.Context(), many, shard.PackOptions{}, shards...))
	for _, location := range []string{many, many + ":0", many + ":1", "file://" + many + ":0"} {
		tb, err := table.Open(t.Context(), location)
		require.NoError(t, err, location)
		require.Equal(t, keptRows(), idsOf(t, tb.Scan(t.Context(), table.ScanOptions{})))
	}
	tb, err := table.Open(t.Context(), many+":0", many+":1")
	require.NoError(t, err)
	n, err := tb.Count(t.Context(), table.ScanOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 2*len(keptRows()), n)

	b, err := os.ReadFile(many)
	require.NoError(t, err)
	for at := 0; at < len(b); at += 1 + len(b)/300 { // no damage panics or hides from verify
		damaged := bytes.Clone(b)
		damaged[at] ^= 1 << (at % 8)
		report, err := shard.Verify(t.Context(), "mem://x", shard.OpenOptions{Store: OneFile(damaged)}, provider.VerifyOptions{})
		require.NoError(t, err)
		_ = report
		_, _ = shard.Directories(t.Context(), "mem://x", "0", shard.OpenOptions{Store: OneFile(damaged)})
	}
}

// A file of an earlier version with two shards, of which both have deleted records, is read as ever.
func TestFrozenPack(t *testing.T) {
	const frozen = "testdata/packed/deleted.amudai.shard"
	if *freeze {
		require.NoError(t, os.MkdirAll(filepath.Dir(frozen), 0o755))
		var shards []*shard.Shard
		for _, name := range []string{"", "gone"} {
			s, err := shard.Open(t.Context(), markedShard(t, name, nil), shard.OpenOptions{})
			require.NoError(t, err)
			defer s.Close()
			shards = append(shards, s)
		}
		require.NoError(t, shard.Pack(t.Context(), frozen, shard.PackOptions{Overwrite: true}, shards...))
	}
	for _, location := range []string{frozen, frozen + ":0"} {
		tb, err := table.Open(t.Context(), location)
		require.NoError(t, err)
		require.Equal(t, keptRows(), idsOf(t, tb.Scan(t.Context(), table.ScanOptions{})))
	}
	report, err := shard.Verify(t.Context(), frozen, shard.OpenOptions{}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
}
