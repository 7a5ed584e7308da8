// Package storetest tests implementations of [storage.Store]. A package with a store of
// its own calls it from its tests:
//
//	func TestStore(t *testing.T) {
//		storetest.TestStore(t, newStore(t), "my://bucket/"+uniqueName()+"/")
//	}
//
// Optional features whose calls fail with errors.ErrUnsupported are skipped: lists,
// versions, conditional replacement and copies.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// TestStore tests all methods of s. The locations that it uses begin with prefix. There
// must be no artifacts at such locations, and afterwards there are none.
func TestStore(t *testing.T, s storage.Store, prefix string) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, store)
	}{
		{"missing", testMissing},
		{"publish", testPublish},
		{"sizes", testSizes},
		{"write at", testWriteAt},
		{"taken", testTaken},
		{"overwrite", testOverwrite},
		{"if-match", testIfMatch},
		{"version", testVersion},
		{"abort", testAbort},
		{"cancel", testCancel},
		{"remove", testRemove},
		{"remove a version", testRemoveVersion},
		{"copy", testCopy},
		{"list", testList},
		{"replaced while read", testReplacedWhileRead},
		{"concurrent creates", testConcurrentCreates},
		{"concurrent overwrites", testConcurrentOverwrites},
		{"concurrent edits", testConcurrentEdits},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, store{t, s, prefix}) })
	}
	st := store{t, s, prefix}
	if infos, ok := st.list(t.Context(), ""); ok {
		require.Empty(t, infos, "artifacts are left behind")
	}
}

// TestReader tests reads of the artifact at location. content is all of its bytes, at
// least 100.
func TestReader(t *testing.T, s storage.Store, location string, content []byte) {
	ctx := t.Context()
	size := int64(len(content))
	r, err := s.Open(ctx, location)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	require.NotEmpty(t, r.Name())

	for _, n := range []int{0, 1, 7, len(content), len(content) + 1, 2 * len(content)} {
		tail, got, err := r.ReadSuffix(ctx, n)
		require.NoError(t, err)
		require.Equal(t, size, got)
		if n > 0 { // for 0, servers may send a byte
			require.True(t, bytes.Equal(content[len(content)-min(n, len(content)):], tail), "the last %d bytes", n)
		}
	}
	got, err := r.Size(ctx)
	require.NoError(t, err)
	require.Equal(t, size, got)

	p := make([]byte, 5)
	for _, off := range []int64{0, 1, size / 2, size - 5} {
		require.NoError(t, r.ReadAt(ctx, p, off))
		require.Equal(t, content[off:off+5], p)
	}
	require.NoError(t, r.ReadAt(ctx, nil, size))
	for _, off := range []int64{-1, size - 4, size, size + 1, 1 << 62, -1 << 63} {
		err := r.ReadAt(ctx, p, off)
		require.ErrorIs(t, err, fault.ErrCorrupt, "at %d", off)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}

	ended := cancelled(ctx)
	require.ErrorIs(t, r.ReadAt(ended, p, 0), context.Canceled)
	_, _, err = r.ReadSuffix(ended, 5)
	require.ErrorIs(t, err, context.Canceled)
}

// Write writes an artifact in pieces.
func Write(ctx context.Context, s storage.Store, location string, content []byte, o storage.CreateOptions) error {
	w, err := s.Create(ctx, location, o)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(content, 100<<10) {
		if err := w.Write(ctx, part); err != nil {
			return errors.Join(err, w.Abort(ctx))
		}
	}
	return w.Publish(ctx)
}

// cancelled returns a context that has ended.
func cancelled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// store is the store under test, with short names for locations.
type store struct {
	t      *testing.T
	s      storage.Store
	prefix string
}

func (s store) location(name string) string { return s.prefix + name }

func (s store) create(name string, o storage.CreateOptions) storage.Writer {
	s.t.Helper()
	w, err := s.s.Create(s.t.Context(), s.location(name), o)
	require.NoError(s.t, err)
	return w
}

