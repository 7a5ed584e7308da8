package shard

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMemoryOfStripes limits the memory that a shard keeps for each stripe after a read: some kilobytes for the
// descriptors of four columns, without other bytes of the same request.
func TestMemoryOfStripes(t *testing.T) {
	const stripes, rows = 300, 64
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, flightsLike(stripes*rows), WriterOptions{StripeRows: rows}, rows)
	ctx := context.Background()
	scan := func(o ScanOptions) func(s *Shard) {
		return func(s *Shard) {
			for _, err := range s.Scan(ctx, o) {
				require.NoError(t, err)
			}
		}
	}
	for _, c := range []struct {
		name string
		most int64 // bytes a stripe
		read func(s *Shard)
	}{
		{"scan", 12 << 10, scan(ScanOptions{Parallelism: 1})},
		{"filter", 8 << 10, scan(ScanOptions{Parallelism: 1, Filter: where(t, "delay < 10")})},
		{"take", 17 << 10, func(s *Shard) { // the columns of all stripes stay open, with what was read of dictionaries
			for i := range int64(stripes) {
				b, err := s.Take(ctx, []int64{i * rows}, TakeOptions{Parallelism: 1})
				require.NoError(t, err)
				b.Release()
			}
		}},
	} {
		kept := func() int64 {
			s, err := Open(ctx, location, OpenOptions{})
			require.NoError(t, err)
			defer s.Close()
			require.Equal(t, stripes, s.NumStripes())
			before := heapInUse()
			c.read(s)
			after := heapInUse()
			runtime.KeepAlive(s)
			return (after - before) / stripes
		}
		kept() // one-time allocations
		n := kept()
		t.Logf("%s: %d bytes a stripe", c.name, n)
		require.LessOrEqual(t, n, c.most, c.name)
	}
}

// heapInUse is the size of all reachable memory. Two collections empty pools.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
