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
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// The same rows give the same bytes, for any sizes of batches and any number of columns encoded in parallel.
func TestBytesDoNotDependOnBatches(t *testing.T) {
	for _, c := range []struct {
		rows  int64
		types []arrow.DataType
		o     encoding.Options
		apart bool
	}{
		{150_000, []arrow.DataType{
			arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean,
			&arrow.FixedSizeBinaryType{ByteWidth: 7}, &arrow.Decimal128Type{Precision: 12, Scale: 2}, arrow.ListOf(arrow.BinaryTypes.Binary),
			arrow.ListOf(arrow.PrimitiveTypes.Int64),
		}, encoding.Options{}, false},
		{500_000, []arrow.DataType{ // more segments than encoders
			arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, &arrow.Decimal128Type{Precision: 12, Scale: 2},
		}, encoding.Options{Features: edition.E2026.Features()}, false},
		{150_000, []arrow.DataType{arrow.BinaryTypes.String, arrow.ListOf(arrow.BinaryTypes.Binary)}, encoding.Options{Features: edition.E2026.Features()}, true},
	} {
		var fields []arrow.Field
		for i, dt := range c.types {
			fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: dt, Nullable: true})
		}
		s := arrow.NewSchema(fields, nil)
		n := c.rows
		whole := arrowgen.New(5).Batch(s, int(n))
		var want *artifact
		for i, cuts := range [][]int64{{n}, {1, 65_535, 65_536, 100_000, n}, {70_000, 140_000, n}, {0, n / 5, n * 2 / 5, n * 3 / 5, n * 4 / 5, n}} {
			var batches []arrow.RecordBatch
			from := int64(0)
			for _, to := range cuts {
				batches = append(batches, whole.NewSlice(from, to))
				from = to
			}
			got, _ := writeStripe(t, s, batches, write.Options{Parallelism: 1 + i, Encoding: c.o, OffsetsApart: c.apart})
			if want == nil {
				want = got
			}
			require.Equal(t, len(want.bytes), len(got.bytes), "cut at %v", cuts)
			require.True(t, bytes.Equal(want.bytes, got.bytes))
			for id, d := range want.nodes {
				require.Equal(t, d.String(), got.nodes[id].String())
			}
		}
	}
}

// Neither do those of columns that are short enough to be one block, or just not: a single block holds up to 8 MiB.
func TestBytesOfBriefColumns(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	for _, c := range []struct {
		rows, size, distinct int
		one                  bool
	}{
		{1000, 300, 1000, true}, {1000, 300, 10, false}, {64 << 10, 20, 64 << 10, true}, {64<<10 + 1, 20, 64<<10 + 1, false}, {128 << 10, 20, 128 << 10, false}, {128<<10 + 1, 20, 128<<10 + 1, false},
		{8 << 10, 1024, 8 << 10, true}, {8<<10 + 1, 1024, 8<<10 + 1, false},
	} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		for i := range c.rows {
			b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("%0*d", c.size, i%c.distinct*7919))
		}
		whole := b.NewRecordBatch()
		var want *artifact
		for i, size := range []int64{whole.NumRows(), 999, 5000} {
			var batches []arrow.RecordBatch
			for from := int64(0); from < whole.NumRows(); from += size {
				batches = append(batches, whole.NewSlice(from, min(from+size, whole.NumRows())))
			}
			got, _ := writeStripe(t, s, batches, write.Options{Parallelism: 1 + i, Encoding: encoding.Options{Features: edition.E2026.Features()}})
			if want == nil {
				want = got
			}
			require.True(t, bytes.Equal(want.bytes, got.bytes), "%+v", c)
		}
		check(t, s, []arrow.RecordBatch{whole}, write.Options{Encoding: encoding.Options{Features: edition.E2026.Features()}})
		if c.one {
			for _, node := range want.nodes {
				buffers := node.Encodings[0].GetNative().Buffers
				require.Len(t, buffers, 1, "%+v", c)
				require.EqualValues(t, 1, buffers[0].GetBlockCount(), "%+v", c)
			}
		}
	}
}

