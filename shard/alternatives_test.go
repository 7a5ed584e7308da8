package shard_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// A field with an encoding in a Parquet file that cannot be read, and two native ones, is read, verified and copied with all of them.
func TestAlternativesAreCopied(t *testing.T) {
	ctx := context.Background()
	p := liesShard(t)
	p.Stripes[0].Fields[colInt].Edit = func(d *shardpb.StripeFieldDescriptor) {
		parquet := &shardpb.DataEncoding{Kind: &shardpb.DataEncoding_Parquet{Parquet: &shardpb.ExternalParquetDataEncoding{}}}
		d.Encodings = append([]*shardpb.DataEncoding{parquet}, d.Encodings[0], proto.CloneOf(d.Encodings[0]))
	}
	root := p.Join()
	Mend(root)
	s, err := shard.Open(ctx, Location, shard.OpenOptions{Store: OneFile(root)})
	require.NoError(t, err)
	defer s.Close()
	store := storage.NewMemory()
	require.NoError(t, shard.Pack(ctx, "mem://x/packed", shard.PackOptions{Store: store}, s))
	c, err := shard.Open(ctx, "mem://x/packed", shard.OpenOptions{Store: store})
	require.NoError(t, err)
	defer c.Close()
	for _, s := range []*shard.Shard{s, c} {
		rows := int64(0)
		for batch, err := range s.Scan(ctx, shard.ScanOptions{Columns: []string{"int"}}) {
			require.NoError(t, err)
			rows += batch.NumRows()
		}
		require.EqualValues(t, liesRows, rows)
	}
	r, err := store.Open(ctx, "mem://x/packed")
	require.NoError(t, err)
	raw, _, err := r.ReadSuffix(ctx, 1<<30)
	require.NoError(t, err)
	most := 0
	for _, d := range rawShard(raw).fields(t) {
		most = max(most, len(d.Encodings))
	}
	require.Equal(t, 3, most)
	report, err := shard.Verify(ctx, "mem://x/packed", shard.OpenOptions{Store: store}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.NotZero(t, report.Unchecked)
}

// A shard with two encodings of a column, of which one is changed: it is read as far as the first encoding is known, and verification finds the change.
func TestAlternativesChanged(t *testing.T) {
	const rows, changed = 700, 600
	split := func(change int64) *Parts {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		for i := range int64(rows) {
			if i == changed {
				i += change
			}
			b.Append(i * i % 1009)
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: b.Type()}}, nil)
		var out bytes.Buffer
		w, err := shard.NewWriter(t.Context(), &out, schema, shard.WriterOptions{Edition: shard.EditionReference, Alternative: &shard.Alternative{Edition: shard.EditionReference, Profile: encoding.ProfilePlain}})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, rows)))
		require.NoError(t, w.Close(t.Context()))
		p, err := Split(out.Bytes())
		require.NoError(t, err)
		f := p.Stripes[0].Fields[0]
		require.Len(t, f.Buffers, 3) // DATA, RANGE_INDEX, DATA
		f.Edit = func(d *shardpb.StripeFieldDescriptor) {
			all := d.Encodings[0].GetNative().Buffers
			d.Encodings = nil
			for _, buffers := range [][]*shardpb.EncodedBuffer{all[:2], all[2:]} {
				d.Encodings = append(d.Encodings, &shardpb.DataEncoding{Kind: &shardpb.DataEncoding_Native{Native: &shardpb.NativeDataEncoding{Buffers: buffers}}})
			}
		}
		return p
	}
	for name, c := range map[string]struct {
		change func(first, second *Buffer)
		damage bool // of the second
		found  string
	}{
		"equal":          {func(_, _ *Buffer) {}, false, ""},
		"second damaged": {func(_, _ *Buffer) {}, true, "checksum"},
		"first unknown": {func(first, _ *Buffer) {
			binary.LittleEndian.PutUint16(first.Blocks[0].Bytes[container.MarkSize:], 0x7eee)
		}, false, "0x7eee"},
		"other values": {func(_, second *Buffer) { second.Blocks = split(1).Stripes[0].Fields[0].Buffers[2].Blocks }, false, "encodings 1 and 2 differ in row 600"},
	} {
		t.Run(name, func(t *testing.T) {
			p := split(0)
			buffers := p.Stripes[0].Fields[0].Buffers
			c.change(buffers[0], buffers[2])
			var at uint64
			buffers[2].Edit = func(b *shardpb.EncodedBuffer) { at = b.Buffer.Range.Start }
			root := p.Join()
			Mend(root)
			if c.damage {
				root[at+20] ^= 1
			}
			s, err := shard.Open(t.Context(), Location, shard.OpenOptions{Store: OneFile(root)})
			require.NoError(t, err)
			defer s.Close()
			row := int64(0)
			for batch, err := range s.Scan(t.Context(), shard.ScanOptions{}) {
				require.NoError(t, err)
				for _, v := range batch.Column(0).(*array.Int64).Int64Values() {
					require.Equal(t, row*row%1009, v)
					row++
				}
			}
			require.EqualValues(t, rows, row)
			rep, err := shard.Verify(t.Context(), Location, shard.OpenOptions{Store: OneFile(root)}, provider.VerifyOptions{})
			require.NoError(t, err)
			if c.found == "" {
				require.Empty(t, rep.Problems)
				return
			}
			require.Len(t, rep.Problems, 1)
			require.ErrorContains(t, rep.Problems[0], c.found)
			require.ErrorContains(t, rep.Problems[0], `"n"`)
		})
	}
}
