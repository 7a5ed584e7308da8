package storage_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/storetest"
	"github.com/amudai/amudai-go/storage"
)

// Every store that can write must pass this.
func TestStores(t *testing.T) {
	stores := map[string]func(t *testing.T) (storage.Store, string){
		"local path": func(t *testing.T) (storage.Store, string) {
			return storage.Local{}, t.TempDir() + string(filepath.Separator)
		},
		"local url": func(t *testing.T) (storage.Store, string) {
			dir := filepath.Join(t.TempDir(), "50% off a b#c?")
			require.NoError(t, os.Mkdir(dir, 0o777))
			u, err := storage.URL(dir)
			require.NoError(t, err)
			return storage.Local{}, u + "/"
		},
		"memory": func(t *testing.T) (storage.Store, string) { return storage.NewMemory(), "mem://box/" },
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s, base := open(t)
			testStore(t, s, base)
		})
	}
}

func testStore(t *testing.T, s storage.Store, base string) {
	ctx := context.Background()
	put := func(name, content string, o storage.CreateOptions) error {
		w, err := s.Create(ctx, base+name, o)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, content)
		require.NoError(t, err)
		require.EqualValues(t, len(content), w.Size())
		return w.Publish(ctx)
	}
	get := func(name string) string {
		r, err := s.Open(ctx, base+name)
		require.NoError(t, err)
		defer r.Close()
		size, err := r.Size(ctx)
		require.NoError(t, err)
		b := make([]byte, size)
		require.NoError(t, r.ReadAt(ctx, b, 0))
		return string(b)
	}

	_, err := s.Open(ctx, base+"a")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, put("a", "first", storage.CreateOptions{}))
	require.ErrorIs(t, put("a", "second", storage.CreateOptions{}), fs.ErrExist)
	require.Equal(t, "first", get("a"))
	require.NoError(t, put("a", "second", storage.CreateOptions{Overwrite: true}))
	require.Equal(t, "second", get("a"))

	// Whoever publishes first wins.
	w1, err := s.Create(ctx, base+"race", storage.CreateOptions{})
	require.NoError(t, err)
	w2, err := s.Create(ctx, base+"race", storage.CreateOptions{})
	require.NoError(t, err)
	_, err = io.WriteString(w1, "one")
	require.NoError(t, err)
	_, err = io.WriteString(w2, "two")
	require.NoError(t, err)
	require.NoError(t, w2.Publish(ctx))
	require.ErrorIs(t, w1.Publish(ctx), fs.ErrExist)
	require.NoError(t, w1.Abort())
	require.Equal(t, "two", get("race"))

	// Enough for several writes to the system.
	w, err := s.Create(ctx, base+"long", storage.CreateOptions{})
	require.NoError(t, err)
	_, err = w.Write(bytes.Repeat([]byte("0123456789"), 50_000))
	require.NoError(t, err)
	_, err = s.Open(ctx, base+"long")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, w.Publish(ctx))
	require.Len(t, get("long"), 500_000)
	_, err = w.Write([]byte("late"))
	require.Error(t, err)

	// Nothing is visible after Abort, or if the context has ended.
	w, err = s.Create(ctx, base+"gone", storage.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Abort())
	require.NoError(t, w.Abort())
	require.Error(t, w.Publish(ctx))
	ended, cancel := context.WithCancel(ctx)
	w, err = s.Create(ended, base+"gone", storage.CreateOptions{})
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, w.Publish(ended), context.Canceled)
	_, err = s.Open(ctx, base+"gone")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = s.Open(ended, base+"a")
	require.ErrorIs(t, err, context.Canceled)

	storetest.Read(t, s, base+"long")
	listed := map[string]int64{}
	for info, err := range s.List(ctx, base+"l") {
		require.NoError(t, err)
		listed[path.Base(filepath.ToSlash(info.Location))] = info.Size
		r, err := s.Open(ctx, info.Location)
		require.NoError(t, err)
		require.NoError(t, r.Close())
	}
	require.Equal(t, map[string]int64{"long": 500_000}, listed)
	for _, none := range []string{"x", "long/", "no/such/folder/"} {
		for info, err := range s.List(ctx, base+none) {
			t.Errorf("%v, %v for %q", info, err, none)
		}
	}
	n := 0
	for _, err := range s.List(ctx, base) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 3, n) // a, race and long
	for _, err := range s.List(ended, base) {
		require.ErrorIs(t, err, context.Canceled)
	}

	require.NoError(t, s.Remove(ctx, base+"a"))
	require.ErrorIs(t, s.Remove(ctx, base+"a"), fs.ErrNotExist)
	if dir, err := storage.Path(base); err == nil {
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
		require.NoError(t, err)
		require.Len(t, append(left, hidden...), 2, "race and long")
	}
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