// A writer that is closed early waits for its workers, and leaves no goroutine or memory behind.
func TestCloseEarly(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	_, columns, err := arrowmap.FromArrow(s, arrowmap.Options{Features: edition.Only(edition.Unions)})
	require.NoError(t, err)
	batch := arrowgen.New(3).Batch(s, 200_000)
	defer leaktest.Goroutines(t)()
	for _, parallelism := range []int{1, 2, 4} {
		ctx, cancel := context.WithCancel(context.Background())
		budget := storage.NewBudget(1 << 20)
		w, err := write.NewWriter(columns, write.Options{Parallelism: parallelism, Budget: budget, TempDir: t.TempDir()})
		require.NoError(t, err)
		require.NoError(t, w.Write(ctx, batch.Columns(), int(batch.NumRows())))
		cancel()
		require.ErrorIs(t, w.Write(ctx, batch.Columns(), int(batch.NumRows())), context.Canceled)
		w.Close()
		require.Zero(t, budget.Used())
		_, err = w.Finish(context.Background())
		require.Error(t, err)
	}
}

// Close after Finish is optional and allowed.
func TestCloseAfterFinish(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64}}, nil)
	_, columns, err := arrowmap.FromArrow(s, arrowmap.Options{Features: edition.Only(edition.Unions)})
	require.NoError(t, err)
	ctx, batch := context.Background(), arrowgen.New(3).Batch(s, 1000)
	defer leaktest.Goroutines(t)()
	for range 2 {
		w, err := write.NewWriter(columns, write.Options{Parallelism: 3, Budget: storage.NewBudget(1 << 20), TempDir: t.TempDir()})
		require.NoError(t, err)
		require.NoError(t, w.Write(ctx, batch.Columns(), int(batch.NumRows())))
		f, err := w.Finish(ctx)
		require.NoError(t, err)
		w.Close()
		require.Equal(t, int64(1000), f.Rows)
		f.Release()
	}
}

// Large batches, values of several MiB, many blocks, reads across blocks.
func TestLarge(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int16), Nullable: true}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil)
	g := arrowgen.New(9)
	check(t, s, []arrow.RecordBatch{g.Batch(s, 200_000), g.Batch(s, 10), g.Batch(s, 131_072)}, write.Options{})
	b := array.NewRecordBuilder(g.Mem, arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.Binary, Nullable: true}}, nil))
	defer b.Release()
	for i := range 12 {
		v := make([]byte, i<<20)
		for k := range v {
			v[k] = byte(k * k >> 8 * i)
		}
		b.Field(0).(*array.BinaryBuilder).Append(v)
	}
	check(t, b.Schema(), []arrow.RecordBatch{b.NewRecordBatch()}, write.Options{})
}

func TestCancel(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	batch := arrowgen.New(1).Batch(s, 1000)
	a, cols := writeStripe(t, s, []arrow.RecordBatch{batch}, write.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	c, err := openColumn(ctx, a, cols[0], nil)
	require.NoError(t, err)
	cancel()
	_, err = c.Read(ctx, 0, 1000)
	require.ErrorIs(t, err, context.Canceled)
}

// Unknown buffers that would change the values are refused, not ignored.
func TestUnknownBuffersAreRefused(t *testing.T) {
	ctx := context.Background()
	s := arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	batch := arrowgen.New(1).Batch(s, 1000)
	open := func(change func(d *shardpb.StripeFieldDescriptor)) error {
		a, cols := writeStripe(t, s, []arrow.RecordBatch{batch}, write.Options{})
		change(a.nodes[cols[0].ID])
		_, err := openColumn(ctx, a, cols[0], nil)
		return err
	}
	native := func(d *shardpb.StripeFieldDescriptor) *shardpb.NativeDataEncoding { return d.Encodings[0].GetNative() }
	size := uint64(3)
	require.NoError(t, open(func(*shardpb.StripeFieldDescriptor) {}))
	require.ErrorIs(t, open(func(d *shardpb.StripeFieldDescriptor) { d.Field.DictionarySize = &size }), fault.ErrCorrupt)
	require.ErrorIs(t, open(func(d *shardpb.StripeFieldDescriptor) { native(d).PackedGroup = true }), fault.ErrUnsupported)
	require.ErrorIs(t, open(func(d *shardpb.StripeFieldDescriptor) {
		n := native(d)
		n.Buffers = append(n.Buffers, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_OFFSETS})
	}), fault.ErrUnsupported)
	// The first supported encoding is read.
	require.NoError(t, open(func(d *shardpb.StripeFieldDescriptor) {
		d.Encodings = append([]*shardpb.DataEncoding{{Kind: &shardpb.DataEncoding_Parquet{}}}, d.Encodings...)
	}))
}
