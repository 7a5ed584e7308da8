package stripe_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// joined has the encodings of two stripes with the same values: of every node that of first, then that of second.
func joined(first, second *artifact) *artifact {
	out := &artifact{bytes: append(first.bytes, make([]byte, -len(first.bytes)&63)...), rows: first.rows, nodes: first.nodes}
	shift := uint64(len(out.bytes))
	for id, d := range second.nodes {
		for _, b := range d.Encodings[0].GetNative().GetBuffers() {
			b.Buffer.Range.Start, b.Buffer.Range.End = b.Buffer.Range.Start+shift, b.Buffer.Range.End+shift
			if m := b.BlockMap; m != nil {
				m.Range.Start, m.Range.End = m.Range.Start+shift, m.Range.End+shift
			}
		}
		if out.nodes[id].Field.DictionarySize == nil {
			out.nodes[id].Field.DictionarySize = d.Field.DictionarySize
		}
		out.nodes[id].Encodings = append(out.nodes[id].Encodings, d.Encodings[0])
	}
	out.bytes = append(out.bytes, second.bytes...)
	return out
}

// Of several encodings of a node the first one is read that is supported: by its buffers, or else block by block. Damage is no reason for another.
func TestAlternatives(t *testing.T) {
	ctx := context.Background()
	var fields []arrow.Field
	for _, dt := range arrowgen.Types() {
		fields = append(fields, arrow.Field{Name: dt.String(), Type: dt, Nullable: true})
	}
	s := arrow.NewSchema(fields, nil)
	const rows = 400
	batch := arrowgen.New(3).Batch(s, rows)
	options := [2]write.Options{
		{Encoding: encoding.Options{Features: edition.E2026.Features(), Profile: encoding.MinimalSize}, OffsetsApart: true, NullsApart: true},
		{Encoding: encoding.Options{Profile: encoding.ProfilePlain}},
	}
	replaced := 0
	natives := func(a *artifact, id uint32) []*shardpb.DataEncoding { return a.nodes[id].Encodings }
	for name, c := range map[string]struct {
		change func(a *artifact, e *shardpb.NativeDataEncoding)
		damage bool
	}{
		"both": {func(*artifact, *shardpb.NativeDataEncoding) {}, false},
		"unknown kind": {func(_ *artifact, e *shardpb.NativeDataEncoding) {
			e.Buffers = append(e.Buffers, &shardpb.EncodedBuffer{Kind: 77})
		}, false},
		"unknown code": {func(a *artifact, e *shardpb.NativeDataEncoding) {
			for _, b := range e.Buffers {
				if b.Kind == shardpb.BufferKind_DATA && b.BlockMap == nil && b.InlineBlockMap == nil {
					if replaceCode(a.bytes[b.Buffer.Range.Start:b.Buffer.Range.End]) {
						replaced++
					}
					b.Checksums = nil
				}
			}
		}, false},
		"damage": {func(a *artifact, e *shardpb.NativeDataEncoding) {
			for _, b := range e.Buffers {
				a.bytes[b.Buffer.Range.Start+12] ^= 1
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][2]int{{0, 1}, {1, 0}} {
				first, columns := writeStripe(t, s, []arrow.RecordBatch{batch}, options[order[0]])
				second, _ := writeStripe(t, s, []arrow.RecordBatch{batch}, options[order[1]])
				a, failed := joined(first, second), 0
				for i, col := range columns {
					if len(col.Children) > 0 || len(natives(a, col.ID)[0].GetNative().GetBuffers()) == 0 {
						continue
					}
					d := proto.CloneOf(a.nodes[col.ID])
					b := &artifact{bytes: append([]byte{}, a.bytes...), rows: a.rows, nodes: map[uint32]*shardpb.StripeFieldDescriptor{col.ID: d}}
					c.change(b, d.Encodings[0].GetNative())
					column, err := openColumn(ctx, b, col, nil)
					var got arrow.Array
					if err == nil {
						got, err = column.Read(ctx, 0, rows)
					}
					if c.damage {
						require.Error(t, err)
						require.NotErrorIs(t, err, fault.ErrUnsupported)
						failed++
						continue
					}
					require.NoError(t, err, col.Arrow)
					require.Equal(t, -1, arrowutil.Difference(batch.Column(i), got), col.Arrow)
				}
				require.Equal(t, c.damage, failed > 0)
			}
		})
	}
	require.Greater(t, replaced, 20)
}

// replaceCode gives a block an encoding that does not exist, and the checksum of that. ok is false if it is no block.
func replaceCode(block []byte) (ok bool) {
	b, err := encoding.ParseBlock(block, true)
	if err != nil || len(b.Values) < 2 {
		return false
	}
	binary.LittleEndian.PutUint16(b.Values, 0x7eee)
	end := len(block) - encoding.BlockChecksumLen
	binary.LittleEndian.PutUint32(block[end:], encoding.BlockChecksum(block[:end]))
	return true
}
