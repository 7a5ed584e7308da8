package command_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// unreadable are the valid files of the corpus that arrow-go does not read, and one with times out of the range of
// shards.
var unreadable = map[string]bool{
	"datapage_v2_empty_datapage.snappy.parquet": true, "incorrect_map_schema.parquet": true, "int96_from_spark.parquet": true,
	"large_string_map.brotli.parquet": true, "unknown-logical-type.parquet": true,
}

// TestParquetCorpus converts every Parquet file of the corpus to shards of both editions. Types and values come back
// unchanged.
func TestParquetCorpus(t *testing.T) {
	through := 0
	require.NoError(t, filepath.WalkDir(corpus(t, "parquet-testing/data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".parquet" || unreadable[d.Name()] {
			return err
		}
		t.Run(d.Name(), func(t *testing.T) {
			want := readParquet(t, path)
			defer want.Release()
			for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
				got, err := throughShard(t, want, e)
				require.NoError(t, err)
				arrowtest.RequireSameTable(t, want, got)
				got.Release()
			}
			through++
		})
		return nil
	}))
	t.Logf("%d files went through shards", through)
	require.Greater(t, through, 60)
}

func readParquet(t *testing.T, path string) arrow.Table {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	src, err := parquet.New(parquet.Options{}).Open(t.Context(), provider.Input{Name: path, Reader: bytes.NewReader(b), At: bytes.NewReader(b), Size: int64(len(b))}, provider.ReadOptions{})
	require.NoError(t, err)
	var batches []arrow.RecordBatch
	defer func() {
		for _, b := range batches {
			b.Release()
		}
		require.NoError(t, src.Close())
	}()
	for {
		b, err := src.Next(t.Context())
		require.NoError(t, err)
		if b == nil {
			return array.NewTableFromRecords(src.Schema(), batches)
		}
		batches = append(batches, b)
	}
}

// throughShard writes a table to a shard of several stripes, and reads it.
func throughShard(t *testing.T, table arrow.Table, e edition.Edition) (arrow.Table, error) {
	store, location := storage.NewMemory(), "mem://x/"+e.String()
	w, err := shard.Create(t.Context(), location, table.Schema(), shard.WriterOptions{Store: store, Edition: e, StripeRows: table.NumRows()/2 + 1})
	if err != nil {
		return nil, err
	}
	defer w.Abort(t.Context())
	r := array.NewTableReader(table, 500)
	defer r.Release()
	for r.Next() {
		if err := w.Write(t.Context(), r.RecordBatch()); err != nil {
			return nil, err
		}
	}
	if err := w.Close(t.Context()); err != nil {
		return nil, err
	}
	report, err := shard.Verify(t.Context(), location, shard.OpenOptions{Store: store}, provider.VerifyOptions{})
	if err != nil || !report.OK() {
		return nil, fmt.Errorf("not sound: %v %v", err, report.Problems)
	}
	s, err := shard.Open(t.Context(), location, shard.OpenOptions{Store: store})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var batches []arrow.RecordBatch
	for b, err := range s.Scan(t.Context(), shard.ScanOptions{BatchRows: 300}) {
		if err != nil {
			return nil, err
		}
		b.Retain()
		defer b.Release()
		batches = append(batches, b)
	}
	schema, err := s.ArrowSchema(t.Context())
	if err != nil {
		return nil, err
	}
	return array.NewTableFromRecords(schema, batches), nil
}

// TestBadParquet converts the broken Parquet files of the corpus. The result is an error, and no shard.
func TestBadParquet(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus(t, "parquet-testing/bad_data"), "*.parquet"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	t.Chdir(t.TempDir())
	for _, f := range files {
		if filepath.Base(f) == "ARROW-GH-43605.parquet" {
			continue // valid all the same, see package parquet
		}
		require.Equal(t, app.ExitFailure, run(t, "convert", f, "out.amudai.shard").code, f)
		left, err := os.ReadDir(".")
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// TestLogCorpus converts every log file of the corpus to a shard and back. The bytes are the same.
func TestLogCorpus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus(t, "logs"), "*.log"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	t.Chdir(t.TempDir())
	for _, f := range files {
		ok(t, "convert", "-q", "-f", f, "out.amudai.shard")
		require.Contains(t, ok(t, "verify", "out.amudai.shard"), ": sound; checked ")
		require.True(t, ok(t, "convert", "-q", f, "-", "--to", "lines") == ok(t, "convert", "-q", "out.amudai.shard", "-", "--to", "lines", "--columns", "line"), f)
	}
}
