package stripe_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// artifact is a finished stripe laid out in memory.
type artifact struct {
	rows  int64
	nodes map[uint32]*shardpb.StripeFieldDescriptor
	bytes []byte
}

func (a *artifact) Rows() int64 { return a.rows }

func (a *artifact) Descriptor(_ context.Context, id uint32) (*shardpb.StripeFieldDescriptor, error) {
	return a.nodes[id], nil
}

func (a *artifact) Artifact(context.Context, uint32, *commonpb.DataRef) (storage.Reader, error) {
	return a, nil
}

func (a *artifact) ReadAt(_ context.Context, p []byte, off int64) error {
	if off < 0 || off+int64(len(p)) > int64(len(a.bytes)) {
		return fmt.Errorf("read of %d bytes at %d of %d", len(p), off, len(a.bytes))
	}
	copy(p, a.bytes[off:])
	return nil
}

func (a *artifact) ReadSuffix(context.Context, int) ([]byte, int64, error) { panic("not used") }
func (a *artifact) Version(context.Context) (storage.Version, error)       { panic("not used") }
func (a *artifact) Capabilities() storage.Capabilities                     { return storage.Capabilities{} }
func (a *artifact) Size(context.Context) (int64, error)                    { return int64(len(a.bytes)), nil }
func (a *artifact) Name() string                                           { return "memory" }
func (a *artifact) Close() error                                           { return nil }

// lay places the buffers of a finished stripe in the order of a shard writer.
func lay(t testing.TB, f *stripe.Finished) *artifact {
	a := &artifact{rows: f.Rows, nodes: map[uint32]*shardpb.StripeFieldDescriptor{}}
	for _, n := range f.Nodes {
		var buffers []*shardpb.EncodedBuffer
		for _, b := range n.Buffers {
			a.bytes = append(a.bytes, make([]byte, -len(a.bytes)&63)...)
			start := uint64(len(a.bytes))
			var out bytes.Buffer
			_, err := b.Data.WriteTo(&out)
			require.NoError(t, err)
			a.bytes = append(a.bytes, out.Bytes()...)
			ref := func(from uint64) *commonpb.DataRef {
				return &commonpb.DataRef{Range: &commonpb.UInt64Range{Start: from, End: uint64(len(a.bytes))}}
			}
			b.Desc.Buffer = ref(start)
			if b.MapOffset >= 0 {
				b.Desc.BlockMap = ref(start + uint64(b.MapOffset))
			}
			buffers = append(buffers, b.Desc)
		}
		a.nodes[n.ID] = &shardpb.StripeFieldDescriptor{
			Field:     n.Field,
			Encodings: []*shardpb.DataEncoding{{Kind: &shardpb.DataEncoding_Native{Native: &shardpb.NativeDataEncoding{Buffers: buffers}}}},
		}
	}
	return a
}

func writeStripe(t testing.TB, s *arrow.Schema, batches []arrow.RecordBatch, o write.Options) (*artifact, []arrowmap.Column) {
	ctx := context.Background()
	_, columns, err := arrowmap.FromArrow(s, arrowmap.Options{Features: edition.Only(edition.Unions)})
	require.NoError(t, err)
	if o.Budget == nil {
		o.Budget = storage.NewBudget(1 << 30)
	}
	w, err := write.NewWriter(columns, o)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Write(ctx, b.Columns(), int(b.NumRows())))
	}
	f, err := w.Finish(ctx)
	require.NoError(t, err)
	defer f.Release()
	return lay(t, f), columns
}

// check writes batches, and requires that every column comes back, whole and sliced.
func check(t testing.TB, s *arrow.Schema, batches []arrow.RecordBatch, o write.Options) {
	ctx := context.Background()
	a, columns := writeStripe(t, s, batches, o)
	for i, col := range columns {
		var parts []arrow.Array
		for _, b := range batches {
			parts = append(parts, b.Column(i))
		}
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		c, err := openColumn(ctx, a, col, mem)
		require.NoError(t, err, col.Arrow)
		row := int64(0)
		for _, want := range parts {
			n := int64(want.Len())
			for _, cut := range [][2]int64{{0, n}, {0, n / 2}, {n / 2, n}, {n / 3, n/3 + n/7}} {
				got, err := c.Read(ctx, row+cut[0], row+cut[1])
				require.NoError(t, err, col.Arrow)
				require.True(t, arrow.TypeEqual(s.Field(i).Type, got.DataType()), "%s became %s", s.Field(i).Type, got.DataType())
				part := array.NewSlice(want, cut[0], cut[1])
				require.Equal(t, part.Len(), got.Len())
				require.Equal(t, -1, arrowutil.Difference(part, got), "column %s rows %d to %d", s.Field(i), row+cut[0], row+cut[1])
				got.Release()
				part.Release()
			}
			row += n
		}
		mem.AssertSize(t, 0)
	}
}

var profiles = []encoding.Profile{encoding.Balanced, encoding.ProfilePlain, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize}

// everyOption calls f with all profiles and editions.
func everyOption(t *testing.T, f func(t *testing.T, o write.Options)) {
	list := profiles
	if testing.Short() {
		list = list[:1]
	}
	for _, p := range list {
		for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
			t.Run(fmt.Sprintf("%v/%v", p, e), func(t *testing.T) {
				f(t, write.Options{Encoding: encoding.Options{Profile: p, Features: e.Features()}})
			})
			if e == edition.Reference {
				continue
			}
			t.Run(fmt.Sprintf("%v/apart", p), func(t *testing.T) {
				f(t, write.Options{Encoding: encoding.Options{Profile: p, Features: e.Features()}, NullsApart: true, OffsetsApart: true})
			})
		}
	}
}

// Values of one length, whose arrays share their offsets.
func TestValuesOfOneLength(t *testing.T) {
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary} {
		for _, nulls := range []bool{false, true} {
			s := arrow.NewSchema([]arrow.Field{{Name: "code", Type: dt, Nullable: true}}, nil)
			b := array.NewRecordBuilder(memory.DefaultAllocator, s)
			defer b.Release()
			for i := range 100_000 {
				if nulls && i%7 == 0 {
					b.Field(0).AppendNull()
				} else {
					require.NoError(t, b.Field(0).AppendValueFromString([]string{"AAAA", "AAEB", "ZZZZ"}[i*i%3]))
				}
			}
			batch := b.NewRecordBatch()
			defer batch.Release()
			check(t, s, []arrow.RecordBatch{batch, batch.NewSlice(5, 70_000)}, write.Options{})
		}
	}
}
