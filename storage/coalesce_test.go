package storage_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// For any ranges and options, Prefetched has the bytes of every range.
func TestPrefetch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := make([][]byte, 2)
		readers := make([]storage.Reader, len(data))
		for i := range readers {
			data[i] = bytes.Repeat([]byte{byte(i), 1, 2, 3, 5, 7, 11}, 10_000)
			readers[i] = storage.FromBytes("x", data[i])
		}
		type place struct{ reader, offset, size int }
		var places []place
		var ranges []storage.ByteRange
		for range rapid.IntRange(0, 20).Draw(t, "ranges") {
			p := place{rapid.IntRange(0, 1).Draw(t, "reader"), rapid.IntRange(0, 69_000).Draw(t, "offset"), rapid.IntRange(1, 1000).Draw(t, "size")}
			places = append(places, p)
			ranges = append(ranges, storage.ByteRange{Reader: readers[p.reader], Offset: int64(p.offset), Size: int64(p.size)})
		}
		o := storage.CoalesceOptions{
			Gap: rapid.Int64Range(-1, 20_000).Draw(t, "gap"), Limit: rapid.Int64Range(0, 70_000).Draw(t, "limit"),
			Requests: rapid.IntRange(0, 3).Draw(t, "requests"),
		}
		read, err := storage.Prefetch(context.Background(), ranges, o)
		require.NoError(t, err)
		for _, p := range places {
			b := read.Bytes(readers[p.reader], int64(p.offset), int64(p.size))
			require.Equal(t, data[p.reader][p.offset:p.offset+p.size], b)
		}
		require.Empty(t, read.Missing(ranges))
		other := storage.FromBytes("x", data[0])
		require.Nil(t, read.Bytes(other, 0, 1))
	})
}

func TestCoalesce(t *testing.T) {
	a, b := storage.FromBytes("a", nil), storage.FromBytes("b", nil)
	const gap, limit = 100_000, 1_000_000
	for name, c := range map[string]struct{ ranges, want []storage.ByteRange }{
		"overlapping":         {[]storage.ByteRange{{a, 10, 10}, {a, 15, 2}}, []storage.ByteRange{{a, 10, 10}}},
		"unsorted":            {[]storage.ByteRange{{a, 20, 10}, {a, 10, 10}}, []storage.ByteRange{{a, 10, 20}}},
		"two readers":         {[]storage.ByteRange{{b, 0, 1}, {a, 0, 1}, {b, 1, 1}}, []storage.ByteRange{{b, 0, 2}, {a, 0, 1}}},
		"gap":                 {[]storage.ByteRange{{a, 0, 10}, {a, 10 + gap, 10}}, []storage.ByteRange{{a, 0, 20 + gap}}},
		"larger gap":          {[]storage.ByteRange{{a, 0, 10}, {a, 11 + gap, 10}}, []storage.ByteRange{{a, 0, 10}, {a, 11 + gap, 10}}},
		"limit":               {[]storage.ByteRange{{a, 0, limit}, {a, limit + 10_000, 10}}, []storage.ByteRange{{a, 0, limit}, {a, limit + 10_000, 10}}},
		"limit, next to each": {[]storage.ByteRange{{a, 0, limit}, {a, limit + 10, 10}}, []storage.ByteRange{{a, 0, limit + 20}}},
	} {
		require.Equal(t, c.want, storage.Coalesce(c.ranges, storage.CoalesceOptions{Gap: gap, Limit: limit}), name)
	}
}

// claimed is a reader that claims a size, and has fewer bytes.
type claimed struct {
	storage.Reader
	size, has int64
	asked     atomic.Int64
}

var errEnd = errors.New("no more bytes")

func (r *claimed) Size(context.Context) (int64, error) { return r.size, nil }

func (r *claimed) ReadAt(_ context.Context, p []byte, off int64) error {
	r.asked.Add(int64(len(p)))
	if off+int64(len(p)) > r.has {
		return errEnd
	}
	return nil
}

type panicking struct{ storage.Reader }

func (panicking) ReadAt(context.Context, []byte, int64) error { panic("reader failed") }

// A panic in a goroutine of Prefetch is an error, because no caller could recover it.
func TestPrefetchRecovers(t *testing.T) {
	r := panicking{storage.FromBytes("x", make([]byte, 100))}
	_, err := storage.Prefetch(context.Background(), []storage.ByteRange{{Reader: r, Offset: 0, Size: 1}, {Reader: r, Offset: 50, Size: 1}},
		storage.CoalesceOptions{Gap: -1, Requests: 2})
	require.ErrorContains(t, err, "reader failed")
}

// The claimed size of an artifact costs no memory before its bytes arrive.
func TestReadRangeOfClaimedSize(t *testing.T) {
	ctx := context.Background()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := &claimed{Reader: storage.FromBytes("x", nil), size: math.MaxInt64, has: 40 << 20}
	_, err := storage.ReadRange(ctx, r, 0, math.MaxInt64)
	require.ErrorIs(t, err, errEnd)
	_, err = storage.Prefetch(ctx, []storage.ByteRange{{Reader: r, Offset: 1, Size: 1 << 60}}, storage.DefaultCoalesce(storage.LatencyHigh))
	require.ErrorIs(t, err, errEnd)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(320<<20))

	r.has = r.size
	b, err := storage.ReadRange(ctx, r, 5, 100<<20)
	require.NoError(t, err)
	require.Len(t, b, 100<<20)
	for _, c := range [][2]int64{{-1, 2}, {0, -1}, {math.MaxInt64, 1}} {
		_, err := storage.ReadRange(ctx, r, c[0], c[1])
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
}

// A failed request ends the others, and Prefetch waits for them.
func TestPrefetchFails(t *testing.T) {
	r := &claimed{Reader: storage.FromBytes("x", nil), size: 1 << 40, has: 1 << 20}
	var ranges []storage.ByteRange
	for i := range int64(20) {
		ranges = append(ranges, storage.ByteRange{Reader: r, Offset: i << 18, Size: 1000})
	}
	for _, requests := range []int{0, 1, 8} {
		_, err := storage.Prefetch(context.Background(), ranges, storage.CoalesceOptions{Requests: requests})
		require.ErrorIs(t, err, errEnd)
	}
}