// begin returns a writer that has content and is not published.
func (s store) begin(name, content string, o storage.CreateOptions) storage.Writer {
	s.t.Helper()
	w := s.create(name, o)
	require.NoError(s.t, w.Write(s.t.Context(), []byte(content)))
	return w
}

// put creates an artifact. It returns the error of any step, for use in goroutines.
func (s store) put(ctx context.Context, name, content string, o storage.CreateOptions) error {
	return Write(ctx, s.s, s.location(name), []byte(content), o)
}

// temporary creates an artifact, and removes it at the end of the test.
func (s store) temporary(name, content string) {
	s.t.Helper()
	require.NoError(s.t, s.put(s.t.Context(), name, content, storage.CreateOptions{}))
	s.removeLater(name)
}

func (s store) removeLater(name string) {
	s.t.Cleanup(func() {
		require.NoError(s.t, s.s.Remove(context.WithoutCancel(s.t.Context()), s.location(name)))
	})
}

// get reads an artifact whole. The version is empty if the store has none.
func (s store) get(ctx context.Context, name string) (content string, v storage.Version, err error) {
	r, err := s.s.Open(ctx, s.location(name))
	if err != nil {
		return "", "", err
	}
	defer r.Close()
	size, err := r.Size(ctx)
	if err != nil {
		return "", "", err
	}
	b, err := storage.ReadRange(ctx, r, 0, size)
	if err != nil {
		return "", "", err
	}
	v, err = r.Version(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		v, err = "", nil
	}
	return string(b), v, err
}

func (s store) requireContent(name, want string) {
	s.t.Helper()
	got, _, err := s.get(s.t.Context(), name)
	require.NoError(s.t, err)
	require.True(s.t, want == got, "%s has %d bytes, %.20q…, instead of %d, %.20q…", name, len(got), got, len(want), want)
}

func (s store) requireMissing(name string) {
	s.t.Helper()
	_, _, err := s.get(s.t.Context(), name)
	require.ErrorIs(s.t, err, fs.ErrNotExist)
}

// version returns the version of an artifact. It skips the test if the store has none.
func (s store) version(name string) storage.Version {
	s.t.Helper()
	_, v, err := s.get(s.t.Context(), name)
	require.NoError(s.t, err)
	if v == "" {
		s.t.Skip("the store has no versions")
	}
	return v
}

// list returns the artifacts by location. ok is false if the store cannot list.
func (s store) list(ctx context.Context, prefix string) (infos map[string]storage.Info, ok bool) {
	s.t.Helper()
	infos = map[string]storage.Info{}
	for info, err := range s.s.List(ctx, s.location(prefix)) {
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, false
		}
		require.NoError(s.t, err)
		require.NotContains(s.t, infos, info.Location, "listed twice")
		infos[info.Location] = info
	}
	return infos, true
}

func testMissing(t *testing.T, s store) {
	s.requireMissing("missing")
	require.ErrorIs(t, s.s.Remove(t.Context(), s.location("missing")), fs.ErrNotExist)
}

func testPublish(t *testing.T, s store) {
	ctx := t.Context()
	w := s.create("publish", storage.CreateOptions{})
	name := w.Name()
	require.NotEmpty(t, name, "the name is known before the first byte")
	require.Zero(t, w.Size())
	require.NoError(t, w.Write(ctx, []byte("first, ")))
	require.NoError(t, w.Write(ctx, nil))
	require.EqualValues(t, 7, w.Size())
	require.NoError(t, w.Flush(ctx))
	p := []byte("second")
	require.NoError(t, w.Write(ctx, p))
	copy(p, "??????") // Write does not keep p
	require.EqualValues(t, 13, w.Size())
	s.requireMissing("publish")
	require.NoError(t, w.Publish(ctx))
	s.removeLater("publish")
	s.requireContent("publish", "first, second")
	require.Equal(t, name, w.Name())

	require.Error(t, w.Write(ctx, []byte("late")))
	require.Error(t, w.Publish(ctx))
	require.NoError(t, w.Abort(ctx))
	s.requireContent("publish", "first, second")
}

