package rowset

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// span limits the rows of models: from -span to span.
const span = 200

// model is a set as a map of rows.
type model map[int64]bool

func modelOf(keep func(row int64) bool) model {
	m := model{}
	for row := int64(-span); row < span; row++ {
		if keep(row) {
			m[row] = true
		}
	}
	return m
}

// requireSame checks that a set is well-formed and has the rows of a model.
func requireSame(t require.TestingT, want model, got Set) {
	last := int64(math.MinInt64)
	for r := range got.Ranges() {
		require.Less(t, r.From, r.To)
		require.True(t, r.From > last || last == math.MinInt64, "%v", got)
		last = r.To
	}
	require.EqualValues(t, len(want), got.Len())
	require.Equal(t, len(want) == 0, got.Empty())
	i := int64(0)
	for row := range got.Rows() {
		if !want[row] {
			require.Fail(t, "wrong row", "%d in %v", row, got)
		}
		require.Equal(t, row, got.Row(i))
		i++
	}
	for row := int64(-span); row < span; row++ {
		if want[row] != got.Contains(row) {
			require.Fail(t, "wrong answer", "%d in %v: not %v", row, got, want[row])
		}
	}
	bounds := got.Bounds()
	require.Equal(t, len(want) == 0, bounds == Range{})
	requireEqual(t, got, Of(slices.Collect(got.Ranges())...))
}

// requireEqual checks that sets have the same rows.
func requireEqual(t require.TestingT, want, got Set) {
	require.Equal(t, slices.Collect(want.Rows()), slices.Collect(got.Rows()))
	require.True(t, want.Equal(got))
	require.True(t, got.Equal(want))
}

func genRow(t *rapid.T, name string) int64 { return rapid.Int64Range(-90, 90).Draw(t, name) }

func genRanges(t *rapid.T) []Range {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Range {
		from := genRow(t, "from")
		return Range{from, from + rapid.Int64Range(-2, 12).Draw(t, "length")}
	}), 0, 12).Draw(t, "ranges")
}

func inAny(ranges []Range, row int64) bool {
	return slices.ContainsFunc(ranges, func(r Range) bool { return r.From <= row && row < r.To })
}

// dense is a set as bits, if it has enough rows, with so many others before.
func dense(s Set, before int) Set {
	b := s.Bounds()
	data := make([]byte, (before+int(b.Len())+63)/64*8)
	s.PutBits(data, before, int(b.Len()), b.From)
	return Dense(data, b.From-int64(before))
}

// genSet returns a set of any representation, sometimes a shifted view of a larger one.
func genSet(t *rapid.T) (model, Set) {
	ranges := genRanges(t)
	s := Of(slices.Clone(ranges)...)
	if rapid.Bool().Draw(t, "dense") {
		s = dense(s, rapid.IntRange(0, 70).Draw(t, "before"))
	}
	m := modelOf(func(row int64) bool { return inAny(ranges, row) })
	requireSame(t, m, s)
	if rapid.Bool().Draw(t, "window") {
		from, to, by := genRow(t, "from"), genRow(t, "to"), rapid.Int64Range(-9, 9).Draw(t, "by")
		s = s.Clip(from, to).Shift(by)
		whole := m
		m = modelOf(func(row int64) bool { return from <= row-by && row-by < to && whole[row-by] })
		requireSame(t, m, s)
	}
	return m, s
}

// requireHas checks that a set contains the rows of another one, with their indices.
func requireHas(t require.TestingT, all, some Set) {
	rows := slices.Collect(all.Rows())
	i := 0
	places, ok := some.Indices(all)
	require.True(t, ok, "%v in %v", some, all)
	for row := range some.Rows() {
		require.Equal(t, row, rows[places[i]])
		i++
	}
	require.Len(t, places, i)
}

func TestOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ma, a := genSet(t)
		mb, b := genSet(t)
		keep := slices.Collect(a.Rows())
		requireSame(t, modelOf(func(row int64) bool { return ma[row] && mb[row] }), a.And(b))
		requireSame(t, modelOf(func(row int64) bool { return ma[row] || mb[row] }), a.Or(b))
		require.Equal(t, maps.Equal(ma, mb), a.Equal(b))
		_, ok := b.Indices(a)
		require.Equal(t, len(modelOf(func(row int64) bool { return mb[row] && !ma[row] })) == 0, ok)
		requireHas(t, a.Or(b), a)
		requireHas(t, a, a.And(b))
		n, from, to := genRow(t, "n"), genRow(t, "from"), genRow(t, "to")
		requireSame(t, modelOf(func(row int64) bool { return ma[row] && !mb[row] }), a.Minus(b))
		requireSame(t, modelOf(func(row int64) bool { return 0 <= row && row < n && !ma[row] }), All(n).Minus(a))
		requireSame(t, modelOf(func(row int64) bool { return 0 <= row && row < n }), All(n))
		requireSame(t, modelOf(func(row int64) bool { return from <= row && row < to && ma[row] }), a.Clip(from, to))
		requireSame(t, modelOf(func(row int64) bool { return ma[row-n] }), a.Shift(n))
		require.Equal(t, !a.Clip(from, to).Empty(), a.Overlaps(from, to))
		bounds := a.Bounds()
		requireSame(t, ma, a.Clip(bounds.From, bounds.To))
		first, rest := a.Split(n)
		require.EqualValues(t, min(max(n, 0), a.Len()), first.Len())
		require.Equal(t, keep, slices.Concat(slices.Collect(first.Rows()), slices.Collect(rest.Rows())))
		require.Equal(t, keep, slices.Collect(a.Rows()), "an operation changed its operand")
		require.True(t, slices.IsSorted(keep))
		requireSame(t, ma, FromRows(keep))
		require.Len(t, slices.Collect(a.Ranges()), a.NumRanges())
		requireEqual(t, a, a.And(a))
		require.True(t, a.Minus(a).Empty())
		positions := make([]uint32, len(keep))
		for i, row := range keep {
			positions[i] = uint32(row + 100)
		}
		requireEqual(t, a.Shift(100), FromPositions(positions))
		for range a.Rows() {
			break
		}
		for range a.Ranges() {
			break
		}
	})
}

// Single rows, and rows in ranges, that do not fit into 32 bits.
func TestFarApart(t *testing.T) {
	ranges := []Range{{-1 << 50, -1<<50 + 1}, {3, 4}, {7, 9}, {1 << 40, 1<<40 + 1}}
	s := Of(ranges...)
	require.Equal(t, ranges, slices.Collect(s.Ranges()))
	requireEqual(t, Of(ranges[1:3]...), s.Clip(-100, 100))
	requireEqual(t, s, FromRows(slices.Collect(s.Rows())))
	requireEqual(t, Of(Range{1<<40 + 10, 1<<40 + 11}), s.And(Of(Range{1 << 33, math.MaxInt64})).Shift(10))
}

func TestBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		off := rapid.IntRange(0, 20).Draw(t, "off")
		base := rapid.Int64Range(-1000, 1000).Draw(t, "base")
		run := rapid.SampledFrom([]int{1, 3, 70}).Draw(t, "run")
		values := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "values")
		data := make([]byte, (off+n+7)/8)
		for i := range data {
			data[i] = 0xa5 // surrounding bits must not matter
		}
		var want []int64
		for i := range n {
			set := len(values) > i/run && values[i/run]&1 != 0
			bitmap.ClearRange(data, off+i, 1)
			if set {
				bitmap.SetRange(data, off+i, 1)
				want = append(want, base+int64(i))
			}
		}
		got := FromBits(data, off, n, base)
		require.Equal(t, want, slices.Collect(got.Rows()))
		requireEqual(t, FromRows(want), got)

		again := slices.Clone(data)
		bitmap.SetRange(again, off, n)
		got.Or(Of(Range{base - 5, base - 1}, Range{base + 1000, base + 1001})).PutBits(again, off, n, base)
		require.Equal(t, data, again)
	})
}

