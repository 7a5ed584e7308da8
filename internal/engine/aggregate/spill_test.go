package aggregate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// manyGroups calls f with batches of rows of different keys, each key twice, far from each other.
func manyGroups(groups int, f func(arrow.RecordBatch) error) error {
	s := arrow.NewSchema([]arrow.Field{{Name: "k", Type: int64Type}, {Name: "v", Type: int64Type}}, nil)
	const rows = 10_000
	for from := 0; from < 2*groups; from += rows {
		k, v := array.NewInt64Builder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
		for i := from; i < min(from+rows, 2*groups); i++ {
			k.Append(int64(i%groups) * 1_000_003)
			v.Append(int64(i))
		}
		n := int64(k.Len())
		if err := f(array.NewRecordBatch(s, []arrow.Array{k.NewArray(), v.NewArray()}, n)); err != nil {
			return err
		}
	}
	return nil
}

// TestPeakMemory aggregates many groups in little memory.
func TestPeakMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as most programs
	groups := sweep.Count(60_000, 10_000_000)
	limit := int64(groups) * 16
	s := arrow.NewSchema([]arrow.Field{{Name: "k", Type: int64Type}, {Name: "v", Type: int64Type}}, nil)
	dir := t.TempDir()
	a, err := New(bindQuery(t, "k", "count(), sum(v), count(distinct v), max(v)", s), Options{Memory: limit, TempDir: dir})
	require.NoError(t, err)
	defer a.Close()
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	look := func() {
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
	}
	require.NoError(t, manyGroups(groups, func(b arrow.RecordBatch) error { look(); return a.Add(t.Context(), b) }))
	require.NotNil(t, a.spill)
	found := 0
	require.NoError(t, a.Finish(t.Context(), nil, func(b arrow.RecordBatch) error {
		look()
		for row := range int(b.NumRows()) {
			k, sum := b.Column(0).(*array.Int64).Value(row)/1_000_003, b.Column(2).(*array.Decimal128).Value(row)
			require.EqualValues(t, 2, b.Column(1).(*array.Int64).Value(row))
			require.EqualValues(t, 2*k+int64(groups), sum.LowBits())
			require.EqualValues(t, 2, b.Column(3).(*array.Int64).Value(row))
			require.Equal(t, k+int64(groups), b.Column(4).(*array.Int64).Value(row))
		}
		found += int(b.NumRows())
		return nil
	}))
	require.Equal(t, groups, found)
	require.Less(t, peak, uint64(3*limit/2)+32<<20, "bytes of heap")
}

// Partitions make room for their own groups, not for those of the whole table.
func TestRoomOfPartitions(t *testing.T) {
	const groups = 60_000
	s := arrow.NewSchema([]arrow.Field{{Name: "k", Type: int64Type}, {Name: "v", Type: int64Type}}, nil)
	allocated := func(rows int64) uint64 {
		a, err := New(bindQuery(t, "k", "count(), sum(v), min(v), max(v)", s), Options{Memory: 2 << 20, Rows: rows, TempDir: t.TempDir()})
		require.NoError(t, err)
		defer a.Close()
		require.NoError(t, manyGroups(groups, func(b arrow.RecordBatch) error { return a.Add(t.Context(), b) }))
		require.NotNil(t, a.spill)
		before := leaktest.Allocated()
		require.NoError(t, a.Finish(t.Context(), nil, func(arrow.RecordBatch) error { return nil }))
		return leaktest.Allocated() - before
	}
	unknown, known := allocated(0), allocated(2*groups)
	require.Less(t, known, unknown*3/2, "bytes, and %d if the number of rows is not known", unknown)
}

// TestSpillFails stops where temporary files cannot be made, or the work is cancelled, and leaves none.
func TestSpillFails(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "k", Type: int64Type}, {Name: "v", Type: int64Type}}, nil)
	q := bindQuery(t, "k", "count()", s)
	a, err := New(q, Options{Memory: 1 << 16, TempDir: filepath.Join(t.TempDir(), "missing")})
	require.NoError(t, err)
	err = manyGroups(100_000, func(b arrow.RecordBatch) error { return a.Add(t.Context(), b) })
	require.ErrorIs(t, err, os.ErrNotExist)
	a.Close()

	dir := t.TempDir()
	a, err = New(q, Options{Memory: 1 << 16, TempDir: dir})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, manyGroups(100_000, func(b arrow.RecordBatch) error { return a.Add(ctx, b) }))
	cancel()
	require.ErrorIs(t, a.Finish(ctx, nil, func(arrow.RecordBatch) error { return nil }), context.Canceled)
	a.Close()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)

	stop := errors.New("stop")
	a, err = New(q, Options{Memory: 1 << 16, TempDir: dir})
	require.NoError(t, err)
	require.NoError(t, manyGroups(100_000, func(b arrow.RecordBatch) error { return a.Add(t.Context(), b) }))
	require.ErrorIs(t, a.Finish(t.Context(), nil, func(arrow.RecordBatch) error { return stop }), stop)
	a.Close()
}

// TestLimits refuses what cannot be bounded: all values for a median, and sums that overflow.
func TestLimits(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "k", Type: int64Type}, {Name: "v", Type: int64Type}}, nil)
	a, err := New(bindQuery(t, "", "median(v)", s), Options{Memory: 1 << 16})
	require.NoError(t, err)
	defer a.Close()
	err = manyGroups(100_000, func(b arrow.RecordBatch) error { return a.Add(t.Context(), b) })
	require.ErrorIs(t, err, fault.ErrLimit)
	require.ErrorContains(t, err, "median(v)")

	dt := &arrow.Decimal128Type{Precision: 38}
	d := array.NewDecimal128Builder(memory.DefaultAllocator, dt)
	for range 20 {
		require.NoError(t, d.AppendValueFromString("99999999999999999999999999999999999999"))
	}
	ds := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt}}, nil)
	column := d.NewArray()
	for _, rows := range []int64{2, 20} {
		over, err := New(bindQuery(t, "", "sum(d)", ds), Options{})
		require.NoError(t, err)
		err = over.Add(t.Context(), array.NewRecordBatch(ds, []arrow.Array{array.NewSlice(column, 0, rows)}, rows))
		if err == nil {
			err = over.Finish(t.Context(), nil, func(arrow.RecordBatch) error { return nil })
		}
		require.ErrorIs(t, err, fault.ErrLimit, fmt.Sprint(rows))
		over.Close()
	}
}
