package rowset_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Select and Indices agree with a loop over single rows.
func TestSelect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ranges []rowset.Range
		at := int64(0)
		for range rapid.IntRange(0, 6).Draw(t, "ranges") {
			at += rapid.Int64Range(1, 100).Draw(t, "gap")
			n := rapid.SampledFrom([]int64{1, 1, 1, 2, 7, 64, 65, 200}).Draw(t, "length")
			ranges = append(ranges, rowset.Range{From: at, To: at + n})
			at += n
		}
		set := rowset.Of(ranges...)
		if by := rapid.Int64Range(-50, 50).Draw(t, "by"); by != 0 { // a window of it, elsewhere
			set = set.Clip(by, at-by).Shift(by)
		}
		bits := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 255, 255, 1, 0xf0, 0x3c}), 0, 120).Draw(t, "bits")
		var rows, places []int64
		i := 0
		for row := range set.Rows() {
			if i/8 < len(bits) && bits[i/8]>>(i%8)&1 != 0 {
				rows, places = append(rows, row), append(places, int64(i))
			}
			i++
		}
		got := set.Select(bits)
		require.Equal(t, rows, slices.Collect(got.Rows()))
		require.True(t, rowset.FromRows(rows).Equal(got))
		found, ok := got.Indices(set)
		require.True(t, ok)
		require.Equal(t, places, append([]int64(nil), found...))
	})
}

// TestPickBits picks bits of ranges, of single rows and of bits, to any place.
func TestPickBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := bitmap.Bits{Data: rapid.SliceOfN(rapid.Byte(), 40, 40).Draw(t, "bits"), Off: rapid.IntRange(0, 9).Draw(t, "off"), Len: 300}
		if rapid.Bool().Draw(t, "all") {
			src = bitmap.All(300)
		}
		member := rapid.SliceOfN(rapid.Byte(), 37, 37).Draw(t, "rows")
		if rapid.Bool().Draw(t, "few") {
			for i := range member {
				member[i] &= 1 << (i % 8)
			}
		}
		rows := rowset.FromBits(member, 0, 296, 0)
		if rapid.Bool().Draw(t, "dense") {
			rows = rowset.Dense(member, 0)
		}
		at := rapid.IntRange(0, 70).Draw(t, "at")
		dst := bytes.Repeat([]byte{0xa5}, 50)
		want, zeros, k := bytes.Clone(dst), 0, at
		for row := range rows.Rows() {
			bitmap.PutWord(want, k, uint64(bitmap.Bit(src.At(int(row)))), 1)
			zeros += bitmap.Bit(!src.At(int(row)))
			k++
		}
		require.Equal(t, zeros, rowset.PickBits(dst, at, src, rows))
		require.Equal(t, want, dst)
	})
}
