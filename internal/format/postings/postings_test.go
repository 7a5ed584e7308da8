package postings

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// rows are n of total rows, in runs of up to so many on average.
func draw(t *rapid.T) (rows []uint32, total int) {
	total = rapid.SampledFrom([]int{1, 2, 3, 100, 1000, 1 << 16, MaxRow + 1}).Draw(t, "total")
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	gap, run := rapid.IntRange(0, 30).Draw(t, "gap"), rapid.SampledFrom([]int{1, 1, 3, 100}).Draw(t, "run")
	for at := 0; len(rows) < 5000; {
		at += rnd.IntN(1 << rnd.IntN(gap+1))
		for range 1 + rnd.IntN(run) {
			if at >= total {
				break
			}
			rows = append(rows, uint32(at))
			at++
		}
		if at >= total {
			break
		}
	}
	if len(rows) == 0 {
		rows = []uint32{uint32(rnd.IntN(total))}
	}
	return rows, total
}

func TestLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w Writer
		var lists [][]uint32
		var totals []int
		for range rapid.IntRange(1, 4).Draw(t, "lists") {
			rows, total := draw(t)
			lists, totals = append(lists, rows), append(totals, total)
			w.Append(rows, total)
		}
		w.Align()
		r := NewReader(w.Bytes)
		var got []uint32
		var err error
		for i, want := range lists {
			got, err = r.Append(got[:0], len(want), totals[i])
			require.NoError(t, err)
			require.True(t, slices.Equal(want, got))
		}
		require.Equal(t, len(w.Bytes), (r.at+7)/8)
		marks := NewReader(w.Bytes)
		for i, want := range lists {
			if totals[i] > 1<<20 { // whose bitmap would be large
				_, err = marks.Append(nil, len(want), totals[i])
				require.NoError(t, err)
				continue
			}
			bits := make([]byte, totals[i]/8+1+rapid.IntRange(0, 9).Draw(t, "more"))
			require.NoError(t, marks.Mark(bits, len(want), totals[i]))
			require.Equal(t, marked(len(bits), want), bits)
		}
		require.Equal(t, r.at, marks.at)
		if len(w.Bytes) > 0 {
			short := NewReader(w.Bytes[:len(w.Bytes)-1])
			for i, want := range lists {
				if got, err = short.Append(got[:0], len(want), totals[i]); err != nil {
					break
				}
			}
			require.Error(t, err)
		}
	})
}

// Rows at random take few more bits than their entropy.
func TestSize(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ each, most float64 }{{0.5, 1.05}, {0.1, 0.51}, {0.01, 0.089}, {0.001, 0.0122}} {
		var rows []uint32
		const total = 1 << 20
		for i := range uint32(total) {
			if rnd.Float64() < c.each {
				rows = append(rows, i)
			}
		}
		var w Writer
		w.Append(rows, total)
		w.Align()
		require.Less(t, float64(len(w.Bytes))*8/total, c.most, "%v", c.each)
	}
}

// marked is a bitmap of some rows.
func marked(size int, rows []uint32) []byte {
	bits := make([]byte, size)
	Mark(bits, rows, 0)
	return bits
}

// Packed numbers of any width are those that were packed, and nothing is read behind them.
func TestPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 32).Draw(t, "width")
		x := rapid.SliceOfN(rapid.Uint32Range(0, uint32(1<<width-1)), 0, 150).Draw(t, "numbers")
		rest := rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "rest")
		data := append(AppendPacked(nil, x), rest...)
		got := make([]uint32, len(x))
		behind, err := Packed(got, data)
		require.NoError(t, err)
		require.Equal(t, x, got)
		require.Equal(t, len(rest), len(behind))
		behind, err = SkipPacked(len(x), data)
		require.NoError(t, err)
		require.Equal(t, len(rest), len(behind))
		for n := range len(data) - len(rest) {
			_, err = Packed(got, data[:n])
			require.Error(t, err)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint16(20), uint32(1000))
	f.Fuzz(func(t *testing.T, data []byte, n uint16, total uint32) {
		count, all := int(n)+1, int(total>>1)+1
		r := NewReader(data)
		rows, err := r.Append(nil, count, all)
		if all <= 1<<20 {
			bits := make([]byte, all/8+1)
			m := NewReader(data)
			require.Equal(t, err, m.Mark(bits, count, all))
			if err == nil {
				require.Equal(t, marked(len(bits), rows), bits)
			}
		}
		if err != nil {
			return
		}
		require.Len(t, rows, count)
		for i, row := range rows {
			require.True(t, int(row) < all && (i == 0 || row > rows[i-1]))
		}
		var w Writer
		w.Append(rows, all)
		w.Align()
		again := NewReader(w.Bytes)
		got, err := again.Append(nil, count, all)
		require.NoError(t, err)
		require.True(t, slices.Equal(rows, got))
	})
}

func BenchmarkAppend(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var rows []uint32
	for i := range uint32(1 << 16) {
		if rnd.IntN(10) == 0 {
			rows = append(rows, i)
		}
	}
	var w Writer
	w.Append(rows, 1<<16)
	w.Align()
	b.Run("read", func(b *testing.B) {
		var dst []uint32
		for b.Loop() {
			r := NewReader(w.Bytes)
			dst, _ = r.Append(dst[:0], len(rows), 1<<16)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/row")
	})
	b.Run("mark", func(b *testing.B) {
		bits := make([]byte, 1<<13)
		for b.Loop() {
			r := NewReader(w.Bytes)
			_ = r.Mark(bits, len(rows), 1<<16)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/row")
	})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			w.Bytes = w.Bytes[:0]
			w.Append(rows, 1<<16)
			w.Align()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/row")
	})
}
