package shard

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/storage"
)

// requireTake compares taken rows with those of the table.
func requireTake(t require.TestingT, s *Shard, data table, rows []int64, o TakeOptions) {
	got, err := s.Take(context.Background(), rows, o)
	require.NoError(t, err)
	defer got.Release()
	require.True(t, got.Schema().Equal(data.schema), "%v", got.Schema())
	require.EqualValues(t, len(rows), got.NumRows())
	if len(rows) == 0 {
		return
	}
	for i, c := range got.Columns() {
		want, err := arrowutil.Take(memory.DefaultAllocator, data.columns[i], rows)
		require.NoError(t, err)
		require.Equal(t, -1, arrowutil.Difference(want, c), "column %d of type %v", i, c.DataType())
	}
}

// Few rows of a column with a value dictionary read few of its entries, until it pays to read all.
func TestTakeFewOfDictionary(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range 20_000 {
		if i%97 == 0 {
			b.AppendNull()
		} else {
			b.Append(fmt.Sprintf("entry %d of a dictionary", i*i%4999))
		}
	}
	data := table{arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}}, nil), []arrow.Array{b.NewStringArray()}, 20_000}
	for _, e := range []Edition{Edition2026, EditionReference} {
		s := openTable(t, data, WriterOptions{Edition: e})
		r := rand.New(rand.NewPCG(1, 2))
		for range 10 {
			n := r.Int64N(20_000)
			requireTake(t, s, data, []int64{n, 97 * 3, n, n / 2, 0}, TakeOptions{})
		}
	}
}

// TestTake takes rows of every type in any order, some of them repeatedly.
func TestTake(t *testing.T) {
	for i, dt := range arrowgen.Types() {
		if testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(dt.String(), func(t *testing.T) {
			data := randomTable(arrowgen.New(uint64(i)), []arrow.DataType{dt, arrow.PrimitiveTypes.Int64}, 3000)
			s := openTable(t, data, WriterOptions{StripeRows: 1100})
			r := rand.New(rand.NewPCG(1, uint64(i)))
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			for _, n := range []int{0, 1, 2, 10, 500} {
				rows := make([]int64, n)
				for k := range rows {
					rows[k] = r.Int64N(3000)
				}
				requireTake(t, s, data, rows, TakeOptions{Allocator: mem, Parallelism: n % 3})
			}
			requireTake(t, s, data, []int64{0, 5, 6, 7, 1099, 1100, 2999}, TakeOptions{Allocator: mem})
			requireTake(t, s, data, []int64{1101, 1102, 1200}, TakeOptions{Allocator: mem})
			requireTake(t, s, data, []int64{2999, 2999, 0, 0}, TakeOptions{Allocator: mem})
			if dt.ID() != arrow.DICTIONARY { // Arrow's concatenation, in the test, leaks these
				mem.AssertSize(t, 0)
			}
		})
	}
}

// TestTakeRandom takes from random tables, with caches of any size.
func TestTakeRandom(t *testing.T) {
	types := arrowgen.Types()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		g := arrowgen.New(rapid.Uint64().Draw(t, "seed"))
		g.Nulls = rapid.SampledFrom([]float64{0, 0.01, 0.5, 1}).Draw(t, "nulls")
		var chosen []arrow.DataType
		for range rapid.IntRange(0, 4).Draw(t, "columns") {
			chosen = append(chosen, rapid.SampledFrom(types).Draw(t, "type"))
		}
		data := randomTable(g, chosen, rapid.IntRange(1, 3000).Draw(t, "rows"))
		location := filepath.Join(dir, fmt.Sprintf("%d.shard", n))
		writeTable(t, location, data, WriterOptions{StripeRows: rapid.SampledFrom([]int64{0, 1 << 10, 77}).Draw(t, "stripe rows")}, 900)
		s, err := Open(context.Background(), location, OpenOptions{CacheBytes: rapid.SampledFrom([]int64{0, 1, 100_000}).Draw(t, "cache")})
		require.NoError(t, err)
		defer s.Close()
		for range 3 {
			rows := rapid.SliceOfN(rapid.Int64Range(0, int64(data.rows)-1), 0, 50).Draw(t, "rows taken")
			requireTake(t, s, data, rows, TakeOptions{Parallelism: rapid.IntRange(0, 3).Draw(t, "parallelism")})
		}
	})
}

