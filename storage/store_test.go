package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/storetest"
)

func TestLocal(t *testing.T) {
	dir := t.TempDir()
	storetest.TestStore(t, storage.Local{}, dir+string(filepath.Separator))
	requireEmpty(t, dir)
}

func TestLocalURL(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "50% off a b#c?")
	require.NoError(t, os.Mkdir(dir, 0o777))
	u, err := storage.URL(dir)
	require.NoError(t, err)
	for name, s := range map[string]storage.Store{"local": storage.Local{}, "no locks": storage.NewLocal(noLocks{}), "wrapped": faultstore.New().Wrap(storage.Local{})} {
		t.Run(name, func(t *testing.T) { storetest.TestStore(t, s, u+"/") })
	}
	requireEmpty(t, dir)
}

func TestMemory(t *testing.T) {
	for _, folder := range []string{"mem://box/", "/box/", "box/"} {
		t.Run(folder, func(t *testing.T) { storetest.TestStore(t, storage.NewMemory(), folder) })
	}
}

func TestFromReaderAt(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 1000)
	storetest.TestReader(t, storage.FromReaderAt("mem://x/y", bytes.NewReader(content), int64(len(content))), "mem://x/y", content)
}

// requireEmpty requires that a folder has no files, hidden ones included.
func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// noLocks is a file system that cannot lock folders.
type noLocks struct{ sys.OS }

func (noLocks) Lock(context.Context, string) (func(), error) {
	return nil, fmt.Errorf("no locks: %w", errors.ErrUnsupported)
}

func TestLocalWithoutLocks(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	_, err := storage.NewLocal(noLocks{}).Create(ctx, path, storage.CreateOptions{IfMatch: "1"})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

// Versions of a file differ even if the clock does not advance between two replacements.
func TestLocalVersionsIncrease(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	future := time.Now().Add(time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(path, future, future))
	for i := range 3 {
		w, err := storage.Local{}.Create(ctx, path, storage.CreateOptions{Overwrite: true})
		require.NoError(t, err)
		require.NoError(t, w.Write(ctx, []byte("new")))
		require.NoError(t, w.Publish(ctx))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.True(t, info.ModTime().After(future), "replacement %d", i)
		future = info.ModTime()
	}
}

// Flush writes all bytes to the system, also through a wrapper.
func TestLocalFlush(t *testing.T) {
	ctx := t.Context()
	for _, s := range []storage.Store{storage.Local{}, faultstore.New().Wrap(storage.Local{})} {
		dir := t.TempDir()
		w, err := s.Create(ctx, filepath.Join(dir, "a"), storage.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Write(ctx, []byte("flushed")))
		require.NoError(t, w.Flush(ctx))
		files, err := filepath.Glob(filepath.Join(dir, ".a.*.tmp"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		b, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.Equal(t, "flushed", string(b))
		require.NoError(t, w.Abort(ctx))
		requireEmpty(t, dir)
	}
}

// endsAfter is a context that ends after n queries.
type endsAfter struct {
	context.Context
	n int
}

func (c *endsAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// A long write stops when its context ends.
func TestWriteStops(t *testing.T) {
	ctx := t.Context()
	var out bytes.Buffer
	path := filepath.Join(t.TempDir(), "a")
	for location, s := range map[string]storage.Store{path: storage.Local{}, "mem://x": storage.ToWriter("mem://x", &out)} {
		w, err := s.Create(ctx, location, storage.CreateOptions{})
		require.NoError(t, err)
		require.ErrorIs(t, w.Write(&endsAfter{ctx, 3}, make([]byte, 10<<20)), context.Canceled)
		require.Less(t, w.Size(), int64(5<<20))
		require.ErrorIs(t, w.Publish(ctx), context.Canceled, "after an error there is nothing to publish")
		require.NoError(t, w.Abort(ctx))
	}
	requireEmpty(t, filepath.Dir(path))
}

func TestCreateInMissingOrReadOnlyFolder(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	_, err := storage.Local{}.Create(ctx, filepath.Join(dir, "no", "a"), storage.CreateOptions{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = storage.Local{}.Open(ctx, dir)
	require.ErrorContains(t, err, "not a regular file")
	_, err = storage.Local{}.Open(ctx, "")
	require.Error(t, err)
}

func TestForLocation(t *testing.T) {
	for location, want := range map[string]any{
		"a.shard": storage.Local{}, "/x/a b": storage.Local{}, `C:\x`: storage.Local{}, "file:///x": storage.Local{},
		"mem://x": &storage.Memory{},
	} {
		s, err := storage.ForLocation(location)
		require.NoError(t, err)
		require.IsType(t, want, s, location)
	}
	_, err := storage.ForLocation("s3://bucket/x")
	require.ErrorContains(t, err, "s3")
	_, err = storage.ForLocation("HTTPS://h/x")
	require.ErrorContains(t, err, "storage/http")
	own := storage.NewMemory()
	storage.Register("registered", own)
	got, err := storage.ForLocation("Registered://x/y")
	require.NoError(t, err)
	require.Same(t, own, got)
}
