// Package testdata finds the data that tests share: shards made by the
// reference with their expected contents, real tables, hostile files.
//
// The folder is not part of the repository. It is named by AMUDAI_SHARED, by
// default ../shared next to the repository.
package testdata

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Shared is the folder of shared test data. Without it the test is skipped
// with a message that says so, or fails when CI is set: a skipped golden test
// must not look like a passed one there.
func Shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("AMUDAI_SHARED")
	if dir == "" {
		dir = filepath.Join(filepath.Dir(root(t)), "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "golden")); err != nil {
		missing(t, "shared test data", dir)
	}
	return dir
}

// Golden is the path of a file below golden/amudai in the shared folder, with
// slashes as the manifest writes it. The test fails if there is no such file.
func Golden(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Shared(t), "golden", "amudai", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("golden %s: %v", name, err)
	}
	return path
}

// ReadGolden is the content of a golden, unpacked if it is stored as name.gz
// or if name itself ends in .gz.
func ReadGolden(t testing.TB, name string) []byte {
	t.Helper()
	dir := filepath.Join(Shared(t), "golden", "amudai")
	path := filepath.Join(dir, filepath.FromSlash(name))
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

// UnpackGolden is the path of a golden as a plain file: the file itself, or a
// temporary copy that is removed with the test if it is stored compressed.
func UnpackGolden(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Shared(t), "golden", "amudai", filepath.FromSlash(name))
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

// root is the folder of go.mod, above the folder that the test runs in.
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

func missing(t testing.TB, what, dir string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s not found at %s: set AMUDAI_SHARED", what, dir)
	}
	t.Skipf("SKIPPED, NOTHING WAS COMPARED: %s not found at %s (set AMUDAI_SHARED)", what, dir)
}