func testSizes(t *testing.T, s store) {
	ctx := t.Context()
	content := make([]byte, 3_000_003)
	for i := range content {
		content[i] = byte(i * i >> 8)
	}
	for _, size := range []int{0, 100, len(content)} {
		for _, step := range []int{max(size, 1), 777_777} {
			name := fmt.Sprintf("sizes-%d-%d", size, step)
			w := s.create(name, storage.CreateOptions{})
			for rest := content[:size]; len(rest) > 0; {
				n := min(step, len(rest))
				require.NoError(t, w.Write(ctx, rest[:n]))
				rest = rest[n:]
			}
			require.NoError(t, w.Publish(ctx))
			s.removeLater(name)
			s.requireContent(name, string(content[:size]))
			if size > 0 {
				TestReader(t, s.s, s.location(name), content[:size])
			}
		}
	}
}

// Writers that can go back replace bytes that they have, wherever these are by then.
func testWriteAt(t *testing.T, s store) {
	ctx := t.Context()
	content := bytes.Repeat([]byte("0123456789"), 50_000)
	begun := s.begin("write-at", string(content), storage.CreateOptions{})
	w, ok := begun.(storage.WriterAt)
	if !ok {
		require.NoError(t, begun.Abort(ctx))
		return // writers of most stores cannot go back
	}
	size := int64(len(content))
	for _, off := range []int64{0, 7, size/2 - 1, size - 3} {
		copy(content[off:], "abc")
		require.NoError(t, w.WriteAt(ctx, []byte("abc"), off))
	}
	require.Equal(t, size, w.Size())
	require.NoError(t, w.WriteAt(ctx, nil, size))
	require.NoError(t, w.Write(ctx, []byte("more")))
	require.NoError(t, w.Publish(ctx))
	s.removeLater("write-at")
	s.requireContent("write-at", string(content)+"more")
	require.Error(t, w.WriteAt(ctx, []byte("d"), 0))

	for _, off := range []int64{-1, 5, 1 << 62} {
		w := s.begin("write-past", "0123456", storage.CreateOptions{}).(storage.WriterAt)
		require.ErrorIs(t, w.WriteAt(ctx, []byte("abc"), off), fault.ErrCorrupt)
		require.Error(t, w.Publish(ctx))
		require.NoError(t, w.Abort(ctx))
	}
	w = s.begin("write-past", "0123456", storage.CreateOptions{}).(storage.WriterAt)
	require.ErrorIs(t, w.WriteAt(cancelled(ctx), []byte("abc"), 0), context.Canceled)
	require.NoError(t, w.Abort(ctx))
}

func testTaken(t *testing.T, s store) {
	ctx := t.Context()
	first := s.begin("taken", "first", storage.CreateOptions{})
	second := s.begin("taken", "second", storage.CreateOptions{})
	require.NoError(t, second.Publish(ctx))
	s.removeLater("taken")
	require.ErrorIs(t, first.Publish(ctx), fs.ErrExist)
	require.NoError(t, first.Abort(ctx))
	require.ErrorIs(t, s.put(ctx, "taken", "third", storage.CreateOptions{}), fs.ErrExist)
	s.requireContent("taken", "second")
}

func testOverwrite(t *testing.T, s store) {
	ctx := t.Context()
	overwrite := storage.CreateOptions{Overwrite: true}
	require.NoError(t, s.put(ctx, "overwrite", "first", overwrite), "of nothing")
	s.removeLater("overwrite")
	require.NoError(t, s.put(ctx, "overwrite", "2", overwrite))
	s.requireContent("overwrite", "2")
	w := s.begin("overwrite", "dropped", overwrite)
	s.requireContent("overwrite", "2")
	require.NoError(t, w.Abort(ctx))
	s.requireContent("overwrite", "2")
}

