package numrange_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/goldenwalk"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
)

// Every range index of the reference is read, and equals the one that is built here from the same values.
func TestGoldenIndexes(t *testing.T) {
	compared, parsed := 0, 0
	goldenwalk.Walk(t, func(n *goldenwalk.Node) {
		var ref *shardpb.EncodedBuffer
		for _, b := range n.Desc.Encodings[0].GetNative().GetBuffers() {
			if b.Kind == shardpb.BufferKind_RANGE_INDEX {
				ref = b
			}
		}
		if ref == nil {
			return
		}
		parsed++
		buf := n.Read(ref.Buffer)
		switch a := n.Values.(type) {
		case *array.Int8:
			compare(t, n, buf, a.Int8Values())
		case *array.Int16:
			compare(t, n, buf, a.Int16Values())
		case *array.Int32:
			compare(t, n, buf, a.Int32Values())
		case *array.Int64:
			compare(t, n, buf, a.Int64Values())
		case *array.Uint8:
			compare(t, n, buf, a.Uint8Values())
		case *array.Uint16:
			compare(t, n, buf, a.Uint16Values())
		case *array.Uint32:
			compare(t, n, buf, a.Uint32Values())
		case *array.Uint64:
			compare(t, n, buf, a.Uint64Values())
		case *array.Float32:
			compare(t, n, buf, a.Float32Values())
		case *array.Float64:
			compare(t, n, buf, a.Float64Values())
		case *array.Timestamp, *array.Date32, *array.Date64:
			_, err := numrange.Parse[uint64](buf, buf[2], n.Desc.Field.PositionCount, &numeric.Scratch{})
			require.NoError(t, err)
			return
		default: // decimals: a test of package stats converts their values
			_, err := numrange.ParseDecimal(buf, n.Desc.Field.PositionCount, &numeric.Scratch{})
			require.NoError(t, err)
			return
		}
		compared++
	})
	if testdata.AllGoldens(t) {
		require.Greater(t, compared, 900)
	}
	t.Logf("%d indexes read, %d equal to ours", parsed, compared)
}

func compare[T numeric.Value](t *testing.T, n *goldenwalk.Node, buf []byte, values []T) {
	x := numrange.NewBuilder[T](buf[2])
	x.Add(values, validity(n.Values))
	var s numeric.Scratch
	want, err := numrange.Parse[T](buf, buf[2], uint64(len(values)), &s)
	require.NoError(t, err, "%s %s", n.File, n.Path)
	ours, _ := x.Append(nil, encoding.Options{})
	got, err := numrange.Parse[T](ours, buf[2], uint64(len(values)), &s)
	require.NoError(t, err)
	require.Equal(t, want.Invalid, got.Invalid, "%s %s", n.File, n.Path)
	for i := range want.Lo { // 0 and -0 are equal
		require.True(t, want.Lo[i] == got.Lo[i] && want.Hi[i] == got.Hi[i], "%s %s block %d", n.File, n.Path, i)
	}
}

func validity(a arrow.Array) bitmap.Bits {
	if a.NullN() == 0 {
		return bitmap.All(a.Len())
	}
	return bitmap.Bits{Data: a.NullBitmapBytes(), Off: a.Data().Offset(), Len: a.Len()}
}
