package chunk

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Plain byte strings of any length come out of a dictionary as they went in, in an array and by code. Without their last byte they are an error.
func TestTexts(t *testing.T) {
	s := &Scalar{Storage: arrow.BinaryTypes.String, arrow: arrow.BinaryTypes.String, physical: 6}
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringN(0, 40, 80), 1, 50).Draw(t, "texts")
		var plain []byte
		for _, v := range texts {
			plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(v))), v...)
		}
		_, err := s.dictionary(padded(slices.Clone(plain[:len(plain)-1])...), len(texts))
		require.Error(t, err)

		d, err := s.dictionary(padded(plain...), len(texts))
		require.NoError(t, err)
		entries := d.entries(memory.DefaultAllocator, s, 2).(*array.String)
		defer entries.Release()
		require.Equal(t, len(texts)+2, entries.Len())
		require.Equal(t, 2, entries.NullN())

		codes := rapid.SliceOfN(rapid.Uint32Range(0, uint32(len(texts)-1)), 1, 100).Draw(t, "codes")
		ends := make([]int32, len(codes))
		size, ok := d.textEnds(ends, 0, codes)
		require.True(t, ok)
		out := make([]byte, size+padding)
		d.copy(out, 0, ends, codes)
		from := int32(0)
		for i, c := range codes {
			require.Equal(t, texts[c], entries.Value(int(c)))
			require.Equal(t, texts[c], string(out[from:ends[i]]))
			from = ends[i]
		}
		_, ok = d.textEnds(ends, 0, append(codes[1:], uint32(len(texts))))
		require.False(t, ok, "a code beyond the dictionary")
	})
}

// Ends of values go to the rows that have one.
func TestSpreadEnds(t *testing.T) {
	ends := []int32{3, 5, 0, 0, 0, 0}
	spreadEnds(ends, []byte{0b0001_0100}, 0, 2, 1)
	require.Equal(t, []int32{1, 1, 3, 3, 5, 5}, ends)
}
