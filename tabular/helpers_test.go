package tabular_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/tabular"
)

// output is an Output in memory that knows whether it was published.
type output struct {
	bytes.Buffer
	published, aborted bool
}

func (o *output) Publish(context.Context) error { o.published = true; return nil }
func (o *output) Abort() error                  { o.aborted = true; return nil }

// tricklingReader gives few bytes at a time, so that records lie across reads.
type tricklingReader struct {
	b []byte
	n int
}

func (r *tricklingReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.n)], r.b)
	r.b = r.b[n:]
	return n, nil
}

func input(text string) tabular.Input {
	return tabular.Input{Name: "in", Reader: bytes.NewReader([]byte(text)), At: bytes.NewReader([]byte(text)), Size: int64(len(text))}
}

// read reads all of an input.
func read(t *testing.T, f tabular.Format, in tabular.Input, o tabular.ReadOptions) (arrow.Table, error) {
	t.Helper()
	src, err := f.Open(t.Context(), in, o)
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(t, src.Close()) }()
	var batches []arrow.RecordBatch
	defer func() {
		for _, b := range batches {
			b.Release()
		}
	}()
	for {
		b, err := src.Next(t.Context())
		if err == io.EOF {
			return array.NewTableFromRecords(src.Schema(), batches), nil
		}
		if err != nil {
			return nil, err
		}
		require.True(t, b.Schema().Equal(src.Schema()))
		batches = append(batches, b)
	}
}

func mustRead(t *testing.T, f tabular.Format, text string, o tabular.ReadOptions) arrow.Table {
	t.Helper()
	table, err := read(t, f, input(text), o)
	require.NoError(t, err)
	return table
}

// write writes a table in batches of a few rows.
func write(t *testing.T, f tabular.Format, table arrow.Table, o tabular.WriteOptions) string {
	t.Helper()
	var out output
	sink, err := f.Create(t.Context(), &out, table.Schema(), o)
	require.NoError(t, err)
	r := array.NewTableReader(table, 1000)
	defer r.Release()
	for r.Next() {
		require.NoError(t, sink.Write(t.Context(), r.RecordBatch()))
	}
	require.NoError(t, sink.Close(t.Context()))
	require.NoError(t, sink.Abort())
	require.True(t, out.published)
	require.False(t, out.aborted)
	return out.String()
}

// corpus reads a file of the shared tables.
func corpus(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", "tables", name))
	require.NoError(t, err)
	return string(b)
}

// notices collects what a source tells.
type notices []string

func (n *notices) add(s string) { *n = append(*n, s) }

func fields(t *testing.T, text string) []arrow.Field {
	t.Helper()
	f, err := tabular.ParseSchema(text)
	require.NoError(t, err)
	return f
}

func tableOf(batches ...arrow.RecordBatch) arrow.Table {
	return array.NewTableFromRecords(batches[0].Schema(), batches)
}
