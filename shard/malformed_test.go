package shard_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// A batch with a malformed array is refused before anything walks it, and writing goes on behind it.
func TestWriteRefusesMalformedArrays(t *testing.T) {
	for name, arr := range arrowtest.Malformed() {
		if _, ok := arr.DataType().(arrow.UnionType); ok {
			continue // which the format lacks
		}
		t.Run(name, func(t *testing.T) {
			s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType(), Nullable: true}}, nil)
			batch := array.NewRecordBatch(s, []arrow.Array{arr}, int64(arr.Len()))
			good := array.NewRecordBatch(s, []arrow.Array{array.MakeArrayOfNull(memory.DefaultAllocator, arr.DataType(), 3)}, 3)
			for parallelism := range 2 {
				o := shard.WriterOptions{Store: storage.NewMemory(), Parallelism: 1 + parallelism, StripeRows: 2, StripeBytes: 7}
				created, err := shard.Create(t.Context(), "mem:///x.amudai.shard", s, o)
				require.NoError(t, err)
				o.Store = nil
				streamed, err := shard.NewWriter(t.Context(), &bytes.Buffer{}, s, o)
				require.NoError(t, err)
				for _, w := range []*shard.Writer{created, streamed} {
					require.ErrorIs(t, w.Write(t.Context(), batch), arrowutil.ErrMalformed)
					require.ErrorContains(t, w.Write(t.Context(), batch), `column "c"`)
					require.NoError(t, w.Write(t.Context(), good))
					require.NoError(t, w.Close(t.Context()))
				}
			}
		})
	}
}
