package values_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/text/values"
)

// TestMapEntriesWithOffset prints maps whose entries begin in the middle of keys and values, as the C data interface
// allows.
func TestMapEntriesWithOffset(t *testing.T) {
	b := array.NewMapBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64, false)
	for i, key := range []string{"x", "a", "b", "c"} {
		b.Append(true)
		b.KeyBuilder().(*array.StringBuilder).Append(key)
		b.ItemBuilder().(*array.Int64Builder).Append(int64(i))
	}
	m := b.NewArray().Data()
	entries := m.Children()[0]
	shifted := array.NewData(entries.DataType(), 3, entries.Buffers(), entries.Children(), 0, 1)
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 1, 3}))
	maps := array.MakeFromData(array.NewData(m.DataType(), 2, []*memory.Buffer{nil, offsets}, []arrow.ArrayData{shifted}, 0, 0))
	print := values.JSON(maps)
	require.Equal(t, `[{"key":"a","value":1}]`, string(print(nil, 0)))
	require.Equal(t, `[{"key":"b","value":2},{"key":"c","value":3}]`, string(print(nil, 1)))
}
