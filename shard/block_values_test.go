package shard

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
)

// No block has more values than the options allow, in any profile, and the values are the same.
func TestBlockValues(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "line", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	const rows = 70_000
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if i%13 == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("Oct %02d host sshd[%d]: session opened for user %d", i%30, i*7919%65536, i%7))
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	for _, profile := range []encoding.Profile{encoding.Balanced, encoding.HighCompression, encoding.MinimalSize} {
		for _, most := range []int{0, 8192, 16384} {
			location := filepath.Join(t.TempDir(), "x.shard")
			w, err := Create(t.Context(), location, s, WriterOptions{Profile: profile, BlockValues: most})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), batch))
			require.NoError(t, w.Close(t.Context()))
			requireSound(t, location)

			x, err := Open(t.Context(), location, OpenOptions{})
			require.NoError(t, err)
			row := 0
			for got, err := range x.Scan(t.Context(), ScanOptions{}) {
				require.NoError(t, err)
				part := batch.NewSlice(int64(row), int64(row)+got.NumRows())
				require.True(t, array.Equal(part.Column(1), got.Column(1)) && array.Equal(part.Column(0), got.Column(0)))
				part.Release()
				row += int(got.NumRows())
			}
			require.Equal(t, rows, row)
			if most > 0 {
				ran, err := x.analyze(t.Context(), ScanOptions{Columns: []string{"line"}})
				require.NoError(t, err)
				require.GreaterOrEqual(t, int(ran.Run.BlocksOfColumns), (rows+most-1)/most)
			}
			require.NoError(t, x.Close())
		}
	}
	for _, n := range []int{1, 4096, 10_000, 1 << 17} {
		_, err := Create(t.Context(), filepath.Join(t.TempDir(), "x.shard"), s, WriterOptions{BlockValues: n})
		require.ErrorContains(t, err, "BlockValues")
	}
}
