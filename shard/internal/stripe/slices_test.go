package stripe_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// Offsets of byte strings that descend, lie beyond the bytes, are huge, do not begin at 0 or leave bytes over are damage, which takes no memory.
func TestHostileOffsetsOfByteStrings(t *testing.T) {
	ctx := context.Background()
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.LargeString, Nullable: true}}, nil)
	const rows = 300
	batch := arrowgen.New(4).Batch(s, rows)
	o := write.Options{OffsetsApart: true, Encoding: encoding.Options{Features: edition.E2026.Features()}}
	for name, lie := range map[string]func(ends []uint64){
		"true":        func([]uint64) {},
		"descending":  func(ends []uint64) { ends[100], ends[101] = ends[101]+1, ends[100] },
		"beyond":      func(ends []uint64) { ends[rows]++ },
		"huge":        func(ends []uint64) { ends[rows] = 1 << 60 },
		"too large":   func(ends []uint64) { ends[rows] = math.MaxUint64 },
		"not from 0":  func(ends []uint64) { ends[0] = 1 },
		"bytes over":  func(ends []uint64) { ends[rows]-- },
		"most beyond": func(ends []uint64) { slices.Sort(ends); ends[1] = 1 << 40; slices.Sort(ends) },
	} {
		t.Run(name, func(t *testing.T) {
			a, cols := writeStripe(t, s, []arrow.RecordBatch{batch}, o)
			buffers := a.nodes[cols[0].ID].Encodings[0].GetNative().Buffers
			require.True(t, stripe.OffsetsApart(cols[0].Stored.Type, buffers))
			b := stripe.FindBuffer(buffers, shardpb.BufferKind_OFFSETS)
			ends := make([]uint64, rows+1)
			_, err := numeric.DecodeBlock(ends, nil, 0, a.bytes[b.Buffer.Range.Start:b.Buffer.Range.End], numeric.BlockOptions{Checksums: true}, &numeric.Scratch{})
			require.NoError(t, err)
			lie(ends)
			e := numeric.NewEncoder[uint64](encoding.Options{NoPresence: true, Profile: encoding.ProfilePlain})
			block, err := e.AppendBlock(nil, ends, bitmap.All(len(ends)))
			require.NoError(t, err)
			start := uint64(len(a.bytes))
			a.bytes = append(a.bytes, block...)
			b.Buffer.Range.Start, b.Buffer.Range.End, b.Checksums = start, uint64(len(a.bytes)), nil

			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c, err := openColumn(ctx, a, cols[0], nil)
			require.NoError(t, err)
			_, err = c.Read(ctx, 0, rows)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
			if name == "true" {
				require.NoError(t, err)
				return
			}
			require.True(t, errors.Is(err, fault.ErrCorrupt), "%v", err)
			require.ErrorContains(t, err, "OFFSETS")
		})
	}
}

// A single block of bytes has a block map, as its descriptor counts values, not bytes.
func TestBytesApartNeedABlockMap(t *testing.T) {
	ctx := context.Background()
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.Binary}}, nil)
	a, cols := writeStripe(t, s, []arrow.RecordBatch{arrowgen.New(4).Batch(s, 50)}, write.Options{OffsetsApart: true, Encoding: encoding.Options{Features: edition.E2026.Features()}})
	b := stripe.FindBuffer(a.nodes[cols[0].ID].Encodings[0].GetNative().Buffers, shardpb.BufferKind_DATA)
	require.NotEmpty(t, b.InlineBlockMap)
	require.EqualValues(t, 1, b.GetBlockCount())
	b.InlineBlockMap = nil
	_, err := openColumn(ctx, a, cols[0], nil)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "without a block map")
}
