package term

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
)

// divide makes an index of each of the parts of a table that end at some rows.
func divide(t require.TestingT, data table, o Options, ends []int) (parts []Part) {
	from := 0
	for _, to := range ends {
		part := make(table, len(data))
		for f := range data {
			part[f] = data[f][from:to]
		}
		own := o
		own.Rows = int64(to - from)
		parts = append(parts, Part{open(t, write(t, part, own, 1<<30, 1), to-from), int64(from)})
		from = to
	}
	return parts
}

func join(o Options, memory int64, parts ...Part) ([]byte, error) {
	var out bytes.Buffer
	err := Join(tctx, &out, o, memory, parts...)
	return out.Bytes(), err
}

// Joined indexes are, byte for byte, the index of all rows.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawTable(t)
		rows := len(data[0])
		o := drawOptions(t, data)
		var ends []int
		for range rapid.IntRange(0, 6).Draw(t, "cuts") {
			end := rapid.IntRange(0, rows).Draw(t, "end")
			ends = append(ends, end-end%max(o.Coarse, 1))
		}
		slices.Sort(ends)
		joined, err := join(o, rapid.SampledFrom([]int64{1, 1 << 20}).Draw(t, "memory"), divide(t, data, o, append(ends, rows))...)
		require.NoError(t, err)
		require.True(t, bytes.Equal(write(t, data, o, 1<<30, 1), joined))
	})
}

// Lists of many rows are joined across their parts, of indexes that begin within one.
func TestJoinLongLists(t *testing.T) {
	data := make(table, 1)
	for i := range 150_000 {
		data[0] = append(data[0], fmt.Appendf(nil, "each word%d", i/1000%3))
	}
	o := Options{Rows: 150_000}
	for _, memory := range []int64{1, 1 << 30} {
		joined, err := join(o, memory, divide(t, data, o, []int{30, 5000, 70_000, 70_000, 70_001, 150_000})...)
		require.NoError(t, err)
		require.True(t, bytes.Equal(write(t, data, o, 1<<30, 1), joined))
	}
}

// What does not fit together is an error.
func TestJoinOfOther(t *testing.T) {
	data := table{{[]byte("a"), []byte("b")}}
	x := divide(t, data, Options{}, []int{2})[0].Index
	for _, o := range []Options{{Rows: 2, Coarse: 2}, {Rows: 2, Fields: 2}, {Rows: 2, Collation: CasePreserving}, {Rows: 1}} {
		_, err := join(o, 1, Part{x, 0})
		require.ErrorIs(t, err, fault.ErrUnsupported)
	}
	coarse := divide(t, data, Options{Coarse: 2}, []int{2})[0].Index
	_, err := join(Options{Rows: 8, Coarse: 2}, 1, Part{coarse, 1})
	require.ErrorIs(t, err, fault.ErrUnsupported)
	_, err = join(Options{Rows: 1 << 40, Coarse: 1 << 20}, 1)
	require.ErrorIs(t, err, fault.ErrLimit)
	ctx, cancel := context.WithCancel(tctx)
	cancel()
	require.ErrorIs(t, Join(ctx, new(bytes.Buffer), Options{Rows: 2}, 1, Part{x, 0}), context.Canceled)
}

// joinTable is a table whose index has several blocks, and lists of all lengths.
func joinTable(rows int) table {
	data := make(table, 1)
	for i := range rows {
		data[0] = append(data[0], fmt.Appendf(nil, "common w%d n%d x%d", i%1000, i%20, i%2))
	}
	return data
}

// A damaged part, also one behind the right checksums, is an error, or joined to something that can be read.
func TestJoinDamage(t *testing.T) {
	data := joinTable(3000)
	file := write(t, data, Options{Rows: 3000}, 1<<30, 1)
	sound := open(t, file, 3000)
	try := func(file []byte) ([]byte, error) {
		x, err := Open(tctx, storage.ByteRange{Reader: storage.FromBytes("index", file), Size: int64(len(file))}, 3000)
		if err != nil {
			return nil, err
		}
		return join(Options{Rows: 6000}, 1, Part{sound, 0}, Part{x, 3000})
	}
	want, err := try(file)
	require.NoError(t, err)
	for i := 0; i < 8*len(file); i += 8*len(file)/sweep.Count(80, 8*len(file)) | 1 {
		file[i/8] ^= 1 << (i % 8)
		joined, err := try(file)
		require.True(t, fault.Is(err) || err == nil && bytes.Equal(want, joined), "bit %d: %v", i, err) // grams are not read
		file[i/8] ^= 1 << (i % 8)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range sweep.Count(50, 5_000) {
		damaged := bytes.Clone(file)
		for range 1 + rnd.IntN(3) {
			at := rnd.IntN(len(file))
			if rnd.IntN(2) == 0 { // the directory and the footer
				at = len(file) - 1 - rnd.IntN(200)
			}
			damaged[at] = byte(rnd.Uint32())
		}
		mend(damaged, 3000)
		joined, err := try(damaged)
		if err != nil {
			require.True(t, fault.Is(err), "%v", err)
			continue
		}
		require.NoError(t, readAll(joined, 6000))
	}
}

// Whatever read fails, joining fails.
func TestJoinFaults(t *testing.T) {
	data := joinTable(3000)
	file := write(t, data, Options{Rows: 3000}, 1<<30, 1)
	fs := storage.NewMemory()
	require.NoError(t, fs.Put("mem://part", file))
	faults := faultstore.New()
	var parts []Part
	for i := range 2 {
		r, err := faults.Wrap(fs).Open(tctx, "mem://part")
		require.NoError(t, err)
		x, err := Open(tctx, storage.ByteRange{Reader: r, Size: int64(len(file))}, 3000)
		require.NoError(t, err)
		parts = append(parts, Part{x, int64(i) * 3000})
	}
	want, err := join(Options{Rows: 6000}, 1, parts...)
	require.NoError(t, err)
	for k := 1; ; k++ {
		faults.FailAt(faultstore.Read, k)
		got, err := join(Options{Rows: 6000}, 1, parts...)
		if err == nil {
			require.True(t, bytes.Equal(want, got))
			require.Greater(t, k, 2)
			break
		}
		require.ErrorIs(t, err, faultstore.Err)
	}
}
