package shard

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// peakAllocator counts the bytes in use, and their peak.
type peakAllocator struct {
	memory.Allocator
	mu         sync.Mutex
	used, peak int
}

func (a *peakAllocator) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used += n
	a.peak = max(a.peak, a.used)
}

func (a *peakAllocator) Allocate(n int) []byte {
	a.add(n)
	return a.Allocator.Allocate(n)
}

func (a *peakAllocator) Reallocate(n int, b []byte) []byte {
	a.add(n)
	defer a.add(-len(b))
	return a.Allocator.Reallocate(n, b)
}

func (a *peakAllocator) Free(b []byte) {
	a.add(-len(b))
	a.Allocator.Free(b)
}

// openLongTexts writes a shard, and opens it.
func openLongTexts(t *testing.T, data arrow.RecordBatch) *Shard {
	ctx := context.Background()
	location := filepath.Join(t.TempDir(), "s")
	w, err := Create(ctx, location, data.Schema(), WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, data))
	require.NoError(t, w.Close(ctx))
	s, err := Open(ctx, location, OpenOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// longTexts returns a column of n strings of the given size, and a column of their numbers.
func longTexts(n, size int) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "row", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		var text strings.Builder
		for text.Len() < size {
			text.WriteString("word" + strconv.Itoa(random.IntN(10_000)) + " ")
		}
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(text.String())
	}
	return b.NewRecordBatch()
}

// TestBatchesOfLongTexts limits the memory of a scan of strings of 2 KB with default options.
func TestBatchesOfLongTexts(t *testing.T) {
	const rows, limit = 20_000, 8 << 20 // 40 MB of texts
	s := openLongTexts(t, longTexts(rows, 2000))
	for _, o := range []ScanOptions{
		{Parallelism: 1}, {Parallelism: 2}, {Parallelism: 4}, {Parallelism: 4, AsReady: true},
		{Parallelism: 2, Filter: where(t, "row >= 0")}, {Parallelism: 2, Filter: where(t, "text contains 'word7'")},
		{Parallelism: 2, FetchGap: DefaultFetchGap},
	} {
		mem := &peakAllocator{Allocator: memory.NewGoAllocator()}
		o.Allocator, o.MemoryLimit = mem, limit
		n, batches, most := int64(0), 0, int64(0)
		for b, err := range s.Scan(context.Background(), o) {
			require.NoError(t, err)
			n += b.NumRows()
			most = max(most, b.NumRows())
			batches++
		}
		require.EqualValues(t, rows, n)
		require.LessOrEqual(t, mem.peak, limit*3/2, "%d workers, where %v", o.Parallelism, o.Filter)
		require.LessOrEqual(t, int(most), 1024)
		require.Less(t, batches, rows/500)
		require.Zero(t, mem.used)
	}
}

// TestBatchesOfOrdinaryTables: tables of numbers, and of lines of a log, have batches of the default length. A
// number of rows in the options is not changed.
func TestBatchesOfOrdinaryTables(t *testing.T) {
	long := openLongTexts(t, longTexts(2000, 20_000))
	for name, c := range map[string]struct {
		s    *Shard
		o    ScanOptions
		want int64
	}{
		"lines":      {openLongTexts(t, longTexts(70_000, 150)), ScanOptions{}, DefaultBatchRows},
		"numbers":    {long, ScanOptions{Columns: []string{"row"}}, 2000},
		"asked for":  {long, ScanOptions{BatchRows: 1500}, 1500},
		"few at all": {openLongTexts(t, longTexts(10, 20_000)), ScanOptions{}, 10},
	} {
		for b, err := range c.s.Scan(context.Background(), c.o) {
			require.NoError(t, err)
			require.Equal(t, c.want, b.NumRows(), name)
			break
		}
	}
}
