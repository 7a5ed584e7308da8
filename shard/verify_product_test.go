package shard_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// numbersBatch is a table of random numbers.
func numbersBatch(columns, rows int) arrow.RecordBatch {
	r := rand.New(rand.NewPCG(1, 2))
	var fields []arrow.Field
	var arrays []arrow.Array
	for i := range columns {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		for range rows {
			b.Append(int64(r.Uint64()))
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: arrow.PrimitiveTypes.Int64})
		arrays = append(arrays, b.NewArray())
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

// withStripes returns a shard of one stripe whose directory lists n stripes with the same field list.
func withStripes(t *testing.T, b []byte, n int) []byte {
	start, end, err := container.DirectoryRange(b, int64(len(b)))
	require.NoError(t, err)
	payload, err := container.ParseFrame(b[start:end])
	require.NoError(t, err)
	var d shardpb.ShardDirectory
	require.NoError(t, proto.Unmarshal(payload, &d))
	at := d.StripeListRef.Range
	payload, err = container.ParseFrame(b[at.Start:at.End])
	require.NoError(t, err)
	var list shardpb.StripeList
	require.NoError(t, proto.Unmarshal(payload, &list))
	require.Len(t, list.Stripes, 1)
	for i := 1; i < n; i++ {
		s := proto.CloneOf(list.Stripes[0])
		s.ShardPosition = uint64(i) * s.TotalRecordCount
		list.Stripes = append(list.Stripes, s)
	}
	d.StripeCount, d.TotalRecordCount = uint64(n), uint64(n)*list.Stripes[0].TotalRecordCount
	payload, err = proto.Marshal(&list)
	require.NoError(t, err)
	out := container.AppendFrame(b[:start:start], payload)
	d.StripeListRef = &commonpb.DataRef{Range: &commonpb.UInt64Range{Start: uint64(start), End: uint64(len(out))}}
	payload, err = proto.Marshal(&d)
	require.NoError(t, err)
	return container.AppendTail(out, payload)
}

// requireBoundedWork verifies and recovers a shard whose parts are shared, and limits the bytes read.
func requireBoundedWork(t *testing.T, b []byte) {
	faults := faultstore.New()
	open := shard.OpenOptions{Store: faults.Wrap(OneFile(b))}
	r, err := shard.Verify(t.Context(), Location, open, provider.VerifyOptions{Parallelism: 1})
	require.NoError(t, err)
	require.NotZero(t, r.Unchecked, "the report must say that not all was checked")
	require.LessOrEqual(t, faults.BytesRead(), int64(12*len(b)))
	require.LessOrEqual(t, len(r.Notes), 1000)
	faults.Reset()
	_, err = shard.Recover(t.Context(), Location, "mem://x/out", shard.RecoverOptions{Open: open, Store: storage.NewMemory(), Parallelism: 1})
	if err != nil {
		require.ErrorIs(t, err, shard.ErrLimit)
	}
	require.LessOrEqual(t, faults.BytesRead(), int64(12*len(b)))
}

// Many stripes that share a long field list do not cause work for each of their columns.
func TestSharedFieldList(t *testing.T) {
	p, err := Split(NewKind(t, "wide", numbersBatch(1000, 1), shard.WriterOptions{}).Root)
	require.NoError(t, err)
	requireBoundedWork(t, withStripes(t, p.Join(), 2000))
}

// Nor do many stripes that share a long buffer.
func TestSharedBuffer(t *testing.T) {
	p, err := Split(NewKind(t, "long", numbersBatch(1, 20_000), shard.WriterOptions{}).Root)
	require.NoError(t, err)
	var first *shardpb.EncodedBuffer
	data := p.Stripes[0].Fields[0].Buffer(shardpb.BufferKind_DATA)
	data.Edit = func(b *shardpb.EncodedBuffer) { first = proto.CloneOf(b) }
	p.Stripes[0].Fields[0].Buffers = []*Buffer{data}
	rows := p.Stripes[0].Directory.TotalRecordCount
	for i := range 100 {
		s := &Stripe{Directory: proto.CloneOf(p.Stripes[0].Directory)}
		s.Directory.ShardPosition = uint64(i+1) * rows
		other := &Buffer{Desc: proto.CloneOf(data.Desc), Raw: []byte{0}}
		other.Edit = func(b *shardpb.EncodedBuffer) {
			b.Buffer, b.BlockMap, b.InlineBlockMap = first.Buffer, first.BlockMap, first.InlineBlockMap
		}
		s.Fields = []*Field{{Desc: proto.CloneOf(p.Stripes[0].Fields[0].Desc), Buffers: []*Buffer{other}}}
		p.Stripes = append(p.Stripes, s)
	}
	p.Directory.StripeCount, p.Directory.TotalRecordCount = uint64(len(p.Stripes)), uint64(len(p.Stripes))*rows
	requireBoundedWork(t, p.Join())
}