// Extreme numbers cause neither panics nor endless loops.
func TestAbsurd(t *testing.T) {
	numbers := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, 63, 64, math.MaxInt64 - 1, math.MaxInt64}
	bitmap := []byte{0xff, 0xff, 0xff}
	for _, a := range numbers {
		for _, b := range numbers {
			s := Of(Range{a, b}, Range{5, 7})
			require.GreaterOrEqual(t, s.Len(), int64(2))
			for _, c := range numbers {
				for _, set := range []Set{s.Shift(c), All(c).Minus(s), s.Minus(All(c)), s.Clip(a, c), All(c), s.And(All(c)), s.Or(All(c)), Of(Range{a, b}, Range{b, c})} {
					require.GreaterOrEqual(t, set.Len(), int64(0))
					set.Contains(c)
					set.And(s).Or(set).Minus(All(c)).Shift(a).Clip(b, c)
					set.Shift(a).Shift(b).Clip(c, a).Split(c)
				}
				FromBits(bitmap, int(b), int(c), a)
			}
		}
		FromRows([]int64{a})
		FromRows([]int64{a, math.MinInt64})
	}
	most := Of(Range{math.MinInt64, math.MaxInt64})
	require.Equal(t, Range{math.MinInt64, math.MaxInt64}, most.Bounds())
	require.Equal(t, Range{math.MinInt64, -1}, most.Shift(math.MinInt64).Bounds())
	require.EqualValues(t, int64(math.MaxInt64), most.Len())
	requireEqual(t, Of(Range{math.MaxInt64 - 2, math.MaxInt64}), FromBits(bitmap, 0, 24, math.MaxInt64-2))
	requireEqual(t, Of(Range{10, 11}), FromBits(bitmap, 23, 24, 10))
	require.True(t, FromRows([]int64{math.MaxInt64}).Empty())
	require.EqualValues(t, 0, Range{5, 3}.Len())
	require.EqualValues(t, 3, Range{5, 8}.Len())
	require.Zero(t, FromBits(nil, 0, 10, 0))
	require.Zero(t, FromBits(make([]byte, 10), 0, 80, 0))
}

// Pick copies the values of rows, also to the beginning of its source. Positions are the rows as 32-bit numbers.
func TestPick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SliceOfN(rapid.Int(), 100, 100).Draw(t, "values")
		_, rows := genSet(t)
		rows = rows.Clip(0, int64(len(src)))
		var want []int
		var wantPlaces []uint32
		for row := range rows.Rows() {
			want, wantPlaces = append(want, src[row]), append(wantPlaces, uint32(row))
		}
		places := make([]uint32, rows.Len())
		rows.Positions(places)
		require.Equal(t, append([]uint32{}, wantPlaces...), places)
		got := make([]int, rows.Len())
		Pick(got, src, rows)
		require.Equal(t, append([]int{}, want...), got)
		Pick(src, src, rows)
		require.Equal(t, got, src[:len(got)])
	})
}

func Example() {
	// The bits of the even rows from 100 on, and rows 3 to 5.
	even := FromBits([]byte{0b01010101}, 0, 8, 100)
	s := even.Or(Of(Range{3, 6}))
	fmt.Println(s.Len(), s.Clip(4, 103), All(6).Minus(s))
	// Output:
	// 7 [{4 6} {100 101} {102 103}] [{0 3}]
}

func BenchmarkFromBits(b *testing.B) {
	const n = 1 << 16
	for _, pattern := range []byte{0x00, 0x01, 0x0f, 0x55, 0xff} {
		bitmap := make([]byte, n/8)
		for i := range bitmap {
			bitmap[i] = pattern
		}
		b.Run(fmt.Sprintf("%02x", pattern), func(b *testing.B) {
			microbench.Output(b, n/8)
			for b.Loop() {
				FromBits(bitmap, 0, n, 0)
			}
		})
	}
}
