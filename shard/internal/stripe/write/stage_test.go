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

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/storage"
)

// Columns share what may be staged; a few have as much as they want.
func TestStageOf(t *testing.T) {
	before := stageSize{mostStaged, mostBytes, bytestring.BriefBytes, dictionary.DefaultBudget}
	for _, n := range []int{0, 1, 16, 64, 128, 129, 300, 1000, 2000, 5000, 8192, 10_000, 50_000, 1 << 20} {
		columns := make([]arrowmap.Column, n)
		s := stageOf(columns)
		require.LessOrEqual(t, s.values, before.values)
		require.LessOrEqual(t, s.bytes, before.bytes)
		require.Zero(t, s.values&(s.values-1))
		require.True(t, 8*n*s.values <= stagedTogether || s.values == leastStaged, "%d columns of %d", n, s.values)
		require.True(t, n*s.bytes <= bytesTogether || s.bytes == leastBytes, "%d columns of %d bytes", n, s.bytes)
		require.True(t, n*s.brief <= bytesTogether || s.brief == leastBytes, "%d columns of %d bytes", n, s.brief)
		require.True(t, n*s.dictionary <= bytesTogether || s.dictionary == leastDictionary, "%d columns of %d bytes", n, s.dictionary)
		if n <= 16 {
			require.Equal(t, stageSize{mostStaged, mostBytes, bytestring.BriefBytes, dictionary.DefaultBudget}, s)
		}
		before = s
	}
	nested := []arrowmap.Column{{Children: make([]arrowmap.Column, 300)}}
	require.Equal(t, stageOf(make([]arrowmap.Column, 301)), stageOf(nested))
}

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
		require.Less(t, live()-before, int64(stagedTogether+32<<20), "bytes after %d of %d rows", row+batch, rows)
	}
}

// The stage of a column is as large as its values as long as these may be all, then at most twice as large, and that of a
// whole segment only in a column that has had one.
func TestStageGrows(t *testing.T) {
	c := &nodeContext{stage: stageSize{values: 4096}, features: &featureLog{}, budget: storage.NewBudget(1 << 20), tempDir: t.TempDir()}
	p := newPrimitiveBlocks[int32](c, nodePart{}, c.encoding)
	size := func(n int) int {
		p.grow(c, n)
		return cap(p.values)
	}
	require.Equal(t, 100, size(100))
	for n := 200; n <= 4096; n += 100 {
		require.Less(t, size(100), 2*n)
	}
	require.Len(t, p.values, 4000)
	require.Equal(t, 4096, size(96))
	clear(p.values)
	require.NoError(t, p.flush(c, &bitStage{n: 4096}, false))
	require.Equal(t, 128, size(100))
	require.Equal(t, 4096, size(100))
	p.release(c)
	require.Nil(t, p.values)
}

// Stages that are given back fit into any column that asks for as much memory, and others are not kept.
func TestStagesOfAllSizes(t *testing.T) {
	for n := 1; n <= mostStaged; n = n*3/2 + 1 {
		narrow, wide := getStage[uint8](n), getStage[int64](n)
		require.Empty(t, narrow)
		require.GreaterOrEqual(t, cap(narrow), n)
		require.Less(t, cap(narrow), max(2*n, 9))
		require.GreaterOrEqual(t, cap(wide), n)
		require.Less(t, cap(wide), 2*n)
		putStage(narrow)
		putStage(wide)
	}
	putStage([]uint8(nil))
	putStage(make([]uint8, 1000)) // of no size that a stage has
	require.Equal(t, 1024, cap(getStage[uint8](1000)))
}