// requireIfMatch skips the test if the store cannot replace conditionally.
func (s store) requireIfMatch(name string, v storage.Version) {
	w, err := s.s.Create(s.t.Context(), s.location(name), storage.CreateOptions{IfMatch: v})
	if err == nil {
		err = w.Abort(s.t.Context())
	}
	if errors.Is(err, errors.ErrUnsupported) {
		s.t.Skip(err)
	}
	require.NoError(s.t, err)
}

func testIfMatch(t *testing.T, s store) {
	ctx := t.Context()
	s.temporary("if-match", "first")
	one := s.version("if-match")
	s.requireIfMatch("if-match", one)
	a := s.begin("if-match", "edit a", storage.CreateOptions{IfMatch: one})
	b := s.begin("if-match", "edit b", storage.CreateOptions{IfMatch: one, Overwrite: true})
	require.NoError(t, a.Publish(ctx))
	require.ErrorIs(t, b.Publish(ctx), storage.ErrChanged, "Overwrite is ignored")
	require.NoError(t, b.Abort(ctx))
	s.requireContent("if-match", "edit a")

	require.ErrorIs(t, s.put(ctx, "if-match", "late", storage.CreateOptions{IfMatch: one}), storage.ErrChanged)
	two := s.version("if-match")
	require.NoError(t, s.put(ctx, "if-match", "edit c", storage.CreateOptions{IfMatch: two}))
	s.requireContent("if-match", "edit c")

	// A removed artifact has changed, too.
	s.temporary("if-match-removed", "first")
	v := s.version("if-match-removed")
	w := s.begin("if-match-removed", "edit", storage.CreateOptions{IfMatch: v})
	require.NoError(t, s.s.Remove(ctx, s.location("if-match-removed")))
	require.ErrorIs(t, w.Publish(ctx), storage.ErrChanged)
	require.ErrorIs(t, s.put(ctx, "if-match-removed", "edit", storage.CreateOptions{IfMatch: v}), storage.ErrChanged)
	s.requireMissing("if-match-removed")
	require.NoError(t, s.put(ctx, "if-match-removed", "for the cleanup", storage.CreateOptions{}))
}

func testVersion(t *testing.T, s store) {
	ctx := t.Context()
	s.temporary("version", "state 0")
	seen := map[storage.Version]bool{}
	for i := range 10 {
		v := s.version("version")
		require.False(t, seen[v], "version %s comes twice", v)
		seen[v] = true
		require.Equal(t, v, s.version("version"))
		if infos, ok := s.list(ctx, "version"); ok {
			for _, info := range infos {
				require.Contains(t, []storage.Version{"", v}, info.Version)
			}
		}
		require.NoError(t, s.put(ctx, "version", fmt.Sprint("state ", i+1), storage.CreateOptions{Overwrite: true}))
	}

	// The version is that of the bytes that a reader returns.
	r, err := s.s.Open(ctx, s.location("version"))
	require.NoError(t, err)
	defer r.Close()
	v, err := r.Version(ctx)
	require.NoError(t, err)
	require.NoError(t, s.put(ctx, "version", "the last", storage.CreateOptions{Overwrite: true}))
	again, err := r.Version(ctx)
	require.NoError(t, err)
	require.Equal(t, v, again)
	require.NotEqual(t, v, s.version("version"))
}

func testAbort(t *testing.T, s store) {
	ctx := t.Context()
	for _, ctx := range []context.Context{ctx, cancelled(ctx), context.WithoutCancel(cancelled(ctx))} {
		w := s.begin("abort", "dropped", storage.CreateOptions{})
		_ = w.Abort(ctx) // a server may not learn of it
		require.NoError(t, w.Abort(t.Context()))
		require.Error(t, w.Write(t.Context(), []byte("late")))
		require.Error(t, w.Publish(t.Context()))
		s.requireMissing("abort")
	}
}

