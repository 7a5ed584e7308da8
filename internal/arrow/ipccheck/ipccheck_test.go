package ipccheck_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/ipccheck"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// stream returns a stream of all types, and file the same batches as a file.
func stream(t testing.TB, o ...ipc.Option) []byte {
	batch := arrowtest.Batch(t, arrowtest.Columns())
	var b bytes.Buffer
	w := ipc.NewWriter(&b, append(o, ipc.WithSchema(batch.Schema()))...)
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())
	return b.Bytes()
}

func file(t testing.TB, o ...ipc.Option) []byte {
	batch := arrowtest.Batch(t, arrowtest.Columns())
	var b bytes.Buffer
	w, err := ipc.NewFileWriter(&b, append(o, ipc.WithSchema(batch.Schema()))...)
	require.NoError(t, err)
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestGood accepts output of arrow-go, compressed or not, and leaves it unchanged.
func TestGood(t *testing.T) {
	for _, o := range [][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}} {
		s := stream(t, o...)
		got, err := io.ReadAll(ipccheck.Stream(bytes.NewReader(s)))
		require.NoError(t, err)
		require.Equal(t, s, got)
		f := file(t, o...)
		require.NoError(t, ipccheck.File(bytes.NewReader(f), int64(len(f))))
	}
	require.NoError(t, ipccheck.Schema(stream(t)))
	one := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.SparseUnionOf(nil, nil)}}, nil)
	var b bytes.Buffer
	require.NoError(t, ipc.NewWriter(&b, ipc.WithSchema(one)).Close())
	require.NoError(t, ipccheck.Schema(b.Bytes()))
}

// TestBad flips every bit of the first message and of a footer. The result is an error of package fault, or none.
func TestBad(t *testing.T) {
	s, f := stream(t), file(t)
	for i := 0; i < 8*4000; i += sweep.Step(5) {
		s[i/8] ^= 1 << (i % 8)
		if err := ipccheck.Schema(s); err != nil {
			require.True(t, isFault(err), err)
		}
		s[i/8] ^= 1 << (i % 8)
	}
	for i := 8 * (len(f) - 6000); i < 8*len(f); i += sweep.Step(5) {
		f[i/8] ^= 1 << (i % 8)
		if err := ipccheck.File(bytes.NewReader(f), int64(len(f))); err != nil {
			require.True(t, isFault(err) || err == io.EOF, err)
		}
		f[i/8] ^= 1 << (i % 8)
	}
	for n := 0; n < len(f); n += sweep.Step(5) {
		require.Error(t, ipccheck.File(bytes.NewReader(f[:n]), int64(n)))
	}
}

func isFault(err error) bool {
	for _, kind := range []error{fault.ErrCorrupt, fault.ErrLimit} {
		if err != nil && bytes.Contains([]byte(err.Error()), []byte(kind.Error())) {
			return true
		}
	}
	return false
}

func FuzzStream(f *testing.F) {
	batch := arrowtest.Batch(f, arrowtest.Columns()[17:20]) // strings and views
	for _, o := range [][]ipc.Option{nil, {ipc.WithZstd()}} {
		var b bytes.Buffer
		w := ipc.NewWriter(&b, append(o, ipc.WithSchema(batch.Schema()))...)
		require.NoError(f, w.Write(batch))
		require.NoError(f, w.Close())
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = io.Copy(io.Discard, ipccheck.Stream(bytes.NewReader(b)))
		_ = ipccheck.Schema(b)
		_ = ipccheck.File(bytes.NewReader(b), int64(len(b)))
	})
}
