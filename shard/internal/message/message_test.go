package message

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// TestTinyElements refuses a message of empty elements before it is parsed, because its elements would take 60 times
// its bytes.
func TestTinyElements(t *testing.T) {
	var b []byte
	for range 4 << 20 {
		b = append(b, 1<<3|2, 0) // an empty stripe
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var m shardpb.StripeList
	require.ErrorIs(t, Decode(b, &m), fault.ErrLimit)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	require.NoError(t, Decode(b[:100_000], &m))
	require.Len(t, m.Stripes, 50_000)
}

// TestDeepValue checks that a property nested 10,000 deep is an error.
func TestDeepValue(t *testing.T) {
	var value []byte
	for range 10_000 {
		list := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), value)
		value = protowire.AppendBytes(protowire.AppendTag(nil, 20, protowire.BytesType), list)
	}
	require.ErrorIs(t, Decode(value, &commonpb.AnyValue{}), fault.ErrCorrupt)
}

// TestUnknownFieldsAreKept checks that unknown fields, as of a newer writer, survive a round trip.
func TestUnknownFieldsAreKept(t *testing.T) {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 7)
	var m shardpb.StripeDirectory
	require.NoError(t, Decode(b, &m))
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(&m)
	require.NoError(t, err)
	require.Equal(t, b, out)
}
