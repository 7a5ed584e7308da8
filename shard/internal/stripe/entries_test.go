package stripe_test

import (
	"context"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// Repeat of an entry equals the rows with its code, and SelectCodes returns these rows.
func TestRepeatEntries(t *testing.T) {
	ctx := context.Background()
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	words := []string{"SFO", "a somewhat longer one", "", "LAX", "JFK", "null"}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	const n = 40_000
	for i := range n {
		if word := words[i*i%17%len(words)]; word != "null" {
			b.Append(word)
		} else {
			b.AppendNull()
		}
	}
	arr := b.NewArray()
	a, columns := writeStripe(t, s, []arrow.RecordBatch{array.NewRecordBatch(s, []arrow.Array{arr}, n)}, write.Options{})
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	c, err := openColumn(ctx, a, columns[0], mem)
	require.NoError(t, err)
	entries, err := c.Entries(ctx)
	require.NoError(t, err)
	require.NotNil(t, entries)
	all := rowset.All(n)
	for k := range entries.Len() {
		keep := make([]byte, entries.Len())
		keep[k] = 1
		rows, err := c.SelectCodes(ctx, all, keep)
		require.NoError(t, err)
		same, err := c.Repeat(ctx, k, rows.Len())
		require.NoError(t, err)
		read, err := c.ReadRows(ctx, rows)
		require.NoError(t, err)
		require.True(t, array.Equal(read, same), "%v; want %v", same, read)
		require.Positive(t, rows.Len())
		var want []int64
		for i := range n {
			if entries.IsNull(k) && arr.IsNull(i) || entries.IsValid(k) && arr.IsValid(i) && entries.ValueStr(k) == arr.ValueStr(i) {
				want = append(want, int64(i))
			}
		}
		requireSet(t, want, rows)
		same.Release()
		read.Release()
	}
	for kept := range 1 << entries.Len() { // every set of entries
		keep := make([]byte, entries.Len())
		var want rowset.Set
		for k := range keep {
			if kept>>k&1 != 0 {
				keep[k] = 1
				one := make([]byte, len(keep))
				one[k] = 1
				rows, err := c.SelectCodes(ctx, all, one)
				require.NoError(t, err)
				want = want.Or(rows)
			}
		}
		got, err := c.SelectCodes(ctx, all, keep)
		require.NoError(t, err)
		requireSet(t, slices.Collect(want.Rows()), got)
	}
	_, err = c.Repeat(ctx, entries.Len()+3, 10)
	require.Error(t, err)
	mem.AssertSize(t, 0)
}
