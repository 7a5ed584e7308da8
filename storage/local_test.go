package storage_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
)

// TestLocalChanges reads files that change after they were opened.
func TestLocalChanges(t *testing.T) {
	ctx := context.Background()
	later := time.Now().Add(time.Second)
	content := "0123456789"
	for name, test := range map[string]struct {
		change func(t *testing.T, path string)
		want   []error // all of them; none if the bytes are those of before
	}{
		"truncated": {func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 5)) }, []error{storage.ErrChanged, io.ErrUnexpectedEOF}},
		"rewritten": {func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte("abcdefghij"), 0))
			require.NoError(t, os.Chtimes(path, later, later))
		}, []error{storage.ErrChanged}},
		"rewritten, longer": {func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(content[1:]+content), 0))
		}, []error{storage.ErrChanged}},
		"rewritten, longer, with the bytes that were read": {func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte("abcdefg789xyz"), 0))
		}, []error{storage.ErrChanged}},
		"appended": {func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte(content+content), 0)) }, nil},
		"replaced": {func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path+"2", []byte("abc"), 0o600))
			require.NoError(t, os.Rename(path+"2", path))
		}, nil},
		"removed": {func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a")
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			r, err := storage.Local{}.Open(ctx, path)
			require.NoError(t, err)
			defer r.Close()
			tail, size, err := r.ReadSuffix(ctx, 3)
			require.NoError(t, err)
			require.Equal(t, "789", string(tail))
			require.EqualValues(t, 10, size)
			test.change(t, path)
			p := make([]byte, 8)
			err = r.ReadAt(ctx, p, 1)
			for _, want := range test.want {
				require.ErrorIs(t, err, want)
				require.NotErrorIs(t, err, io.EOF)
			}
			if test.want == nil {
				require.NoError(t, err)
				require.Equal(t, content[1:9], string(p))
			}
		})
	}
}

// What is being written is listed, until it has its name.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	list := func(prefix string) (all []storage.Info) {
		for info, err := range (storage.Local{}).Unfinished(t.Context(), filepath.Join(dir, prefix)) {
			require.NoError(t, err)
			all = append(all, info)
		}
		return all
	}
	w, err := storage.Local{}.Create(t.Context(), filepath.Join(dir, "a.shard"), storage.CreateOptions{})
	require.NoError(t, err)
	require.Len(t, list("a"), 1)
	require.WithinDuration(t, time.Now(), list("a")[0].Modified, time.Hour)
	require.Empty(t, list("b"))
	require.NoError(t, w.Publish(t.Context()))
	require.Empty(t, list("a"))
}
