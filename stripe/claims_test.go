package stripe_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
	"github.com/amudai/amudai-go/stripe/read"
	"github.com/amudai/amudai-go/stripe/write"
)

// sparse is an artifact that goes on with zeros for as long as anybody asks.
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

// What a reference claims to hold takes no more memory than its values can need.
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

// readAll reads a column and its range index, or fails with one of the kinds of errors.
func readAll(ctx context.Context, t *testing.T, a sparse, col arrowmap.Column) {
	_, err := read.OpenPages(ctx, a, col, nil)
	if err == nil {
		var c *read.Column
		if c, err = read.OpenColumn(ctx, a, col, read.Options{}); err == nil {
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

// A stored value that the Arrow type cannot hold is an error of one of the kinds, and
// says which row it is about.
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
		c, err := read.OpenColumn(ctx, a, col, read.Options{})
		if err == nil {
			_, err = c.Read(ctx, 0, n)
		}
		require.ErrorIs(t, err, fault.ErrUnsupported)
		var value *stripe.ValueError
		require.ErrorAs(t, err, &value)
	}
}
