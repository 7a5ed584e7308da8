package inputs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/storage"
	_ "github.com/amudai/amudai-go/table/formats"
	"github.com/amudai/amudai-go/table/provider"
)

// write makes files with the given content below a folder.
func write(t *testing.T, files map[string]string) (dir string) {
	dir = t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

func gz(t *testing.T, s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(s))
	require.NoError(t, errors.Join(err, w.Close()))
	return b.String()
}

func zst(t *testing.T, s string) string {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return string(w.EncodeAll([]byte(s), nil))
}

func finder(said *[]string) *inputs.Finder {
	return &inputs.Finder{Formats: provider.Registered(), Notice: func(s string) { *said = append(*said, s) }}
}

// TestOpen finds the format of files by name, by first bytes and within compressed ones, and reads all of them.
func TestOpen(t *testing.T) {
	const rows, lines = "a,b\n1,x\n2,y\n", "{\"a\":1}\n{\"a\":2}\n"
	dir := write(t, map[string]string{
		"t.csv": rows, "plain": lines, "t.csv.gz": gz(t, rows), "t.zst": zst(t, lines), "zipped.csv": gz(t, rows), "empty.csv": "", "a b%.csv": rows,
		"cut.csv.gz": gz(t, rows)[:20], "page.csv": "<!DOCTYPE html><html><head><title>Not found</title></head></html>", "noise": "\x00\x01\x02",
		"odd.csv": "PAR1 and so on",
	})
	for name, want := range map[string]struct{ format, content, err string }{
		"t.csv": {"csv", rows, ""}, "plain": {"jsonl", lines, ""}, "t.csv.gz": {"csv", rows, ""}, "t.zst": {"jsonl", lines, ""}, "zipped.csv": {"csv", rows, ""},
		"empty.csv": {"csv", "", ""}, "a b%.csv": {"csv", rows, ""}, "cut.csv.gz": {"", "", "the gzip data are cut off"}, "none.csv": {"", "", "none.csv does not exist"},
		"noise": {"", "", "cannot tell the format of"}, "odd.csv": {"", "", "is not CSV, it looks like Parquet"}, ".": {"", "", "is a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			in, format, err := finder(&said).Open(t.Context(), filepath.Join(dir, name))
			if want.err != "" {
				require.ErrorContains(t, err, want.err)
				return
			}
			require.NoError(t, err)
			defer in.Close()
			require.Equal(t, want.format, format.Name)
			got, err := io.ReadAll(in.Reader)
			require.NoError(t, err)
			require.Equal(t, want.content, string(got))
			require.Empty(t, said)
		})
	}
	in, format, err := (&inputs.Finder{Formats: provider.Registered(), Format: "lines", Stdin: strings.NewReader(rows)}).Open(t.Context(), "-")
	require.NoError(t, err)
	got, err := io.ReadAll(in.Reader)
	require.NoError(t, errors.Join(err, in.Close()))
	require.Equal(t, "lines", format.Name)
	require.Equal(t, rows, string(got))
}

// TestRemote reads an object of a store from its start, at any place, and by one version.
func TestRemote(t *testing.T) {
	content := make([]byte, 3<<20)
	for i := range content {
		content[i] = byte(i * i >> 7)
	}
	store := storage.NewMemory()
	storage.Register("inputs", store)
	const location = "inputs://bucket/t.parquet"
	for _, name := range []string{location, "inputs://bucket/t.csv"} {
		require.NoError(t, store.Put(name, content))
		in, err := inputs.Open(t.Context(), name, nil)
		require.NoError(t, err)
		require.Equal(t, int64(len(content)), in.Size)
		got, err := io.ReadAll(in.Reader)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, got))
		for _, at := range []struct{ off, n int }{{0, 10}, {5, 100}, {1 << 20, 2 << 20}, {len(content) - 3, 3}, {len(content) - 3, 10}, {len(content), 1}} {
			p := make([]byte, at.n)
			n, err := in.At.ReadAt(p, int64(at.off))
			require.Equal(t, content[at.off:min(at.off+at.n, len(content))], p[:n])
			require.Equal(t, at.off+at.n > len(content), err == io.EOF, "%v", err)
		}
		r, err := in.Store.Open(t.Context(), name)
		require.NoError(t, err)
		tail, size, err := r.ReadSuffix(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, in.Size, size)
		require.Equal(t, content[len(content)-10:], tail)
		head, err := inputs.Head(t.Context(), name, 7)
		require.NoError(t, err)
		require.Equal(t, content[:7], head)
		require.NoError(t, in.Close())
	}
	_, err := inputs.Open(t.Context(), "inputs://bucket/none", nil)
	require.ErrorContains(t, err, "inputs://bucket/none does not exist")
}

