package shard

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Batches of a filtered scan combine the few matches of neighbouring batches. They do not depend on parallelism as
// long as tasks are the same, and are never longer than BatchRows.
func TestFewRowsMakeOneBatch(t *testing.T) {
	const rows = 40_000
	s := openTable(t, numbered(rows, 7), WriterOptions{StripeRows: 20_000})
	schema, err := s.ArrowSchema(t.Context())
	require.NoError(t, err)
	name := schema.Field(0).Name
	for _, test := range []struct {
		where string
		want  []int64 // rows of the batches, with one worker
	}{
		{"in (3, 1003, 2003, 16003, 20003)", []int64{3, 1, 1}}, // of 16 batches, then 4, then another stripe
		{"between 990 and 1999", []int64{10, 1000}},            // together they are too many
		{"between 995 and 3004", []int64{5, 1000, 1000, 5}},
		{"between 500 and 1500", []int64{500, 501}}, // the first has enough
		{"> 30000", []int64{999, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}},
		{"= 1", []int64{1}},
		{"< 0", nil},
	} {
		where, err := filter.Parse(name + " " + test.where)
		require.NoError(t, err)
		for _, o := range []ScanOptions{{Parallelism: 1}, {Parallelism: 2}, {Parallelism: 3, AsReady: true}, {Parallelism: 1, Limit: 7}, {Parallelism: 2, Limit: 504}} {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			o.BatchRows, o.Filter, o.Allocator = 1000, where, mem
			o.MemoryLimit = limitAlone(1000, 7)
			o.Disable = Statistics | RangeIndexes
			var got []int64
			all := int64(0)
			for batch, err := range s.Scan(context.Background(), o) {
				require.NoError(t, err)
				require.LessOrEqual(t, batch.NumRows(), int64(1000))
				require.Equal(t, batch.NumRows(), rowset.Of(batch.RowRanges()...).Len())
				got = append(got, batch.NumRows())
				all += batch.NumRows()
			}
			mem.AssertSize(t, 0)
			want := int64(0)
			for _, n := range test.want {
				want += n
			}
			if o.Limit > 0 {
				want = min(want, o.Limit)
			}
			require.Equal(t, want, all, "%s with %d workers", test.where, o.Parallelism)
			if o.Parallelism == 1 && o.Limit == 0 {
				require.Equal(t, test.want, got, test.where)
			}
			for range s.Scan(context.Background(), o) {
				break
			}
			mem.AssertSize(t, 0)
		}
	}
}
