package shard

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShrinks reads files that are truncated during a scan. The scan fails: the end of a file is not that of the rows.
func TestShrinks(t *testing.T) {
	data := numbered(30_000, 3)
	for _, parallelism := range []int{1, 4} {
		location := filepath.Join(t.TempDir(), "s")
		writeTable(t, location, data, WriterOptions{Layout: SingleFile, StripeRows: 1000}, 1000)
		s, err := Open(t.Context(), location, OpenOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		rows, failed := int64(0), error(nil)
		for b, err := range s.Scan(t.Context(), ScanOptions{Parallelism: parallelism, BatchRows: 1000}) {
			if failed = err; err != nil {
				break
			}
			rows += b.NumRows()
			require.NoError(t, os.Truncate(location, s.Size()/5))
		}
		require.Error(t, failed, "%d rows of %d", rows, data.rows)
		require.Less(t, rows, int64(data.rows))
		_, err = s.analyze(t.Context(), ScanOptions{})
		require.Error(t, err)
		r, err := s.Reader(t.Context(), ScanOptions{Parallelism: parallelism})
		require.NoError(t, err)
		for r.Next() {
		}
		require.Error(t, r.Err())
		r.Release()
	}
}
