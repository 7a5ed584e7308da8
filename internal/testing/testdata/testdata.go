// Package testdata finds the data that tests share: shards made by the
// reference with their expected contents, real tables, hostile files.
//
// The folder is not part of the repository. AMUDAI_SHARED names it; the default is ../shared,
// next to the repository. Without it, tests that compare with the reference use a selection of
// its shards in testdata/golden.
package testdata

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Shared is the folder of shared test data. Without it the test is skipped with a message. If CI is set it fails
// instead, because a skipped golden test must not look like a passed one there.
func Shared(t testing.TB) string {
	t.Helper()
	dir, ok := shared(t)
	switch {
	case ok:
	case os.Getenv("CI") != "":
		t.Fatalf("shared test data not found at %s: set AMUDAI_SHARED", dir)
	default:
		t.Skipf("SKIPPED, NOTHING WAS COMPARED: shared test data not found at %s (set AMUDAI_SHARED)", dir)
	}
	return dir
}

func shared(t testing.TB) (dir string, ok bool) {
	t.Helper()
	dir = os.Getenv("AMUDAI_SHARED")
	if dir == "" {
		dir = filepath.Join(filepath.Dir(root(t)), "shared")
	}
	_, err := os.Stat(filepath.Join(dir, "golden"))
	return dir, err == nil
}

// Goldens is the folder of the reference's shards: golden/amudai in the shared folder or, without that folder, the
// selection in the repository.
func Goldens(t testing.TB) string {
	t.Helper()
	if dir, ok := shared(t); ok {
		return filepath.Join(dir, "golden", "amudai")
	}
	notice.Do(func() {
		t.Log("ONLY THE GOLDENS IN testdata/golden ARE COMPARED, not the whole set (set AMUDAI_SHARED)")
	})
	return Selection(t)
}

var notice sync.Once

// Selection is the folder of the goldens in the repository.
func Selection(t testing.TB) string {
	t.Helper()
	return filepath.Join(root(t), "testdata", "golden")
}

// AllGoldens reports whether Goldens is the whole set, for tests that check its size.
func AllGoldens(t testing.TB) bool {
	t.Helper()
	_, ok := shared(t)
	return ok
}

// ReadGolden returns the content of a golden, decompressed if it is stored as name.gz or if name itself ends in
// .gz.
func ReadGolden(t testing.TB, name string) []byte {
	t.Helper()
	path := filepath.Join(Goldens(t), filepath.FromSlash(name))
	raw, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		raw, err = os.ReadFile(path + ".gz")
		path += ".gz"
	}
	if err != nil {
		t.Fatalf("golden %s: %v", name, err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return raw
	}
	return Gunzip(t, raw)
}

// UnpackGolden returns the path of a golden as a plain file: the file itself, or a temporary copy if it is stored
// compressed.
func UnpackGolden(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Goldens(t), filepath.FromSlash(name))
	if _, err := os.Stat(path); err == nil && !strings.HasSuffix(path, ".gz") {
		return path
	}
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(path), ".gz"))
	if err := os.WriteFile(out, ReadGolden(t, name), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// Gunzip unpacks gzip-compressed bytes.
func Gunzip(t testing.TB, packed []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// root is the folder of go.mod, at or above the folder of the test.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = up
	}
}