// TestFind lists the tables of folders and patterns, without parts, hidden files and prose beside tables.
func TestFind(t *testing.T) {
	dir := write(t, map[string]string{
		"a.csv": "a\n1\n", "b/c.jsonl.gz": "", "b/.hidden.csv": "", "b/_SUCCESS.csv": "", "README.txt": "hello", "photo.jpg": "", ".git/x.csv": "",
		"logs/a.log": "1\n", "logs/b.log": "2\n", "none/x.jpg": "",
	})
	at := func(names ...string) (all []string) {
		for _, n := range names {
			all = append(all, filepath.Join(dir, filepath.FromSlash(n)))
		}
		return all
	}
	for _, c := range []struct {
		in, want []string
		said     string
		err      string
	}{
		{at("b"), at("b/c.jsonl.gz"), "", ""},
		{at("logs"), at("logs/a.log", "logs/b.log"), "", ""},
		{at("*.csv", "b"), at("a.csv", "b/c.jsonl.gz"), "", ""},
		{at("."), at("a.csv", "b/c.jsonl.gz"), "3 files of text beside tables are left out", ""},
		{at("photo.jpg", "a.csv"), at("photo.jpg", "a.csv"), "", ""},
		{[]string{"-", at("a.csv")[0]}, []string{"-", at("a.csv")[0]}, "", ""},
		{[]string{"-", "-"}, nil, "", "stdin can be only one of the inputs"},
		{at("none"), nil, "", "has no tables"},
		{at("*.parquet"), nil, "", "no file matches"},
		{at("missing.csv"), nil, "", "does not exist"},
	} {
		var said []string
		got, err := finder(&said).Find(t.Context(), c.in)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, "%q", c.in)
			continue
		}
		require.NoError(t, err, "%q", c.in)
		require.Equal(t, c.want, got)
		require.Contains(t, strings.Join(said, "\n"), c.said)
		require.Equal(t, c.said == "", len(said) == 0, "%q", said)
	}
}

// TestVersions refuses an input that is another one when it is opened again.
func TestVersions(t *testing.T) {
	path := filepath.Join(write(t, map[string]string{"t.csv": "a\n1\n"}), "t.csv")
	var said []string
	f := finder(&said)
	f.Versions = inputs.NewVersions(nil)
	open := func() error {
		in, _, err := f.Open(t.Context(), path)
		if err != nil {
			return err
		}
		return in.Close()
	}
	require.NoError(t, open())
	require.NoError(t, open())
	require.Len(t, f.Versions.Known(), 1)
	require.NoError(t, os.WriteFile(path, []byte("a\n1\n2\n"), 0o644))
	require.ErrorIs(t, open(), storage.ErrChanged)
	f.Versions = nil
	require.NoError(t, open())
	require.Nil(t, f.Versions.Known())
}

// TestSame knows a file by several names.
func TestSame(t *testing.T) {
	dir := write(t, map[string]string{"a b.csv": "1", "c.csv": "1"})
	path := filepath.Join(dir, "a b.csv")
	require.NoError(t, os.Symlink(path, filepath.Join(dir, "link.csv")))
	for _, other := range []string{path, filepath.Join(dir, "link.csv"), dir + "/./a b.csv", "file://" + filepath.ToSlash(dir) + "/a%20b.csv"} {
		require.True(t, inputs.Same(path, other), other)
	}
	for _, other := range []string{filepath.Join(dir, "c.csv"), filepath.Join(dir, "none"), "https://example.org/a b.csv"} {
		require.False(t, inputs.Same(path, other), other)
	}
}

// TestInterruptible ends a read of a pipe to which nobody writes.
func TestInterruptible(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := inputs.Interruptible(ctx, r).Read(make([]byte, 1))
		done <- err
	}()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, r.Close())
}
