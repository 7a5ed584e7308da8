package shard_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/shard"
)

// clustered writes a shard of rows with values that are hard to order, and two columns of random numbers.
func clustered(t testing.TB, rows int, o shard.WriterOptions) string {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "float", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "few", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "a", Type: arrow.PrimitiveTypes.Int32}, {Name: "b", Type: arrow.PrimitiveTypes.Int32},
	}, nil))
	defer b.Release()
	random := rand.New(rand.NewPCG(uint64(rows), 1))
	floats := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, 1e300, -7.5}
	texts := []string{"", "a", "b", strings.Repeat("x", 100), strings.Repeat("x", 100) + "y", "ä"}
	for i := range rows {
		k := random.IntN(1000)
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Float64Builder).Append(floats[k%8])
		if b.Field(2).(*array.StringBuilder).Append(texts[k%6]); k%3 == 0 {
			b.Field(3).AppendNull()
		} else {
			b.Field(3).(*array.BooleanBuilder).Append(k%3 == 1)
		}
		b.Field(4).(*array.Int32Builder).Append(int32(random.IntN(1 << 20)))
		b.Field(5).(*array.Int32Builder).Append(int32(random.IntN(1 << 20)))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	location := filepath.Join(t.TempDir(), "clustered.amudai.shard")
	w, err := shard.Create(t.Context(), location, batch.Schema(), o)
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
	return location
}

// A shard that is clustered has the same rows, in an order that does not depend on memory, and in which rows of equal values keep theirs.
func TestCluster(t *testing.T) {
	t.Parallel() // it waits for disks
	for _, rows := range []int{0, 1, 1500} {
		for _, by := range []string{"float,text", "text,few,-float", "id % 16,text", "few,text", "few,float,text,id,a,b,id % 3,b % 7"} {
			var first []int64
			for _, budget := range []int64{0, 64 << 10} {
				location := clustered(t, rows, shard.WriterOptions{StripeRows: 700, Indexes: []shard.IndexDefinition{{Type: shard.HashIndex, Columns: []string{"id"}}}})
				if rows > 1 {
					_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 600, To: 800}}})
					require.NoError(t, err)
				}
				want := shownIDs(t, location, filter.Expr{})
				nan := shownIDs(t, location, filter.Eq(filter.Col("float"), math.Inf(1)))
				_, err := shard.Compact(t.Context(), location, shard.CompactOptions{Cluster: by, EditOptions: shard.EditOptions{MemoryBytes: budget}})
				require.NoError(t, err)
				got := shownIDs(t, location, filter.Expr{})
				if budget == 0 {
					first = slices.Clone(got)
				}
				require.Equal(t, first, got, "with less memory")
				slices.Sort(got)
				require.Equal(t, want, got)
				again := shownIDs(t, location, filter.Eq(filter.Col("float"), math.Inf(1)))
				slices.Sort(again)
				require.Equal(t, nan, again)
				requireClean(t, location, shard.OpenOptions{})
			}
		}
	}
	location := clustered(t, 10, shard.WriterOptions{})
	for text, o := range map[string]shard.CompactOptions{
		"either sorted or clustered": {Cluster: "a,b", Sort: "a"}, "2 to 8": {Cluster: "a"}, "not by 9": {Cluster: "a,b,a,b,a,b,a,b,a"}, "nothing": {Cluster: "a,nothing"},
	} {
		_, err := shard.Compact(t.Context(), location, o)
		require.ErrorContains(t, err, text)
	}
}

// Conditions on each of the columns read a part of a clustered shard only, where a sort serves the first one.
func TestClusterReadsLittle(t *testing.T) {
	location := clustered(t, 200_000, shard.WriterOptions{})
	read := func(where string) (n int64) {
		e, err := filter.Parse(where)
		require.NoError(t, err)
		f := faultstore.New()
		s, err := shard.Open(t.Context(), location, shard.OpenOptions{Store: f.Local()})
		require.NoError(t, err)
		defer s.Close()
		f.Reset()
		_, err = s.Count(t.Context(), e)
		require.NoError(t, err)
		return f.BytesRead()
	}
	compact := func(o shard.CompactOptions) (a, b int64) {
		o.BlockValues = 8192
		_, err := shard.Compact(t.Context(), location, o)
		require.NoError(t, err)
		return read("a between 500000 and 510000"), read("b between 500000 and 510000")
	}
	sortedA, sortedB := compact(shard.CompactOptions{Sort: "a,b"})
	a, b := compact(shard.CompactOptions{Cluster: "a,b"})
	t.Logf("sorted by a,b: %d and %d bytes are read; clustered: %d and %d", sortedA, sortedB, a, b)
	require.Less(t, b, sortedB/2)
	require.Less(t, a, sortedB/2)
}
