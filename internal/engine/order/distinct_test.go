package order

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// distinctNaively lists the rows that differ from all before.
func distinctNaively(table arrow.RecordBatch) (rows []int64) {
	seen := map[string]bool{}
	for i := range int(table.NumRows()) {
		var values []any
		for _, c := range table.Columns() {
			values = append(values, goValue(c, i))
		}
		if key := fmt.Sprint(deep(values)); !seen[key] {
			seen[key] = true
			rows = append(rows, int64(i))
		}
	}
	return rows
}

// deep formats values so that different ones differ, and 0 is -0.
func deep(values []any) (out []string) {
	for _, v := range values {
		switch v := v.(type) {
		case list:
			out = append(out, fmt.Sprintf("list%q", deep(v)))
		case float64:
			out = append(out, fmt.Sprint("f", v+0))
		default:
			out = append(out, fmt.Sprintf("%T%v", v, v))
		}
	}
	return out
}

// TestDistinct compares the distinct rows of random tables with those that a map finds, with memory for all, some and few
// keys.
func TestDistinct(t *testing.T) {
	types := arrowgen.ReferenceTypes()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(8, 8))
	for i := range sweep.Count(len(types), 10*len(types)) {
		g := arrowgen.New(uint64(i))
		chosen := []arrow.DataType{types[i%len(types)]}
		if r.IntN(2) == 0 {
			chosen = append(chosen, types[r.IntN(len(types))])
		}
		rows := []int{0, 1, 30, 1000}[r.IntN(4)]
		with := random(g, chosen, rows)
		n := len(chosen)
		table := array.NewRecordBatch(arrow.NewSchema(with.Schema().Fields()[:n], nil), with.Columns()[:n], int64(rows))
		want := distinctNaively(table)
		for _, memory := range []int64{0, 1, 1 + r.Int64N(60_000)} {
			d, err := NewDistinct(with.Schema(), Options{})
			require.NoError(t, err)
			require.NoError(t, d.Close())
			d, err = NewDistinct(table.Schema(), Options{Memory: memory, TempDir: dir})
			require.NoError(t, err)
			var got []arrow.RecordBatch
			size := int64(1 + r.IntN(400))
			for begin := int64(0); begin < int64(rows); begin += size {
				b, err := d.Add(t.Context(), table.NewSlice(begin, min(begin+size, int64(rows))))
				require.NoError(t, err)
				if b != nil {
					got = append(got, b)
				}
			}
			require.NoError(t, d.Finish(t.Context()))
			got = append(got, readAll(t, d)...)
			require.NoError(t, d.Close())
			requireValues(t, table, want, got, "case %d: %v, memory %d", i, chosen, memory)
		}
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// Keys of any size have numbers in the order in which they are added, even those that have a chunk or several of their own.
func TestKeySetSizes(t *testing.T) {
	var s KeySet
	var keys [][]byte
	for i := range 300 {
		keys = append(keys, fmt.Appendf(nil, "%0*d", []int{1, 7, 8, 9, 5000}[i%5], i))
	}
	for i, size := range []int{mostChunk - recordHeader, mostChunk, 2*mostChunk + 3} {
		keys = append(keys, bytes.Repeat([]byte{byte(i)}, size), fmt.Appendf(nil, "behind %d", i))
	}
	keys = append(keys, nil)
	half := len(keys) / 2
	for range 2 {
		for from, k := range [][][]byte{keys[:half], keys} {
			numbers := make([]uint32, len(k))
			s.Number(numbers, func(i int) []byte { return k[i] }, from == 0)
			for i, n := range numbers {
				want := uint32(i + 1)
				if i >= half && s.Len() == half {
					want = 0
				}
				require.Equal(t, want, n)
			}
		}
		for i, k := range keys {
			n, added := s.Add(k)
			require.Equal(t, uint32(i), n)
			require.Equal(t, i >= half && s.Len() == i+1, added)
			n, known := s.Find(k)
			require.True(t, known)
			require.Equal(t, uint32(i), n)
		}
		half = len(keys)
	}
	require.Greater(t, s.Size(), int64(5*mostChunk))
}
