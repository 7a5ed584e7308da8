package shard

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// TestWide opens shards of 1,000 and of 6,000 columns and reads one column. Both take the same number of
// allocations, so that unused columns cost nothing.
func TestWide(t *testing.T) {
	ctx := context.Background()
	read := map[string]func(s *Shard) error{
		"scan": func(s *Shard) (err error) {
			for _, err = range s.Scan(ctx, ScanOptions{Columns: []string{"c777"}, Parallelism: 1}) {
			}
			return err
		},
		"filter": func(s *Shard) (err error) {
			o := ScanOptions{Columns: []string{"c5"}, Filter: filter.IsNull(filter.Col("c777")), Parallelism: 1}
			for _, err = range s.Scan(ctx, o) {
			}
			return err
		},
		"take": func(s *Shard) error {
			b, err := s.Take(ctx, []int64{3, 1}, TakeOptions{Columns: []string{"c777"}, Parallelism: 1})
			if err == nil {
				b.Release()
			}
			return err
		},
	}
	allocations := map[string]float64{}
	for _, columns := range []int{1000, 6000} {
		types := make([]arrow.DataType, columns)
		for i := range types {
			types[i] = arrow.PrimitiveTypes.Int32
		}
		location := filepath.Join(t.TempDir(), "s")
		writeTable(t, location, randomTable(arrowgen.New(1), types, 5), WriterOptions{}, 5)
		for name, f := range read {
			n := testing.AllocsPerRun(5, func() {
				s, err := Open(ctx, location, OpenOptions{})
				require.NoError(t, err)
				require.NoError(t, f(s))
				require.NoError(t, s.Close())
			})
			if columns > 1000 {
				require.LessOrEqual(t, n, allocations[name]+60, "%s: %v allocations for 1,000 columns", name, allocations[name])
			}
			t.Logf("%s of %d columns: %v allocations", name, columns, n)
			allocations[name] = n
		}
	}
}
