package arrowutil_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// Byte strings of all layouts, of whole arrays, slices and empty ones.
func TestBytesOf(t *testing.T) {
	for _, dt := range []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.StringView,
		arrow.BinaryTypes.BinaryView, &arrow.FixedSizeBinaryType{ByteWidth: 2},
	} {
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		want := []string{"ab", "cd", "", "ef"}
		for _, v := range want {
			if v == "" {
				b.AppendNull()
			} else {
				require.NoError(t, b.AppendValueFromString(encoded(dt, v)))
			}
		}
		whole := b.NewArray()
		for from := range len(want) + 1 {
			arr := array.NewSlice(whole, int64(from), int64(len(want)))
			at := arrowutil.BytesOf(arr)
			for i := range arr.Len() {
				if arr.IsValid(i) {
					require.Equal(t, want[from+i], string(at(i)), dt)
				} else {
					at(i)
				}
			}
		}
		require.NotNil(t, arrowutil.BytesOf(b.NewArray()))
	}
	require.Nil(t, arrowutil.BytesOf(array.NewNull(1)))
}

// encoded is a value as builders take it: bytes in base64.
func encoded(dt arrow.DataType, v string) string {
	switch dt.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return v
	}
	return map[string]string{"ab": "YWI=", "cd": "Y2Q=", "ef": "ZWY="}[v]
}
