package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/serve"
	"github.com/amudai/amudai-go/table"
	_ "github.com/amudai/amudai-go/table/formats"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// spanFiles writes files with one span each, a minute apart.
func spanFiles(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "wal"), 0o777))
	for i := range n {
		at := noon.Add(time.Duration(i) * time.Minute)
		w, err := blockpack.Create(t.Context(), serve.FilePath(dir, at), blockpack.WriterOptions{})
		require.NoError(t, err)
		span := &tracev1.Span{TraceId: fmt.Appendf(nil, "%016d", i), SpanId: []byte("12345678"), Name: "pay", StartTimeUnixNano: uint64(at.UnixNano())}
		message, err := proto.Marshal(&tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{span}}}}}})
		require.NoError(t, err)
		require.NoError(t, w.WriteOTLP(t.Context(), message))
		require.NoError(t, w.Close(t.Context()))
	}
	return dir
}

func spansIn(t *testing.T, dir string) (files int, spans int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.blockpack"))
	require.NoError(t, err)
	all, err := table.Open(t.Context(), names...)
	require.NoError(t, err)
	defer all.Close()
	spans, err = all.Count(t.Context(), table.ScanOptions{})
	require.NoError(t, err)
	return len(names), spans
}

func TestTidyMerges(t *testing.T) {
	dir := spanFiles(t, 17)
	o := tidyOptions{fileBytes: 64 << 20, memory: 1 << 20}
	for range 5 {
		require.NoError(t, tidy(t.Context(), dir, o, noon, &sync.Mutex{}))
	}
	files, spans := spansIn(t, dir)
	require.Equal(t, 3, files) // 8 and 8 in two, and one
	require.Equal(t, int64(17), spans)
	o.fileBytes = 1 // all are large enough
	dir = spanFiles(t, 8)
	require.NoError(t, tidy(t.Context(), dir, o, noon, &sync.Mutex{}))
	files, _ = spansIn(t, dir)
	require.Equal(t, 8, files)
}

// watch is a lock that counts the files in a folder when it is taken, and when it is given back.
type watch struct {
	t     *testing.T
	dir   string
	files []int
}

func (w *watch) Lock() {
	list, err := serve.Files(w.dir)
	require.NoError(w.t, err)
	w.files = append(w.files, len(list))
}

func (w *watch) Unlock() { w.Lock() }

// Who holds the lock sees a merged file, or those that it replaces.
func TestTidyAtOnce(t *testing.T) {
	w := &watch{t: t, dir: spanFiles(t, 8)}
	require.NoError(t, tidy(t.Context(), w.dir, tidyOptions{fileBytes: 64 << 20, memory: 1 << 20}, noon, w))
	require.Equal(t, []int{8, 1}, w.files)

	dir := spanFiles(t, 8)
	log := filepath.Join(dir, "wal", strings.Replace(filepath.Base(serve.FilePath("", noon)), ".blockpack", ".log", 1))
	require.NoError(t, os.WriteFile(log, nil, 0o666))
	require.NoError(t, tidy(t.Context(), dir, tidyOptions{fileBytes: 64 << 20, memory: 1 << 20}, noon, w))
	files, _ := spansIn(t, dir)
	require.Equal(t, 8, files, "a file with a log stays")
}