func TestTakeRefuses(t *testing.T) {
	s := openTable(t, numbered(100, 2), WriterOptions{})
	for _, rows := range [][]int64{{-1}, {100}, {5, 1 << 40}} {
		_, err := s.Take(context.Background(), rows, TakeOptions{})
		require.ErrorContains(t, err, "of a table of 100 rows")
	}
	_, err := s.Take(context.Background(), []int64{1}, TakeOptions{Columns: []string{"nothing"}})
	require.ErrorIs(t, err, schema.ErrNoField)
	_, err = s.Take(context.Background(), nil, TakeOptions{Parallelism: -1})
	require.ErrorContains(t, err, "Parallelism")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.Take(ctx, []int64{1}, TakeOptions{})
	require.ErrorIs(t, err, context.Canceled)
	got, err := s.Take(context.Background(), []int64{7, 7, 3}, TakeOptions{Columns: []string{}})
	require.NoError(t, err)
	require.EqualValues(t, 3, got.NumRows())
}

// TestTakeTwice counts reads. A second take of an open shard reads only the blocks of its rows, one per column.
func TestTakeTwice(t *testing.T) {
	data := numbered(200_000, 4)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{}, 50_000)
	faults := faultstore.New()
	s, err := Open(context.Background(), location, OpenOptions{Store: faults.Wrap(storage.Local{})})
	require.NoError(t, err)
	defer s.Close()
	requireTake(t, s, data, []int64{3}, TakeOptions{})
	before, bytes := faults.Count(faultstore.Read), faults.BytesRead()
	requireTake(t, s, data, []int64{150_000, 150_001}, TakeOptions{})
	require.LessOrEqual(t, faults.Count(faultstore.Read)-before, 5) // a list has offsets, items, presence
	require.Less(t, faults.BytesRead()-bytes, s.file.Size()/2)
}

// TestTakeFaults makes the k-th read fail, for every k.
func TestTakeFaults(t *testing.T) {
	data := numbered(1500, 4)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{StripeRows: 700}, 1000)
	for k := 1; ; k++ {
		faults := faultstore.New()
		faults.FailAt(faultstore.Read, k)
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		err := takeOnce(faults, location, TakeOptions{Allocator: mem, Parallelism: 1 + k%3})
		mem.AssertSize(t, 0)
		if faults.Count(faultstore.Read) < k {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, faultstore.Err, "read %d", k)
	}
}

func takeOnce(faults *faultstore.Faults, location string, o TakeOptions) error {
	s, err := Open(context.Background(), location, OpenOptions{Store: faults.Local(), SuffixBytes: 1000})
	if err != nil {
		return err
	}
	defer s.Close()
	b, err := s.Take(context.Background(), []int64{3, 1400, 3, 690}, o)
	if err == nil {
		b.Release()
	}
	return err
}

// TestConcurrentTakes takes from one open shard in several goroutines, with a cache of few columns.
func TestConcurrentTakes(t *testing.T) {
	data := numbered(3000, 5)
	for _, cache := range []int64{0, 150_000} {
		store := storage.NewMemory()
		writeTable(t, "mem://x/s", data, WriterOptions{Store: store, StripeRows: 1000}, 1000)
		s, err := Open(context.Background(), "mem://x/s", OpenOptions{Store: store, CacheBytes: cache})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for k := range 4 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(k), 1))
				for range 20 {
					rows := make([]int64, 1+r.IntN(30))
					for i := range rows {
						rows[i] = r.Int64N(3000)
					}
					requireTake(t, s, data, rows, TakeOptions{Parallelism: 1 + k%2})
				}
			})
		}
		wg.Wait()
		require.NoError(t, s.Close())
	}
}
