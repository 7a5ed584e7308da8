package stripe_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/pageindex"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// sparse is an artifact that is followed by zeros up to a size of 2^50 bytes.
type sparse struct{ *artifact }

func (a sparse) Size(context.Context) (int64, error) { return 1 << 50, nil }

func (a sparse) ReadAt(ctx context.Context, p []byte, off int64) error {
	clear(p)
	if off < int64(len(a.bytes)) {
		copy(p, a.bytes[off:])
	}
	return nil
}

func (a sparse) Artifact(context.Context, uint32, *commonpb.DataRef) (storage.Reader, error) {
	return a, nil
}

// A reference to many bytes takes no more memory than its values can need.
func TestClaimedSizesTakeNoMemory(t *testing.T) {
	const claim = 1 << 32
	ctx := context.Background()
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	g := arrowgen.New(5)
	for name, lie := range map[string]func(b *shardpb.EncodedBuffer){
		"range index": func(b *shardpb.EncodedBuffer) {
			if b.Kind == shardpb.BufferKind_RANGE_INDEX {
				b.Buffer.Range.End += claim
			}
		},
		"block map": func(b *shardpb.EncodedBuffer) {
			if b.BlockMap != nil {
				b.Buffer.Range.End += claim
				b.BlockMap.Range.End += claim
			}
		},
		"single block": func(b *shardpb.EncodedBuffer) {
			if b.Kind == shardpb.BufferKind_DATA {
				one := uint64(1)
				b.BlockMap, b.InlineBlockMap, b.BlockCount = nil, nil, &one
				b.Buffer.Range.End = b.Buffer.Range.Start + math.MaxInt32
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
				var o write.Options
				o.Encoding.Features = e.Features()
				a, columns := writeStripe(t, s, []arrow.RecordBatch{g.Batch(s, 3000)}, o)
				for _, b := range a.nodes[columns[0].ID].Encodings[0].GetNative().Buffers {
					lie(b)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				readAll(ctx, t, sparse{a}, columns[0])
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
			}
		})
	}
}

// A value dictionary takes no more memory than its header allows, one of numbers neither.
func TestClaimedDictionariesTakeNoMemory(t *testing.T) {
	const claim = 900 << 20
	ctx := context.Background()
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.BinaryTypes.String}, {Name: "n", Type: arrow.PrimitiveTypes.Float64}}, nil)
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]string, 300)
	for i := range values {
		values[i] = fmt.Sprintf("%x-%x", r.Uint64(), r.Uint64())
	}
	const rows = 20_000
	for range rows {
		texts.Append(values[r.IntN(len(values))])
	}
	batch := array.NewRecordBatch(s, []arrow.Array{texts.NewArray(), arrowgen.New(1).Array(s.Field(1).Type, rows)}, rows)
	le := binary.LittleEndian
	for name, lie := range map[string]func(b []byte){
		"buffer":         func(b []byte) {},
		"nothing":        func(b []byte) { clear(b) },
		"values":         func(b []byte) { le.PutUint64(b[22:], claim) },
		"offsets":        func(b []byte) { le.PutUint64(b[38:], claim) },
		"sorted ids":     func(b []byte) { le.PutUint64(b[54:], claim) },
		"values, longer": func(b []byte) { le.PutUint64(b[22:], claim); le.PutUint64(b[128:], 2*claim) },
		"entries": func(b []byte) { // as many as fit, with sections of their size
			const n = 60 << 20
			le.PutUint32(b[1:], n)
			for at, end := range map[int]uint64{22: 208, 30: 208, 38: 208 + 8*n + 96, 46: 208 + 8*n + 96, 54: 208 + 12*n + 176} {
				le.PutUint64(b[at:], end)
			}
			clear(b[128:])
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, columns := writeStripe(t, s, []arrow.RecordBatch{batch}, write.Options{})
			require.Equal(t, 1, intoDictionaries(t, a, &columns[1], numberForm{}))
			lied := 0
			buffers := stripe.NativeEncoding(a.nodes[columns[0].ID]).Buffers
			for _, b := range append(buffers, stripe.NativeEncoding(a.nodes[columns[1].ID]).Buffers...) {
				if b.Kind == shardpb.BufferKind_VALUE_DICTIONARY {
					raw := a.bytes[b.Buffer.Range.Start:b.Buffer.Range.End]
					lie(raw)
					if name != "nothing" {
						le.PutUint32(raw[124:], encoding.BlockChecksum(raw[:124]))
					}
					b.Buffer.Range.End += claim
					lied++
				}
			}
			require.Equal(t, 2, lied)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			readAll(ctx, t, sparse{a}, columns[0])
			readAll(ctx, t, sparse{a}, columns[1])
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
		})
	}
}

// readAll reads a column and its range index. Errors must be of the known kinds.
func readAll(ctx context.Context, t *testing.T, a sparse, col arrowmap.Column) {
	_, err := pageindex.Open(ctx, a, col, nil)
	if err == nil {
		var c *testColumn
		if c, err = openColumn(ctx, a, col, nil); err == nil {
			var arr arrow.Array
			if arr, err = c.Read(ctx, 0, a.rows); err == nil {
				arr.Release()
			}
		}
	}
	if err != nil {
		kinds := []error{fault.ErrCorrupt, fault.ErrChecksum, fault.ErrUnsupported, fault.ErrLimit}
		require.True(t, slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) }), err)
	}
}

// A stored value that the Arrow type cannot hold is an error of a known kind that names the row.
func TestMisfitsAreUnsupported(t *testing.T) {
	ctx := context.Background()
	seconds := arrow.NewSchema([]arrow.Field{{Name: "c", Type: &arrow.TimestampType{Unit: arrow.Second}}}, nil)
	times := []int64{1, 2, 200_000_000_000, 4} // the year 8307
	arr := arrowutil.Make(seconds.Field(0).Type, 4, []*memory.Buffer{nil, memory.NewBufferBytes(arrowutil.Bytes(times))}, nil, 0)
	for _, n := range []int64{4, 1} {
		part := array.NewSlice(arr, 4-n, 4)
		if n == 1 {
			part = array.NewSlice(arr, 2, 3)
		}
		a, columns := writeStripe(t, seconds, []arrow.RecordBatch{array.NewRecordBatch(seconds, []arrow.Array{part}, n)}, write.Options{})
		col := columns[0]
		col.Arrow.Type, col.Plain, col.Unit = arrow.FixedWidthTypes.Timestamp_ns, arrow.FixedWidthTypes.Timestamp_ns, convert.Nanosecond
		c, err := openColumn(ctx, a, col, nil)
		if err == nil {
			_, err = c.Read(ctx, 0, n)
		}
		require.ErrorIs(t, err, fault.ErrUnsupported)
		var value *stripe.ValueError
		require.ErrorAs(t, err, &value)
	}
}
