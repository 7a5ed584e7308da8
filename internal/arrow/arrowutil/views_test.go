package arrowutil_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// someStrings are values of 0 to longest bytes, some of them null.
func someStrings(n, longest int) *array.LargeString {
	rnd := rand.New(rand.NewPCG(5, 12))
	b := array.NewLargeStringBuilder(memory.DefaultAllocator)
	for i := range n {
		if i%17 == 3 {
			b.AppendNull()
			continue
		}
		v := make([]byte, rnd.IntN(longest+1))
		for k := range v {
			v[k] = byte('a' + rnd.IntN(26))
		}
		b.Append(string(v))
	}
	return b.NewLargeStringArray()
}

// TestToViews compares views with those that arrow-go builds, bit by bit. The last values have no room behind them.
func TestToViews(t *testing.T) {
	for _, longest := range []int{0, 3, 12, 13, 40} {
		for n := range 60 {
			values := someStrings(n, longest)
			b := array.NewStringViewBuilder(memory.DefaultAllocator)
			for i := range n {
				if values.IsNull(i) {
					b.AppendNull()
				} else {
					b.Append(values.Value(i))
				}
			}
			want := b.NewStringViewArray()
			got := arrowutil.ToViews(memory.DefaultAllocator, values, arrow.BinaryTypes.StringView).(*array.StringView)
			require.NoError(t, arrowutil.Check(got))
			require.True(t, array.Equal(want, got), "%d values of up to %d bytes", n, longest)
			for i := range n {
				if header := got.ValueHeader(i); got.IsValid(i) && header.IsInline() {
					require.Equal(t, *want.ValueHeader(i), *header, "bytes behind a value are zero")
				}
			}
			cut := array.NewSlice(values, int64(n/2), int64(n)).(*array.LargeString)
			views := arrowutil.ToViews(memory.DefaultAllocator, cut, arrow.BinaryTypes.StringView)
			require.True(t, array.Equal(array.NewSlice(want, int64(n/2), int64(n)), views))
		}
	}
}

func BenchmarkToViews(b *testing.B) {
	for _, longest := range []int{12, 60} {
		values := someStrings(64<<10, longest)
		b.Run(map[int]string{12: "short", 60: "long"}[longest], func(b *testing.B) {
			microbench.Output(b, values.Len()*arrow.ViewHeaderSizeBytes)
			for b.Loop() {
				arrowutil.ToViews(memory.DefaultAllocator, values, arrow.BinaryTypes.StringView).Release()
			}
		})
	}
}