func testCancel(t *testing.T, s store) {
	ctx := t.Context()
	ended := cancelled(ctx)
	for name, call := range map[string]func(storage.Writer) error{
		"write":   func(w storage.Writer) error { return w.Write(ended, []byte("more")) },
		"publish": func(w storage.Writer) error { return w.Publish(ended) },
	} {
		w := s.begin("cancel", "some", storage.CreateOptions{})
		require.ErrorIs(t, call(w), context.Canceled, name)
		require.Error(t, w.Publish(ctx), "after a cancelled %s", name)
		require.NoError(t, w.Abort(ctx))
		s.requireMissing("cancel")
	}
	_, err := s.s.Create(ended, s.location("cancel"), storage.CreateOptions{})
	require.ErrorIs(t, err, context.Canceled)

	s.temporary("cancel", "content")
	_, _, err = s.get(ended, "cancel")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.s.Remove(ended, s.location("cancel")), context.Canceled)
	if _, ok := s.list(ctx, "cancel"); ok {
		n := 0
		for _, err := range s.s.List(ended, s.location("cancel")) {
			require.ErrorIs(t, err, context.Canceled)
			n++
		}
		require.Equal(t, 1, n)
	}
	s.requireContent("cancel", "content")
}

func testRemove(t *testing.T, s store) {
	ctx := t.Context()
	require.NoError(t, s.put(ctx, "remove", "first", storage.CreateOptions{}))
	require.NoError(t, s.s.Remove(ctx, s.location("remove")))
	s.requireMissing("remove")
	require.ErrorIs(t, s.s.Remove(ctx, s.location("remove")), fs.ErrNotExist)
	s.temporary("remove", "second")
	s.requireContent("remove", "second")
}

// testRemoveVersion removes an artifact only if it is the version that was read.
func testRemoveVersion(t *testing.T, s store) {
	if _, ok := s.s.(storage.VersionRemover); !ok {
		t.Skip("the store removes any version")
	}
	ctx := t.Context()
	version := func(content string) storage.Version {
		require.NoError(t, s.put(ctx, "remove", content, storage.CreateOptions{Overwrite: true}))
		r, err := s.s.Open(ctx, s.location("remove"))
		require.NoError(t, err)
		v, err := r.Version(ctx)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		return v
	}
	first, second := version("first"), version("second")
	require.ErrorIs(t, storage.RemoveVersion(ctx, s.s, s.location("remove"), first), storage.ErrChanged)
	s.requireContent("remove", "second")
	require.NoError(t, storage.RemoveVersion(ctx, s.s, s.location("remove"), second))
	s.requireMissing("remove")
	require.ErrorIs(t, storage.RemoveVersion(ctx, s.s, s.location("remove"), second), fs.ErrNotExist)
}

func testList(t *testing.T, s store) {
	ctx := t.Context()
	s.temporary("list-a", "1")
	s.temporary("list-b", "22")
	s.temporary("other", "333")
	hidden := s.begin("list-c", "not published", storage.CreateOptions{})
	defer hidden.Abort(ctx)
	infos, ok := s.list(ctx, "list-")
	if !ok {
		t.Skip("the store cannot list")
	}
	require.Len(t, infos, 2)
	sizes := map[int64]bool{}
	for location, info := range infos {
		sizes[info.Size] = true
		r, err := s.s.Open(ctx, location)
		require.NoError(t, err)
		size, err := r.Size(ctx)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Equal(t, size, info.Size)
	}
	require.Equal(t, map[int64]bool{1: true, 2: true}, sizes)
	for _, none := range []string{"none", "list-a/", "no/such/folder/"} {
		infos, _ := s.list(ctx, none)
		require.Empty(t, infos, none)
	}
	for range s.s.List(ctx, s.location("list-")) {
		break // ends the iteration
	}
}
