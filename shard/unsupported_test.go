package shard_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// Features of the specification that this version does not support are errors with the name of the column, and all
// other columns can be read. Verify reports that it could not check the column, and no problem.
func TestUnsupportedColumns(t *testing.T) {
	ctx := context.Background()
	edit := func(do func(d *shardpb.StripeFieldDescriptor)) func(*Parts) {
		return func(p *Parts) { p.Stripes[0].Fields[colInt].Edit = do }
	}
	for _, c := range []struct {
		name, says string
		do         func(p *Parts)
	}{
		{"offsets beside numbers", "OFFSETS buffer of a Int64 column", func(p *Parts) {
			offsets := *buffer(p, colInt, data)
			offsets.Desc = &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_OFFSETS, BlockChecksums: offsets.Desc.BlockChecksums}
			f := p.Stripes[0].Fields[colInt]
			f.Buffers = append(f.Buffers, &offsets)
		}},
		{"a packed group before another encoding", "", edit(func(d *shardpb.StripeFieldDescriptor) {
			packed := &shardpb.NativeDataEncoding{PackedGroup: true}
			d.Encodings = append([]*shardpb.DataEncoding{{Kind: &shardpb.DataEncoding_Native{Native: packed}}}, d.Encodings...)
		})},
		{"a packed group", "packed group", edit(func(d *shardpb.StripeFieldDescriptor) { d.Encodings[0].GetNative().PackedGroup = true })},
		{"no column chunk of a Parquet file", "one column chunk of a Parquet file", edit(func(d *shardpb.StripeFieldDescriptor) {
			d.Encodings = []*shardpb.DataEncoding{{Kind: &shardpb.DataEncoding_Parquet{Parquet: &shardpb.ExternalParquetDataEncoding{}}}}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := liesShard(t)
			c.do(p)
			root := p.Join()
			Mend(root)
			open := shard.OpenOptions{Store: OneFile(root)}
			s, err := shard.Open(ctx, Location, open)
			require.NoError(t, err)
			defer s.Close()
			scan := func(columns ...string) (rows int64, err error) {
				for batch, err := range s.Scan(ctx, shard.ScanOptions{Columns: columns}) {
					if err != nil {
						return rows, err
					}
					rows += batch.NumRows()
				}
				return rows, nil
			}
			rows, err := scan("text", "code", "list", "bool", "decimal", "struct", "fixed list", "fixed bytes", "large list", "constant")
			require.NoError(t, err)
			require.EqualValues(t, liesRows, rows)
			_, err = scan("text", "int")
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, shard.ErrUnsupported)
			require.ErrorContains(t, err, `column "int"`)
			require.ErrorContains(t, err, c.says)
			report, err := shard.Verify(ctx, Location, open, provider.VerifyOptions{})
			require.NoError(t, err)
			require.False(t, report.OK())
			require.NotEmpty(t, report.Problems, "the shard declares a known edition")
			require.Regexp(t, `column "?int`, report.Problems[0].Error())
		})
	}
}
