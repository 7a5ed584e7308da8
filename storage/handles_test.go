package storage_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
)

// openFiles is the number of open files of this process, or 0 if the system does not tell.
func openFiles() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}

// TestManyFiles opens more files than a process may have open at a time.
func TestManyFiles(t *testing.T) {
	const n = 300
	dir := t.TempDir()
	t.Chdir(dir)
	before := openFiles()
	readers := make([]storage.Reader, n)
	for i := range readers {
		name := fmt.Sprint("f", i)
		require.NoError(t, os.WriteFile(name, fmt.Appendf(nil, "%04d", i), 0o600))
		var err error
		readers[i], err = storage.Local{}.Open(t.Context(), name)
		require.NoError(t, err)
		defer func() { require.NoError(t, readers[i].Close()) }()
	}
	require.LessOrEqual(t, openFiles()-before, 70)
	t.Chdir(t.TempDir()) // relative paths stay those of the first folder
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			p := make([]byte, 4)
			for i, r := range readers {
				if err := r.ReadAt(t.Context(), p, 0); err != nil || string(p) != fmt.Sprintf("%04d", i) {
					t.Errorf("file %d: %s, %v", i, p, err)
				}
			}
		})
	}
	g.Wait()
	require.LessOrEqual(t, openFiles()-before, 80)

	// The first files are closed now.
	p := make([]byte, 4)
	later := time.Now().Add(time.Second)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new"), []byte("0000"), 0o600))
	require.NoError(t, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "f0")))
	require.ErrorIs(t, readers[0].ReadAt(t.Context(), p, 0), storage.ErrChanged)
	require.NoError(t, os.Remove(filepath.Join(dir, "f1")))
	err := readers[1].ReadAt(t.Context(), p, 0)
	require.ErrorIs(t, err, storage.ErrChanged)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "f2"), later, later))
	require.ErrorIs(t, readers[2].ReadAt(t.Context(), p, 0), storage.ErrChanged)
	require.NoError(t, readers[3].ReadAt(t.Context(), p, 0))
	require.Equal(t, "0003", string(p))
}
