package shard_test

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
)

// TestPackedBytes takes the packed groups of the frozen shard apart by docs/format.md alone, without code of the library: every super-block has the block of
// every member, each with the sizes of its sections and their content.
func TestPackedBytes(t *testing.T) {
	b, err := os.ReadFile("testdata/frozen/packed-groups.amudai.shard")
	require.NoError(t, err)
	le := binary.LittleEndian
	message := func(m proto.Message, start, end uint64) {
		require.Equal(t, uint64(le.Uint32(b[start:])), end-start-8)
		require.NoError(t, proto.Unmarshal(b[start+4:end-4], m))
	}
	var directory shardpb.ShardDirectory
	end := uint64(len(b) - 12)
	message(&directory, end-8-uint64(le.Uint32(b[end:])), end)
	var stripes shardpb.StripeList
	message(&stripes, directory.StripeListRef.Range.Start, directory.StripeListRef.Range.End)
	var fields commonpb.DataRefArray
	message(&fields, stripes.Stripes[0].FieldListRef.Range.Start, stripes.Stripes[0].FieldListRef.Range.End)
	nodes := make([]shardpb.StripeFieldDescriptor, len(fields.Start))
	members := map[uint32][]*shardpb.EncodedBuffer{} // by the node of their group
	for id := range nodes {
		message(&nodes[id], fields.Start[id], fields.End[id])
		for _, e := range nodes[id].Encodings {
			for _, data := range e.GetNative().GetBuffers() {
				if data.Kind == shardpb.BufferKind_DATA && data.Buffer == nil {
					owner := uint32(5) // the struct s
					if data.BufferId != nil {
						owner = *data.BufferId
					}
					require.Len(t, members[owner], int(data.GetPackedGroupIndex()))
					members[owner] = append(members[owner], data)
				}
			}
		}
	}
	require.Len(t, members, 2, "the groups of n and of s")
	for owner, list := range members {
		encodings := nodes[owner].Encodings
		native := encodings[len(encodings)-1].GetNative()
		require.True(t, native.PackedGroup)
		data := native.Buffers[0]
		at, rows := data.Buffer.Range.Start, uint64(0)
		for range data.GetBlockCount() {
			start := at
			require.Equal(t, len(list), int(le.Uint32(b[at:])), "members of a super-block")
			at += 4 + 4*uint64(len(list))
			for k, member := range list {
				size := uint64(le.Uint32(b[start+4+4*uint64(k):]))
				presence, values := uint64(le.Uint32(b[at:])), uint64(le.Uint32(b[at+4:]))
				used := 8 + (presence+7)/8*8 + values
				require.LessOrEqual(t, used+4, size, "member %d", k)
				require.Less(t, size, used+4+8)
				require.True(t, member.BlockChecksums)
				if presence > 0 {
					require.True(t, member.EmbeddedPresence)
				}
				at += size
			}
			rows += 128
		}
		require.Equal(t, data.Buffer.Range.End, at)
		require.GreaterOrEqual(t, rows, nodes[owner].Field.PositionCount)
		require.Less(t, rows, nodes[owner].Field.PositionCount+128)
	}
}
