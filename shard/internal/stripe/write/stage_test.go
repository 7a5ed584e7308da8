package write

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
	"github.com/amudai/amudai-go/storage"
)

// A writer of many columns holds little more than what they may stage together, however
// many rows come.
func TestWideWritersStageLittle(t *testing.T) {
	const columns, batch, rows = 400, 4000, 60_000
	r := rand.New(rand.NewPCG(1, 2))
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for range batch {
		b.Append(r.Int64())
	}
	arr := b.NewArray()
	fields, arrays := make([]arrow.Field, columns), make([]arrow.Array, columns)
	for i := range fields {
		fields[i], arrays[i] = arrow.Field{Name: "c", Type: arr.DataType()}, arr
	}
	_, cols, err := arrowmap.FromArrow(arrow.NewSchema(fields, nil), arrowmap.Options{})
	require.NoError(t, err)
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	w, err := NewWriter(cols, Options{Budget: storage.NewBudget(1 << 20), TempDir: t.TempDir()})
	require.NoError(t, err)
	defer w.Close()
	for row := 0; row < rows; row += batch {
		require.NoError(t, w.Write(context.Background(), arrays, batch))
		require.Less(t, live()-before, int64(buffers.StagedTogether+32<<20), "bytes after %d of %d rows", row+batch, rows)
	}
}

// The stage of a column is as large as its values as long as these may be all, then at most twice as large, and that of a
// whole segment only in a column that has had one.
func TestStageGrows(t *testing.T) {
	c := &buffers.Context{Stage: buffers.StageSize{Values: 4096}, Features: &buffers.FeatureLog{}, Budget: storage.NewBudget(1 << 20), TempDir: t.TempDir()}
	p := buffers.NewNumberBlocks[int32](c, buffers.NodePart{}, c.Encoding)
	size := func(n int) int {
		p.Grow(c, n)
		return cap(p.Values)
	}
	require.Equal(t, 100, size(100))
	for n := 200; n <= 4096; n += 100 {
		require.Less(t, size(100), 2*n)
	}
	require.Len(t, p.Values, 4000)
	require.Equal(t, 4096, size(96))
	clear(p.Values)
	require.NoError(t, p.Flush(c, nil, false))
	require.Equal(t, 128, size(100))
	require.Equal(t, 4096, size(100))
	p.Release(c)
	require.Nil(t, p.Values)
}

// Stages that are given back fit into any column that asks for as much memory, and others are not kept.
func TestStagesOfAllSizes(t *testing.T) {
	for n := 1; n <= buffers.MostStaged; n = n*3/2 + 1 {
		narrow, wide := buffers.GetStage[uint8](n), buffers.GetStage[int64](n)
		require.Empty(t, narrow)
		require.GreaterOrEqual(t, cap(narrow), n)
		require.Less(t, cap(narrow), max(2*n, 9))
		require.GreaterOrEqual(t, cap(wide), n)
		require.Less(t, cap(wide), 2*n)
		buffers.PutStage(narrow)
		buffers.PutStage(wide)
	}
	buffers.PutStage([]uint8(nil))
	buffers.PutStage(make([]uint8, 1000)) // of no size that a stage has
	require.Equal(t, 1024, cap(buffers.GetStage[uint8](1000)))
}
