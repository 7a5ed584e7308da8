package shard_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/filter"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
)

// rawShard is a file as the specification describes it, read without any code of ours but the generated messages.
type rawShard []byte

func frozenFile(t *testing.T, name string) rawShard {
	b, err := os.ReadFile(filepath.Join("testdata", "frozen", name+".amudai.shard"))
	require.NoError(t, err)
	return b
}

// message parses a message that is framed by its length and a checksum.
func (b rawShard) message(t *testing.T, ref *commonpb.DataRef, m proto.Message) {
	start := ref.Range.Start
	n := uint64(binary.LittleEndian.Uint32(b[start:]))
	require.Equal(t, ref.Range.End, start+4+n+4)
	require.NoError(t, proto.Unmarshal(b[start+4:start+4+n], m))
}

// fields are the descriptors of the first stripe, by schema id.
func (b rawShard) fields(t *testing.T) []*shardpb.StripeFieldDescriptor {
	end := uint64(len(b)) - 8 - 4
	n := uint64(binary.LittleEndian.Uint32(b[end:]))
	var directory shardpb.ShardDirectory
	b.message(t, &commonpb.DataRef{Range: &commonpb.UInt64Range{Start: end - 8 - n, End: end}}, &directory)
	var stripes shardpb.StripeList
	b.message(t, directory.StripeListRef, &stripes)
	var list commonpb.DataRefArray
	b.message(t, stripes.Stripes[0].FieldListRef, &list)
	fields := make([]*shardpb.StripeFieldDescriptor, len(list.Start))
	for i := range fields {
		fields[i] = &shardpb.StripeFieldDescriptor{}
		b.message(t, &commonpb.DataRef{Range: &commonpb.UInt64Range{Start: list.Start[i], End: list.End[i]}}, fields[i])
	}
	return fields
}

// The frozen shard with offsets apart has the buffers that the specification describes.
func TestOffsetsApartAsSpecified(t *testing.T) {
	b, apart := frozenFile(t, "offsets-apart"), 0
	for _, d := range b.fields(t) {
		require.Len(t, d.Encodings, 1)
		kinds := map[shardpb.BufferKind]*shardpb.EncodedBuffer{}
		for _, e := range d.Encodings[0].GetNative().GetBuffers() {
			kinds[e.Kind] = e
		}
		data, ends := kinds[shardpb.BufferKind_DATA], kinds[shardpb.BufferKind_OFFSETS]
		if d.Field.GetStringStats() == nil && d.Field.GetBinaryStats() == nil {
			continue
		}
		apart++
		require.NotNil(t, ends)
		require.False(t, data.EmbeddedOffsets)
		require.False(t, data.EmbeddedPresence)
		require.EqualValues(t, 1, ends.GetBlockCount())
		require.Equal(t, d.Field.GetNullCount() > 0, kinds[shardpb.BufferKind_PRESENCE] != nil)
	}
	require.Equal(t, 3, apart)
}

// The dictionary that the blocks of the frozen shard of sentences share has tokens that its texts are made of.
func TestSharedDictionaryAsSpecified(t *testing.T) {
	b := frozenFile(t, "text-sentences-Balanced")
	var tokens []string
	var id uint32
	var blocks int
	for _, d := range b.fields(t) {
		for _, e := range d.Encodings[0].GetNative().GetBuffers() {
			at := e.Buffer.Range
			switch e.Kind {
			case shardpb.BufferKind_OPAQUE_DICTIONARY:
				raw := b[at.Start:at.End]
				id = e.GetBufferId()
				n := int(binary.LittleEndian.Uint32(raw))
				heads, rest := raw[4:4+n], raw[4+n:len(raw)-4]
				last := ""
				for _, head := range heads {
					shared, length := int(head&15), int(head>>4)+1
					last = last[:shared] + string(rest[:length-shared])
					rest = rest[length-shared:]
					tokens = append(tokens, last)
				}
				require.Empty(t, rest)
			case shardpb.BufferKind_DATA:
				raw := b[at.Start:at.End] // the first block: sizes of presence and values, presence, tree
				presence := binary.LittleEndian.Uint32(raw)
				tree := raw[8+(presence+7)/8*8:]
				require.EqualValues(t, 0x800f, binary.LittleEndian.Uint16(tree))
				require.EqualValues(t, 1, binary.LittleEndian.Uint32(tree[2:]))
				blocks = int(e.GetBlockCount())
			}
		}
	}
	require.EqualValues(t, 1, id)
	require.Greater(t, blocks, 3)
	distinct := map[string]bool{}
	for _, token := range tokens {
		require.False(t, distinct[token], "token %q twice", token)
		distinct[token] = true
	}
	_, batches := readFrozen(t, b)
	texts := batches[0].Column(0).(*array.String)
	for i := range 100 {
		ends := map[int]bool{0: true} // where sequences of tokens may end
		for at := range len(texts.Value(i)) {
			for n := 1; ends[at] && n <= 16 && at+n <= len(texts.Value(i)); n++ {
				ends[at+n] = ends[at+n] || distinct[texts.Value(i)[at:at+n]]
			}
		}
		require.True(t, ends[len(texts.Value(i))], texts.Value(i))
	}
}

// Questions that do not decode texts are answered where these share a dictionary, too.
func TestQuestionsOfSharedDictionary(t *testing.T) {
	s, batches := readFrozen(t, frozenFile(t, "text-sentences-Balanced"))
	want := map[string]int64{}
	for _, b := range batches {
		texts := b.Column(0).(*array.String)
		for i := range texts.Len() {
			v := texts.Value(i)
			for condition, holds := range map[string]bool{
				"length(text) > 22": len(v) > 22, "text is null": false, "text is not null": true, "text contains 'a1'": strings.Contains(v, "a1"),
				"text > 'k'": v > "k", "text = 'x'": v == "x",
			} {
				if want[condition] += 0; holds {
					want[condition]++
				}
			}
		}
	}
	require.Positive(t, want["length(text) > 22"])
	for condition, n := range want {
		f, err := filter.Parse(condition)
		require.NoError(t, err)
		got, err := s.Count(t.Context(), f)
		require.NoError(t, err)
		require.Equal(t, n, got, condition)
	}
}
