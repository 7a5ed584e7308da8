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

// Pages of codes and of byte strings come in any order: each row has the code of its value.
func TestMixedPages(t *testing.T) {
	s := &Scalar{Storage: arrow.BinaryTypes.String, arrow: arrow.BinaryTypes.String, physical: 6}
	codesOf := &Scalar{Storage: arrow.PrimitiveTypes.Int32, arrow: arrow.PrimitiveTypes.Int32, physical: 1, width: 4, bytes: 4, of: s}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "", "a", "b", "two words", "ж"})
		entries := []string{"x", "", "a", "entry"}
		var plain []byte
		for _, v := range entries {
			plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(v))), v...)
		}
		d, err := s.dictionary(padded(plain...), len(entries))
		require.NoError(t, err)
		coded := rapid.SliceOfN(rapid.Bool(), 1, 5).Draw(t, "coded")
		var want []string
		var pages []*page
		for _, isCoded := range coded {
			n := rapid.IntRange(1, 12).Draw(t, "rows")
			p := &page{rows: n, coded: isCoded, texts: !isCoded}
			var data []byte
			for range n {
				if isCoded { // a run of one value
					code := rapid.IntRange(0, len(entries)-1).Draw(t, "code")
					data = append(data, 2, byte(code))
					want = append(want, entries[code])
					continue
				}
				v := text.Draw(t, "text")
				data = append(binary.LittleEndian.AppendUint32(data, uint32(len(v))), v...)
				want = append(want, v)
			}
			if isCoded {
				p.start.values = newHybrid(padded(data...)[:len(data)], 2)
			} else {
				p.data = padded(data...)[:len(data)]
			}
			pages = append(pages, p)
		}
		o := &output{mem: memory.DefaultAllocator, s: codesOf, dict: d, limit: maxArrayBytes, rows: len(want), codes: new([]uint32)}
		o.allocate(false)
		for _, p := range pages {
			cur, err := p.cursor(0)
			require.NoError(t, err)
			require.NoError(t, o.add(&cur, 0, p.rows))
		}
		all := []string{}
		if o.coded {
			all = append(all, entries...)
		}
		if o.apart != nil {
			apart := o.apart.array().(*array.String)
			defer apart.Release()
			for i := range apart.Len() {
				all = append(all, apart.Value(i))
			}
		}
		got := o.array().(*array.Int32)
		defer got.Release()
		for i, w := range want {
			require.Equal(t, w, all[got.Value(i)], "row %d", i)
		}
	})
}
