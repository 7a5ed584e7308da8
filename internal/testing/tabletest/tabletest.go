// Package tabletest reads and writes tables in memory, for tests of formats.
package tabletest

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
)

// Output is a provider.Output in memory that records whether it was published.
type Output struct {
	buf                bytes.Buffer
	Published, Aborted bool
}

// Bytes returns the bytes written.
func (o *Output) Bytes() []byte { return o.buf.Bytes() }

// String returns the bytes written.
func (o *Output) String() string { return o.buf.String() }

// Write implements provider.Output.
func (o *Output) Write(_ context.Context, p []byte) error {
	o.buf.Write(p)
	return nil
}

// Publish implements provider.Output.
func (o *Output) Publish(context.Context) error { o.Published = true; return nil }

// Abort implements provider.Output.
func (o *Output) Abort(context.Context) error { o.Aborted = true; return nil }

// TricklingReader returns N bytes at a time, so that records span reads.
type TricklingReader struct {
	B []byte
	N int
}

// Read implements io.Reader.
func (r *TricklingReader) Read(p []byte) (int, error) {
	if len(r.B) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.N)], r.B)
	r.B = r.B[n:]
	return n, nil
}

// Input is a text named "in".
func Input(s string) provider.Input {
	return provider.Input{Name: "in", Reader: bytes.NewReader([]byte(s)), At: bytes.NewReader([]byte(s)), Size: int64(len(s))}
}

// Read reads all of an input.
func Read(t testing.TB, f provider.Format, in provider.Input, o provider.ReadOptions) (arrow.Table, error) {
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
	for b, err := range provider.Batches(t.Context(), src) {
		if err != nil {
			return nil, err
		}
		require.True(t, b.Schema().Equal(src.Schema()))
		b.Retain()
		batches = append(batches, b)
	}
	return array.NewTableFromRecords(src.Schema(), batches), nil
}

// MustRead is [Read] of a valid text.
func MustRead(t testing.TB, f provider.Format, s string, o provider.ReadOptions) arrow.Table {
	t.Helper()
	got, err := Read(t, f, Input(s), o)
	require.NoError(t, err)
	return got
}

// Write writes a table in batches of a few rows.
func Write(t testing.TB, f provider.Format, rows arrow.Table) string {
	t.Helper()
	var out Output
	sink, err := f.Create(t.Context(), &out, rows.Schema(), provider.WriteOptions{})
	require.NoError(t, err)
	r := array.NewTableReader(rows, 1000)
	defer r.Release()
	for r.Next() {
		require.NoError(t, sink.Write(t.Context(), r.RecordBatch()))
	}
	require.NoError(t, sink.Close(t.Context()))
	require.NoError(t, sink.Abort(t.Context()))
	require.True(t, out.Published)
	require.False(t, out.Aborted)
	return out.String()
}

// Notices collects the notices of a source.
type Notices []string

// Add takes a notice.
func (n *Notices) Add(s string) { *n = append(*n, s) }

// Fields are the fields of a schema as text.
func Fields(t testing.TB, s string) []arrow.Field {
	t.Helper()
	f, err := text.ParseSchema(s)
	require.NoError(t, err)
	return f
}

// Table makes a table of batches.
func Table(batches ...arrow.RecordBatch) arrow.Table {
	return array.NewTableFromRecords(batches[0].Schema(), batches)
}

// RoundTripTypes writes a column of every type as text, alone and beside another column, and reads it with its
// schema.
func RoundTripTypes(t *testing.T, f provider.Format) {
	for _, c := range arrowtest.Columns() {
		switch c.Name {
		case "dictionary_int", "run_end_encoded":
			continue // written, but not read as such: TestOnlyWritten
		}
		t.Run(c.Name, func(t *testing.T) {
			batch := arrowtest.Batch(t, []arrowtest.Column{c, {Name: "n", Type: arrowtest.Columns()[5].Type, JSON: "[1,2,3,4]"}})
			rows := Table(batch, batch.NewSlice(1, 4))
			o := provider.ReadOptions{Schema: Fields(t, text.Schema(rows.Schema()))}
			arrowtest.RequireSameTable(t, rows, MustRead(t, f, Write(t, f, rows), o))
		})
	}
}
