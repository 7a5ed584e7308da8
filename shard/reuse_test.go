package shard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	enginetable "github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/storage"
)

// TestTakesParseOnce takes single rows of a column with a dictionary of megabytes, which only the first take
// parses.
func TestTakesParseOnce(t *testing.T) {
	const rows, different = 200_000, 8_000
	ctx := context.Background()
	b := array.NewStringBuilder(memory.DefaultAllocator)
	r := rand.New(rand.NewPCG(1, 2))
	for range rows {
		b.Append(fmt.Sprintf("%064x", r.IntN(different)))
	}
	data := numbered(rows, 1)
	data.columns = append(data.columns, b.NewArray())
	data.schema = arrow.NewSchema([]arrow.Field{data.schema.Field(0), {Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	s := openTable(t, data, WriterOptions{})
	d, err := s.file.Stripe(0).Descriptor(ctx, schemaID(t, s, "s"))
	require.NoError(t, err)
	require.Greater(t, d.GetField().GetDictionarySize(), uint64(different/2))

	take := func(row int64) {
		b, err := s.Take(ctx, []int64{row}, TakeOptions{Parallelism: 1})
		require.NoError(t, err)
		require.Equal(t, data.columns[1].ValueStr(int(row)), b.Column(1).ValueStr(0))
		b.Release()
	}
	take(3)
	p, err := s.table.Project(ctx, nil)
	require.NoError(t, err)
	kept := func() enginetable.ColumnReader {
		c, err := s.table.Stripe(0).Open(ctx, &p.Columns[1], false, func() (storage.Prefetched, error) {
			return nil, errors.New("the column was not kept")
		})
		require.NoError(t, err)
		return c
	}
	first := kept()
	// The minimum over many takes: pools lose memory in some, under the race detector at random.
	least := uint64(math.MaxUint64)
	for i := range 50 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		take(int64(i * 777))
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	require.Less(t, least, uint64(64*different/4), "bytes for a row")
	require.True(t, first == kept(), "the column was opened again")
}

// TestSummaryReadsNoData: count, minimum, maximum and nulls of columns, nested ones included, and the approximate
// number of distinct values come from statistics, without reading data.
func TestSummaryReadsNoData(t *testing.T) {
	ctx := context.Background()
	data := flightsLike(100_000)
	delays := data.columns[2]
	nested, err := array.NewStructArray([]arrow.Array{delays, data.columns[1]}, []string{"delay", "origin"})
	require.NoError(t, err)
	data.columns = append(data.columns, nested)
	data.schema = arrow.NewSchema(append(data.schema.Fields(), arrow.Field{Name: "of", Type: nested.DataType()}), nil)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{StripeRows: 40_000}, 20_000)
	faults := faultstore.New()
	s, err := Open(ctx, location, OpenOptions{Store: faults.Wrap(storage.Local{})})
	require.NoError(t, err)
	defer s.Close()
	opened := faults.Count(faultstore.Read)
	for path, want := range map[string]struct {
		least, greatest string
		distinct        int64
	}{"c0": {"0", "99999", -1}, "delay": {"0", "999", -1}, "of.delay": {"0", "999", -1}, "origin": {"JFK", "SFO", 3}, "of.origin": {"JFK", "SFO", 3}} {
		x, err := s.statistics(ctx, path)
		require.NoError(t, err)
		require.Zero(t, x.Nulls, path)
		require.True(t, x.Exact, path)
		require.Equal(t, want.least, x.Min.ValueStr(0), path)
		require.Equal(t, want.greatest, x.Max.ValueStr(0), path)
		require.Equal(t, want.distinct, x.Distinct, path)
	}
	n, err := s.Count(ctx, where(t, "of is not null and c0 <= 99999 and of.origin >= 'JFK'"))
	require.NoError(t, err)
	require.EqualValues(t, 100_000, n)
	require.Equal(t, opened, faults.Count(faultstore.Read), "requests after the first")
}

// TestConcurrentUse uses all reading functions of one open shard at the same time.
func TestConcurrentUse(t *testing.T) {
	ctx := context.Background()
	const rows = 6000
	data := flightsLike(rows)
	s := openTable(t, data, WriterOptions{StripeRows: 2000})
	count := func(o ScanOptions) (n int64) {
		for b, err := range s.Scan(ctx, o) {
			if err != nil {
				t.Error(err)
				return 0
			}
			n += b.NumRows()
		}
		return n
	}
	uses := map[string]func(k int) error{
		"scan": func(k int) error { return differs(count(ScanOptions{BatchRows: 500, Parallelism: k}), rows) },
		"strings": func(k int) error {
			return differs(count(ScanOptions{Strings: StringLayout(k % 5), AsReady: true}), rows)
		},
		"filter": func(k int) error {
			return differs(count(ScanOptions{Filter: where(t, "delay = 17"), Parallelism: k}), 6)
		},
		"far": func(k int) error {
			return differs(count(fetchOptions(ScanOptions{Filter: where(t, "c0 < 1000 and origin <> 'x'"), Parallelism: k})), 1000)
		},
		"count": func(int) error {
			n, err := s.Count(ctx, where(t, "payload is not null and c0 >= 2500"))
			if err != nil {
				return err
			}
			return differs(n, rows-2500)
		},
		"take": func(k int) error {
			b, err := s.Take(ctx, []int64{rows - 1, 0, int64(k), int64(k)}, TakeOptions{Parallelism: k})
			if err != nil {
				return err
			}
			defer b.Release()
			return differs(b.Column(0).(*array.Int64).Value(3), int64(k))
		},
		"explain": func(int) error { _, err := s.analyze(ctx, ScanOptions{Filter: where(t, "origin = 'SFO'")}); return err },
		"summary": func(int) error { _, err := s.statistics(ctx, "origin"); return err },
		"schema":  func(int) error { _, err := s.ArrowSchema(ctx); return err },
	}
	var wg sync.WaitGroup
	for name, use := range uses {
		for k := range 3 {
			wg.Go(func() {
				for range 3 {
					if err := use(k + 1); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
	}
	wg.Wait()
}

func differs(got, want int64) error {
	if got != want {
		return fmt.Errorf("%d, expected %d", got, want)
	}
	return nil
}
