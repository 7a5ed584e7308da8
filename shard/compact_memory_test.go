package shard

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A sort of far more rows than there is memory for keeps to its budget.
func TestMemoryOfCompaction(t *testing.T) {
	const rows, budget = 1 << 20, 24 << 20
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, flightsLike(rows), WriterOptions{StripeRows: rows / 4}, rows/4)
	before, most := heapInUse(), int64(0)
	calls := 0
	_, err := Compact(t.Context(), location, CompactOptions{Sort: "-delay", EditOptions: EditOptions{MemoryBytes: budget, Parallelism: 1, Progress: func(done, _ int64) {
		if calls++; calls%8 == 0 {
			most = max(most, heapInUse()-before)
		}
	}}})
	require.NoError(t, err)
	require.Positive(t, most)
	t.Logf("%d KiB in use", most>>10)
	require.Less(t, most, int64(budget))
}
