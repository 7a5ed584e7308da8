package faultstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/storage"
)

func replaceFile(ctx context.Context, s storage.Store, location string, content []byte) error {
	w, err := s.Create(ctx, location, storage.CreateOptions{Overwrite: true})
	if err != nil {
		return err
	}
	for part := range bytes.SplitSeq(content, []byte(" ")) {
		if err := w.Write(ctx, part); err != nil {
			return errors.Join(err, w.Abort(ctx))
		}
	}
	return w.Publish(ctx)
}

// TestLocalWriterUnderEveryFault requires that the folder has the old or the new file, and no other, whichever
// operation fails.
func TestLocalWriterUnderEveryFault(t *testing.T) {
	ctx := context.Background()
	content := bytes.Repeat([]byte("x "), 200_000)
	whole := bytes.ReplaceAll(content, []byte(" "), nil)
	for _, op := range faultstore.Ops {
		for k := 1; ; k++ {
			dir := t.TempDir()
			path := filepath.Join(dir, "a")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			f := faultstore.New()
			f.FailAt(op, k)
			err := replaceFile(ctx, f.Local(), path, content)
			hit := f.Count(op) >= k
			if hit && op != faultstore.Remove {
				require.ErrorIs(t, err, faultstore.Err, "%s %d", op, k)
			}
			got, rerr := os.ReadFile(path)
			require.NoError(t, rerr)
			if err == nil {
				require.True(t, bytes.Equal(whole, got))
			} else if op != faultstore.Sync || k == 1 {
				require.Equal(t, "old", string(got), "%s %d", op, k)
			}
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, files, 1, "%s %d", op, k)
			if !hit {
				break
			}
		}
	}
}

func TestSpoolUnderEveryFault(t *testing.T) {
	for _, op := range []faultstore.Op{faultstore.Create, faultstore.Read, faultstore.Write, faultstore.Close, faultstore.Remove} {
		for k := 1; ; k++ {
			f := faultstore.New()
			f.FailAt(op, k)
			dir := t.TempDir()
			budget := f.Budget(10_000)
			s := storage.NewSpool(budget, dir)
			var first error
			note := func(err error) {
				if first == nil {
					first = err
				}
			}
			for range 20 {
				_, err := s.Write(make([]byte, 3000))
				note(err)
			}
			n, err := s.WriteTo(io.Discard)
			note(err)
			if first == nil {
				require.EqualValues(t, 60_000, n)
			}
			note(s.Close())
			hit := f.Count(op) >= k
			if hit && op != faultstore.Remove { // without early removal, it is removed at the end
				require.ErrorIs(t, first, faultstore.Err, "%s %d", op, k)
			}
			require.Zero(t, budget.Used())
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, files, "%s %d", op, k)
			if !hit {
				break
			}
		}
	}
}

func TestWrap(t *testing.T) {
	ctx := context.Background()
	f := faultstore.New()
	s := f.Wrap(storage.NewMemory())
	require.NoError(t, replaceFile(ctx, s, "a", []byte("abc")))
	require.EqualValues(t, 3, f.BytesWritten())
	r, err := s.Open(ctx, "a")
	require.NoError(t, err)
	_, _, err = r.ReadSuffix(ctx, 2)
	require.NoError(t, err)
	require.NoError(t, r.ReadAt(ctx, make([]byte, 1), 0))
	require.EqualValues(t, 3, f.BytesRead())
	require.Equal(t, 2, f.Count(faultstore.Read))
	f.FailFrom(faultstore.Read, 1)
	require.ErrorIs(t, r.ReadAt(ctx, make([]byte, 1), 0), faultstore.Err)
	_, _, err = r.ReadSuffix(ctx, 2)
	require.ErrorIs(t, err, faultstore.Err)
	for _, op := range []faultstore.Op{faultstore.Create, faultstore.Write, faultstore.Sync, faultstore.Rename} {
		f.Reset()
		f.FailAt(op, 1)
		require.ErrorIs(t, replaceFile(ctx, s, "a", []byte("new")), faultstore.Err)
	}
	f.Reset()
	f.FailAt(faultstore.Close, 1)
	f.FailAt(faultstore.Open, 1)
	f.FailAt(faultstore.Remove, 1)
	require.ErrorIs(t, r.Close(), faultstore.Err)
	_, err = s.Open(ctx, "a")
	require.ErrorIs(t, err, faultstore.Err)
	require.ErrorIs(t, s.Remove(ctx, "a"), faultstore.Err)
	require.NoError(t, s.Remove(ctx, "a"))
}
