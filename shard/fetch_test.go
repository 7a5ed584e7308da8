package shard

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/faultstore"
)

// TestFetchRequests counts the requests of scans as they are over a network: a
// handful for a few columns, none twice.
func TestFetchRequests(t *testing.T) {
	data := numbered(300_000, 6)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{}, 100_000)
	for _, parallelism := range []int{1, 3} {
		for _, c := range []struct {
			name    string
			columns []string
			most    int
		}{
			{"one", []string{"c0"}, 4},
			{"two", []string{"c0", "c4"}, 6},
			{"all", nil, 60},
		} {
			faults := faultstore.New()
			s, err := Open(context.Background(), location, OpenOptions{Store: faults.Wrap(storage.Local{})})
			require.NoError(t, err)
			opened := faults.Count(faultstore.Read)
			o := ScanOptions{Columns: c.columns, FetchGap: 256 << 10, Parallelism: parallelism}
			rows := int64(0)
			for b, err := range s.Scan(context.Background(), o) {
				require.NoError(t, err)
				rows += b.NumRows()
			}
			require.EqualValues(t, 300_000, rows)
			require.LessOrEqual(t, faults.Count(faultstore.Read)-opened, c.most, "%s columns, %d at a time", c.name, parallelism)
			require.Less(t, faults.BytesRead(), s.File().Size()+s.File().Size()/8, "%s columns", c.name)
			require.NoError(t, s.Close())
		}
	}
}

// TestFetchFilter reads little for a filter that keeps little.
func TestFetchFilter(t *testing.T) {
	data := flightsLike(200_000)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{}, 100_000)
	faults := faultstore.New()
	s, err := Open(context.Background(), location, OpenOptions{Store: faults.Wrap(storage.Local{})})
	require.NoError(t, err)
	defer s.Close()
	requireRows(t, s, data, []int64{70_000, 70_001}, ScanOptions{Filter: where(t, "c0 between 70000 and 70001"), FetchGap: 1})
	require.LessOrEqual(t, faults.Count(faultstore.Read), 16)
	require.Less(t, faults.BytesRead(), s.File().Size()/2)
}