// A process may end at any step of a merge: no span is lost, none is there twice after the next look.
func TestTidyAfterCrash(t *testing.T) {
	o := tidyOptions{fileBytes: 64 << 20, memory: 1 << 20}
	merged := filepath.Base(serve.FilePath("", noon.Add(7*time.Minute+1)))
	note := func(dir string) string {
		list, err := serve.Files(dir)
		require.NoError(t, err)
		lines := []string{merged}
		for _, f := range list[:8] {
			lines = append(lines, filepath.Base(f.Path))
		}
		return strings.Join(lines, "\n") + "\n"
	}
	for name, crash := range map[string]func(dir string){
		"the note is not complete": func(dir string) { require.NoError(t, os.WriteFile(notePath(dir), []byte(note(dir)[:40]), 0o666)) },
		"a merged file is not complete": func(dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "wal", ".merged.blockpack.0123456789abcdef.tmp"), nil, 0o666))
		},
		"a merged file has no note": func(dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "wal", "merged.blockpack"), nil, 0o666))
		},
		"nothing is merged":            func(dir string) { require.NoError(t, os.WriteFile(notePath(dir), []byte(note(dir)), 0o666)) },
		"no file is removed":           func(dir string) { crashAfterMerge(t, dir, note(dir), 0, o) },
		"some files are removed":       func(dir string) { crashAfterMerge(t, dir, note(dir), 5, o) },
		"only the note is not removed": func(dir string) { crashAfterMerge(t, dir, note(dir), 8, o) },
	} {
		dir := spanFiles(t, 9)
		crash(dir)
		require.NoError(t, tidy(t.Context(), dir, o, noon, &sync.Mutex{}), name)
		files, spans := spansIn(t, dir)
		require.Equal(t, 2, files, name)
		require.Equal(t, int64(9), spans, name)
		left, err := os.ReadDir(filepath.Join(dir, "wal"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
	dir := spanFiles(t, 1)
	require.NoError(t, os.WriteFile(notePath(dir), []byte(filepath.Base(serve.FilePath("", noon))+"\n../x.blockpack\n"), 0o666))
	require.ErrorContains(t, tidy(t.Context(), dir, o, noon, &sync.Mutex{}), "no file of the folder")
}

// crashAfterMerge is a folder in which a process ended after it had merged eight files and removed some.
func crashAfterMerge(t *testing.T, dir, note string, removed int, o tidyOptions) {
	t.Helper()
	list, err := serve.Files(dir)
	require.NoError(t, err)
	copies := t.TempDir()
	for _, f := range list[removed:8] {
		content, err := os.ReadFile(f.Path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(copies, filepath.Base(f.Path)), content, 0o666))
	}
	require.NoError(t, mergeFiles(t.Context(), dir, list[:8], o, &sync.Mutex{}))
	for _, f := range list[removed:8] {
		require.NoError(t, os.Rename(filepath.Join(copies, filepath.Base(f.Path)), f.Path))
	}
	require.NoError(t, os.WriteFile(notePath(dir), []byte(note), 0o666))
}

func TestTidyRemoves(t *testing.T) {
	dir := spanFiles(t, 5)
	o := tidyOptions{fileBytes: 64 << 20, memory: 1 << 20, age: 10 * time.Minute}
	require.NoError(t, tidy(t.Context(), dir, o, noon.Add(12*time.Minute+1), &sync.Mutex{}))
	files, _ := spansIn(t, dir)
	require.Equal(t, 2, files)
	list, err := serve.Files(dir)
	require.NoError(t, err)
	require.Equal(t, noon.Add(3*time.Minute), list[0].Named)
	o = tidyOptions{fileBytes: 64 << 20, memory: 1 << 20, bytes: list[1].Size}
	require.NoError(t, tidy(t.Context(), dir, o, noon, &sync.Mutex{}))
	files, _ = spansIn(t, dir)
	require.Equal(t, 1, files)
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		host  string
		hosts []string
		local bool
		want  bool
	}{
		{"localhost:3200", nil, true, true}, {"127.0.0.1:3200", nil, true, true}, {"[::1]:3200", nil, true, true}, {"LOCALHOST", nil, true, true},
		{"evil.example:3200", nil, true, false}, {"10.0.0.1", nil, true, false}, {"", nil, true, false},
		{"tempo.example", []string{"tempo.example"}, true, true},
		{"tempo.example:3200", nil, false, true}, {"other.example", []string{"tempo.example"}, false, false}, {"10.0.0.1", []string{"tempo.example"}, false, true},
	} {
		s := &server{o: options{hosts: c.hosts}}
		require.Equal(t, c.want, s.allowsHost(c.host, c.local), "%+v", c)
	}
}
