package shard_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// constants is a shard whose columns are constants, so that values take no bytes.
func constants(t *testing.T, rows int) *Parts {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "int", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "null", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "float", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "struct", Type: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8}), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for range rows {
		b.Field(0).(*array.Int64Builder).Append(7)
		b.Field(1).(*array.StringBuilder).Append("always")
		b.Field(2).AppendNull()
		b.Field(3).(*array.Float64Builder).Append(0.5)
		b.Field(4).(*array.StructBuilder).Append(true)
		b.Field(4).(*array.StructBuilder).FieldBuilder(0).(*array.Int8Builder).Append(3)
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	p, err := Split(NewKind(t, "constants", batch, shard.WriterOptions{}).Root)
	require.NoError(t, err)
	return p
}

// TestManyRowsWithoutBytes: a shard of a few kilobytes with 10^14 rows is checked quickly and completely.
func TestManyRowsWithoutBytes(t *testing.T) {
	const times, rows = 1_000_000_000_007, 100
	p := constants(t, rows)
	scale := func(n *uint64) {
		if n != nil {
			*n *= times
		}
	}
	field := func(f *shardpb.FieldDescriptor) {
		f.PositionCount *= times
		scale(f.NullCount)
		scale(f.RawDataSize)
		if s := f.GetStringStats(); s != nil {
			scale(s.AsciiCount)
		}
		if s := f.GetFloatingStats(); s != nil {
			s.PositiveCount *= times
		}
	}
	p.Directory.TotalRecordCount *= times
	scale(p.Directory.RawDataSize)
	for _, s := range p.Stripes {
		s.Directory.TotalRecordCount *= times
		scale(s.Directory.RawDataSize)
		for _, f := range s.Fields {
			require.Empty(t, f.Buffers)
			field(f.Desc.Field)
		}
	}
	for i, b := range p.Fields {
		m := &shardpb.FieldDescriptor{}
		require.NoError(t, proto.Unmarshal(b, m))
		field(m)
		var err error
		p.Fields[i], err = proto.Marshal(m)
		require.NoError(t, err)
	}
	r, root := verifyParts(t, p)
	require.Less(t, len(root), 8<<10)
	require.Empty(t, r.Problems)
	require.Empty(t, r.Notes)
	require.EqualValues(t, int64(6*times)*rows, r.Number("value"))

	*p.Stripes[0].Fields[2].Desc.Field.NullCount--
	r, _ = verifyParts(t, p)
	require.NotEmpty(t, r.Problems)
}

// TestConstantZeros: if the stripes of a shard of the reference are 0.0 and -0.0, the shard has 0.0. That is a
// note. A constant that no stripe has is a problem.
func TestConstantZeros(t *testing.T) {
	double := func(v float64) *commonpb.AnyValue {
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_DoubleValue{DoubleValue: v}}
	}
	for _, c := range []struct {
		first, second, whole float64
		note                 bool
	}{{0, math.Copysign(0, -1), 0, true}, {math.Copysign(0, -1), 0, 0, true}, {0, 0, 0, false}, {0, 1, 0, false}, {1, 1, 0, false}} {
		t.Run(fmt.Sprint(c.first, c.second, c.whole), func(t *testing.T) {
			s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
			b := array.NewRecordBuilder(memory.DefaultAllocator, s)
			defer b.Release()
			b.Field(0).(*array.Float64Builder).AppendValues([]float64{c.first, c.first, c.second, c.second}, nil)
			batch := b.NewRecordBatch()
			defer batch.Release()
			p, err := Split(NewKind(t, "zeros", batch, shard.WriterOptions{StripeRows: 2}).Root)
			require.NoError(t, err)
			m := &shardpb.FieldDescriptor{}
			require.NoError(t, proto.Unmarshal(p.Fields[0], m))
			m.ConstantValue = double(c.whole)
			p.Fields[0], err = proto.Marshal(m)
			require.NoError(t, err)
			r, _ := verifyParts(t, p)
			sound := c.first == c.whole && c.second == c.whole
			require.Equal(t, sound, r.OK(), "%v", r.Problems)
			require.Equal(t, c.note, len(r.Notes) > 0, "%v", r.Notes)
			for _, f := range append(r.Problems, r.Notes...) {
				require.NotContains(t, f.Error(), "nil")
				require.True(t, strings.Contains(f.Error(), `column "x"`), f)
			}
		})
	}
}

// TestCancelled: cancelled work ends without a report.
func TestCancelled(t *testing.T) {
	p := constants(t, 10)
	root := p.Join()
	Mend(root)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	open := shard.OpenOptions{Store: OneFile(root)}
	_, err := shard.Verify(ctx, Location, open, provider.VerifyOptions{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = shard.Recover(ctx, Location, "mem://x/out", shard.RecoverOptions{Open: open})
	require.ErrorIs(t, err, context.Canceled)
}
