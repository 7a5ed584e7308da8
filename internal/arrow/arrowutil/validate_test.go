package arrowutil_test

import (
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// TestValidateFull agrees with arrow-go about texts, broken offsets and sliced arrays.
func TestValidateFull(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		data := []byte(rapid.SampledFrom([]string{"", "abc", "äöü", "a\xffb", "x\xe2\x82\xacy", "日本語"}).Draw(r, "data"))
		offsets := rapid.SliceOfN(rapid.Int32Range(-1, int32(len(data))+1), 1, 8).Draw(r, "offsets")
		if rapid.Bool().Draw(r, "ascend") {
			at := int32(0)
			for i := range offsets {
				offsets[i] = min(max(offsets[i], at), int32(len(data)))
				at = offsets[i]
			}
		}
		var values *memory.Buffer
		if len(data) > 0 || rapid.Bool().Draw(r, "buffer") {
			values = memory.NewBufferBytes(data)
		}
		n := len(offsets) - 1
		from := rapid.IntRange(0, n).Draw(r, "from")
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), values}
		d := array.NewData(arrow.BinaryTypes.String, n-from, buffers, nil, 0, from)
		defer d.Release()
		var a arrow.Array
		func() {
			defer func() { _ = recover() }() // some offsets
			a = array.MakeFromData(d)
		}()
		if a == nil {
			return
		}
		defer a.Release()
		got := arrowutil.ValidateFull(a)
		defer func() {
			if recover() != nil { // arrow-go looks at a value before it looks at the next offset
				require.Error(r, got)
			}
		}()
		require.Equal(r, array.ValidateFull(a) == nil, got == nil)
	})
}

// TestValidUTF8 compares the check of all values with one of each.
func TestValidUTF8(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		data := rapid.SliceOfN(rapid.SampledFrom([]byte{'a', 0xc3, 0xa4, 0xe2, 0x82, 0xac, 0xff}), 0, 12).Draw(r, "data")
		offsets := []int64{0}
		for at := int64(0); at < int64(len(data)); {
			at = rapid.Int64Range(at, int64(len(data))).Draw(r, "offset")
			offsets = append(offsets, at)
		}
		want := true
		for i, o := range offsets[:len(offsets)-1] {
			want = want && utf8.Valid(data[o:offsets[i+1]])
		}
		require.Equal(r, want, arrowutil.ValidUTF8(data[:offsets[len(offsets)-1]], offsets[:len(offsets)-1]))
	})
}
