package shard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/storage"
)

// numbered returns a table whose first column has the row numbers.
func numbered(rows, columns int) table {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range rows {
		b.Append(int64(i))
	}
	g := arrowgen.New(1)
	types := []arrow.DataType{arrow.PrimitiveTypes.Int64}
	for i := 1; i < columns; i++ {
		types = append(types, []arrow.DataType{arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64, arrow.ListOf(arrow.PrimitiveTypes.Int32)}[i%3])
	}
	t := randomTable(g, types, rows)
	t.columns[0] = b.NewArray()
	return t
}

// numberedFrom returns data with row numbers from first on.
func numberedFrom(first int, data table) table {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range data.rows {
		b.Append(int64(first + i))
	}
	data.columns = append([]arrow.Array{b.NewArray()}, data.columns[1:]...)
	return data
}

func openTable(t testing.TB, data table, o WriterOptions) *Shard {
	t.Helper()
	if o.Store == nil {
		o.Store = storage.NewMemory()
	}
	writeTable(t, "mem://x/s", data, o, 1000)
	s, err := Open(context.Background(), "mem://x/s", OpenOptions{Store: o.Store})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// limitAlone is a ScanOptions.MemoryLimit that makes a scan decode every batch by itself, for batches of batchRows
// rows of a table with this number of columns. With more memory a scan decodes several batches at once and slices
// them: as many as fit into a quarter of the limit, at 16 bytes or more per value.
func limitAlone(batchRows, columns int) int64 { return int64(64 * batchRows * columns) }

// scanned returns the values of the first column and the sizes of batches.
func scanned(t testing.TB, s *Shard, o ScanOptions) (values []int64, batches []int64) {
	t.Helper()
	for b, err := range s.Scan(context.Background(), o) {
		require.NoError(t, err)
		values = append(values, b.Column(0).(*array.Int64).Int64Values()...)
		batches = append(batches, b.NumRows())
	}
	return values, batches
}

// between returns the numbers from one up to, but not including, another.
func between(from, to int) (out []int64) {
	for i := from; i < to; i++ {
		out = append(out, int64(i))
	}
	return out
}

func TestScanRows(t *testing.T) {
	data := numbered(1000, 2)
	s := openTable(t, data, WriterOptions{StripeRows: 300})
	require.Equal(t, 4, s.NumStripes())
	values, batches := scanned(t, s, ScanOptions{BatchRows: 200})
	require.Equal(t, between(0, 1000), values)
	require.Equal(t, []int64{200, 100, 200, 100, 200, 100, 100}, batches)

	alone := ScanOptions{BatchRows: 200, MemoryLimit: limitAlone(200, 2)}
	values, batches = scanned(t, s, alone)
	require.Equal(t, between(0, 1000), values)
	require.Equal(t, []int64{200, 100, 200, 100, 200, 100, 100}, batches)
	for b, err := range s.Scan(t.Context(), alone) {
		require.NoError(t, err)
		require.Zero(t, b.Column(0).Data().Offset(), "a slice of a larger batch")
	}

	values, batches = scanned(t, s, ScanOptions{Rows: []RowRange{{From: 590, To: 610}, {From: 0, To: 0}, {From: 3, To: 5}, {From: 4, To: 6}}})
	require.Equal(t, append(append(between(590, 610), 3, 4), 4, 5), values)
	require.Equal(t, []int64{10, 10, 2, 2}, batches)

	values, _ = scanned(t, s, ScanOptions{Stripes: []int{3, 1}})
	require.Equal(t, append(between(300, 600), between(900, 1000)...), values)

	values, _ = scanned(t, s, ScanOptions{Stripes: []int{1}, Rows: []RowRange{{From: 0, To: 310}, {From: 599, To: 1000}}})
	require.Equal(t, append(between(300, 310), 599), values)

	values, _ = scanned(t, s, ScanOptions{Rows: []RowRange{}})
	require.Empty(t, values)

	for _, o := range []ScanOptions{
		{Rows: []RowRange{{From: 5, To: 4}}}, {Rows: []RowRange{{From: 0, To: 1001}}}, {Rows: []RowRange{{From: -1, To: 4}}}, {Stripes: []int{4}}, {Limit: -1},
		{BatchRows: -1}, {Parallelism: -1}, {MemoryLimit: -1}, {Columns: []string{"nothing"}},
	} {
		_, err := s.Reader(context.Background(), o)
		require.Error(t, err, "%+v", o)
	}
	_, err := s.Reader(context.Background(), ScanOptions{Columns: []string{"c0", "none"}})
	require.ErrorIs(t, err, schema.ErrNoField)
}

func TestProjection(t *testing.T) {
	inner := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, arrow.Field{Name: "y", Type: arrow.BinaryTypes.String, Nullable: true})
	data := randomTable(arrowgen.New(5), []arrow.DataType{arrow.PrimitiveTypes.Int64, inner, arrow.ListOf(inner)}, 500)
	s := openTable(t, data, WriterOptions{})
	field := func(name string, dt arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: dt, Nullable: true}
	}
	x, y := arrow.StructOf(inner.Field(0)), arrow.StructOf(inner.Field(1))
	c0 := field("c0", arrow.PrimitiveTypes.Int64)
	for _, c := range []struct {
		paths []string
		want  []arrow.Field
	}{
		{[]string{"c2", "c0"}, []arrow.Field{field("c2", arrow.ListOf(inner)), c0}},
		{[]string{"c1.y", "c0"}, []arrow.Field{field("c1", y), c0}},
		{[]string{"c1.y", "c1.x"}, []arrow.Field{field("c1", inner)}},
		{[]string{"c2.item.x"}, []arrow.Field{field("c2", arrow.ListOf(x))}},
		{[]string{}, nil},
	} {
		r, err := s.Reader(context.Background(), ScanOptions{Columns: c.paths})
		require.NoError(t, err)
		require.True(t, r.Schema().Equal(arrow.NewSchema(c.want, nil)), "%v", r.Schema())
		rows := int64(0)
		for r.Next() {
			rows += r.RecordBatch().NumRows()
		}
		require.NoError(t, r.Err())
		r.Release()
		require.EqualValues(t, data.rows, rows)
	}
	for b, err := range s.Scan(context.Background(), ScanOptions{Columns: []string{"c1.y"}}) {
		require.NoError(t, err)
		got := b.Column(0).(*array.Struct)
		want := data.columns[1].(*array.Struct)
		for i := range got.Len() {
			require.Equal(t, want.IsNull(i), got.IsNull(i))
			if got.IsValid(i) {
				require.Equal(t, want.Field(1).ValueStr(i), got.Field(0).ValueStr(i))
			}
		}
	}
}

// TestSplitBatches scans with so little memory that batches must be split.
func TestSplitBatches(t *testing.T) {
	g := arrowgen.New(3)
	g.Nulls = 0
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range 100 {
		b.Append(strings.Repeat(string(rune('a'+i%26)), 1000+i))
	}
	data := numbered(100, 1)
	data.columns = append(data.columns, b.NewArray())
	data.schema = arrow.NewSchema([]arrow.Field{data.schema.Field(0), {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	s := openTable(t, data, WriterOptions{})
	for _, parallelism := range []int{1, 3} {
		sizes := requireScan(t, s, data, ScanOptions{MemoryLimit: 10_000, Parallelism: parallelism})
		require.Greater(t, len(sizes), 9)
		sizes = requireScan(t, s, data, ScanOptions{MemoryLimit: 100, Parallelism: parallelism})
		require.Len(t, sizes, 100)
	}
}

// TestLeaveEarly stops scans at every batch and checks that no goroutine or memory is left behind.
func TestLeaveEarly(t *testing.T) {
	data := numbered(2000, 7)
	s := openTable(t, data, WriterOptions{StripeRows: 512})
	check := leaktest.Goroutines(t)
	for stop := range 22 {
		for _, limit := range []int64{0, limitAlone(100, 7)} {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			batches := 0
			for _, err := range s.Scan(context.Background(), ScanOptions{BatchRows: 100, Parallelism: 4, MemoryLimit: limit, Allocator: mem}) {
				require.NoError(t, err)
				if batches++; batches > stop {
					break
				}
			}
			mem.AssertSize(t, 0)
			check()
		}
	}
}

// requireFirstRows checks that retained batches have the first rows of a table, and releases them.
func requireFirstRows(t testing.TB, retained []arrow.RecordBatch, data table) {
	t.Helper()
	row := int64(0)
	for _, b := range retained {
		for i, want := range data.columns {
			part := array.NewSlice(want, row, row+b.NumRows())
			require.Equal(t, -1, arrowutil.Difference(part, b.Column(i)))
			part.Release()
		}
		row += b.NumRows()
		b.Release()
	}
}

// TestReuse scans with reuse of memory. The values are the same, retained batches do not change, and no memory is
// left behind.
func TestReuse(t *testing.T) {
	data := numbered(100_000, 7)
	s := openTable(t, data, WriterOptions{StripeRows: 40_000})
	for _, o := range []ScanOptions{{Parallelism: 1}, {Parallelism: 3}, {Parallelism: 1, MemoryLimit: limitAlone(10_000, 7)}, {Parallelism: 3, MemoryLimit: limitAlone(10_000, 7)}} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		o.BatchRows, o.Reuse, o.Allocator = 10_000, true, mem
		requireScan(t, s, data, o)
		mem.AssertSize(t, 0)
		var kept []arrow.RecordBatch
		buffers := map[*byte]int{}
		for b, err := range s.Scan(context.Background(), o) {
			require.NoError(t, err)
			buffers[&b.Column(0).Data().Buffers()[1].Bytes()[0]]++
			if len(kept) < 3 {
				b.Retain()
				kept = append(kept, b)
			}
		}
		require.Less(t, len(buffers), 10, "no memory was used again")
		requireFirstRows(t, kept, data)
		mem.AssertSize(t, 0)
	}
}

// TestStringsOutliveBatches takes strings and a retained batch out of a scan in default settings, which uses
// memory of numbers again. Neither changes.
func TestStringsOutliveBatches(t *testing.T) {
	data := numbered(100_000, 7)
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range 100_000 {
		texts.Append(fmt.Sprintf("text %d of %d", i*i, i))
	}
	data.columns = append(data.columns, texts.NewArray())
	data.schema = arrow.NewSchema(append(data.schema.Fields(), arrow.Field{Name: "text", Type: arrow.BinaryTypes.String}), nil)
	s := openTable(t, data, WriterOptions{})
	for _, threads := range []int{1, 3} {
		var strings []string
		var retained []arrow.RecordBatch
		buffers := map[*byte]int{}
		for b, err := range s.Scan(context.Background(), ScanOptions{BatchRows: 10_000, Parallelism: threads}) {
			require.NoError(t, err)
			column := b.Column(len(data.columns) - 1).(*array.String)
			for i := range column.Len() {
				strings = append(strings, column.Value(i))
			}
			if buffers[&b.Column(0).Data().Buffers()[1].Bytes()[0]]++; len(retained) < 2 {
				b.Retain()
				retained = append(retained, b)
			}
		}
		require.Less(t, len(buffers), 10, "no memory was used again")
		for i, got := range strings {
			require.Equal(t, fmt.Sprintf("text %d of %d", i*i, i), got)
		}
		requireFirstRows(t, retained, data)
	}
}

func TestCancelScan(t *testing.T) {
	data := numbered(2000, 7)
	s := openTable(t, data, WriterOptions{})
	for _, o := range []ScanOptions{{Parallelism: 1}, {Parallelism: 4}, {Parallelism: 1, MemoryLimit: limitAlone(100, 7)}, {Parallelism: 4, MemoryLimit: limitAlone(100, 7)}} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		o.BatchRows, o.Allocator = 100, mem
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		var last error
		for _, err := range s.Scan(ctx, o) {
			if n++; n == 3 {
				cancel()
			}
			last = err
		}
		require.ErrorIs(t, last, context.Canceled)
		require.Equal(t, 4, n)
		mem.AssertSize(t, 0)
		cancel()
	}
}

func TestRecordReader(t *testing.T) {
	data := numbered(1000, 3)
	s := openTable(t, data, WriterOptions{})
	for _, limit := range []int64{0, limitAlone(300, 3)} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		r, err := s.Reader(context.Background(), ScanOptions{BatchRows: 300, MemoryLimit: limit, Allocator: mem})
		require.NoError(t, err)
		r.Retain()
		require.True(t, r.Next())
		kept := r.RecordBatch()
		kept.Retain()
		require.True(t, r.Next())
		r.Release()
		require.True(t, r.Next())
		r.Release()
		require.False(t, r.Next())
		require.NoError(t, r.Err())
		require.EqualValues(t, 300, kept.NumRows())
		require.EqualValues(t, 299, kept.Column(0).(*array.Int64).Value(299))
		kept.Release()
		mem.AssertSize(t, 0)
	}
}

// TestScanReadFaults makes the k-th read fail, for every k. The scan returns the batches before it, then the
// error.
func TestScanReadFaults(t *testing.T) {
	data := numbered(1500, 4)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{StripeRows: 700}, 1000)
	for _, o := range []ScanOptions{{Parallelism: 1}, {Parallelism: 3}, {Parallelism: 1, MemoryLimit: limitAlone(512, 4)}, {Parallelism: 3, MemoryLimit: limitAlone(512, 4)}} {
		for k := 1; ; k++ {
			faults := faultstore.New()
			faults.FailAt(faultstore.Read, k)
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			o.BatchRows, o.FetchGap, o.Allocator = 512, int64(k%2)*4096, mem
			rows, err := countRows(faults.Local(), location, o)
			mem.AssertSize(t, 0)
			if faults.Count(faultstore.Read) < k {
				require.NoError(t, err)
				require.Equal(t, 1500, rows)
				break
			}
			require.ErrorIs(t, err, faultstore.Err)
		}
	}
}

func countRows(store storage.Store, location string, o ScanOptions) (rows int, err error) {
	ctx := context.Background()
	s, err := Open(ctx, location, OpenOptions{Store: store, SuffixBytes: 1000})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for b, err := range s.Scan(ctx, o) {
		if err != nil {
			return rows, err
		}
		rows += int(b.NumRows())
	}
	return rows, nil
}

// TestConcurrentScans runs scans of one open shard at the same time.
func TestConcurrentScans(t *testing.T) {
	data := numbered(3000, 5)
	s := openTable(t, data, WriterOptions{StripeRows: 1000})
	done := make(chan error)
	const scans = 8
	for k := range scans {
		o := ScanOptions{BatchRows: 100 + k, Parallelism: 1 + k/2}
		if k%2 == 1 {
			o.MemoryLimit = limitAlone(o.BatchRows, 5)
		}
		go func() {
			rows := 0
			for b, err := range s.Scan(context.Background(), o) {
				if err != nil {
					done <- err
					return
				}
				rows += int(b.NumRows())
			}
			if rows != data.rows {
				done <- fmt.Errorf("%d rows", rows)
				return
			}
			done <- nil
		}()
	}
	for range scans {
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(time.Minute):
			t.Fatal("scans hang")
		}
	}
}

// TestOneRequestScan opens and scans a small shard with one read.
func TestOneRequestScan(t *testing.T) {
	data := numbered(100, 3)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{}, 100)
	faults := faultstore.New()
	s, err := Open(context.Background(), location, OpenOptions{Store: faults.Wrap(storage.Local{})})
	require.NoError(t, err)
	defer s.Close()
	requireScan(t, s, data, ScanOptions{})
	require.Equal(t, 1, faults.Count(faultstore.Read))
}

// Columns are those of the options, regardless of earlier scans.
func TestNamesWithZeros(t *testing.T) {
	data := numbered(1, 3)
	fields := data.schema.Fields()
	for i, name := range []string{"a\x00b", "a", "b"} {
		fields[i].Name = name
	}
	data.schema = arrow.NewSchema(fields, nil)
	s := openTable(t, data, WriterOptions{})
	for _, columns := range [][]string{{}, {"a", "b"}, {"a\x00b"}} {
		for b, err := range s.Scan(context.Background(), ScanOptions{Columns: columns}) {
			require.NoError(t, err)
			require.EqualValues(t, len(columns), b.NumCols(), "%q", columns)
		}
	}
	_, err := s.Reader(context.Background(), ScanOptions{Columns: []string{""}})
	require.ErrorIs(t, err, schema.ErrNoField)
}

// TestSmallBatches: small batches are slices of larger ones, so that each block is read once. RowRanges has the
// rows of each batch.
func TestSmallBatches(t *testing.T) {
	const rows = 150_000
	data := flightsLike(rows)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{StripeRows: 100_000}, 50_000)
	for _, parallelism := range []int{1, 3} {
		for _, size := range []int{100, 4096, 7000, 65_535} {
			s, store := openNoted(t, location)
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			o := ScanOptions{BatchRows: size, Parallelism: parallelism, Allocator: mem, Columns: []string{"c0", "delay"}}
			values, batches := scanned(t, s, o)
			require.Equal(t, between(0, rows), values)
			require.Len(t, batches, (100_000+size-1)/size+(50_000+size-1)/size, "batches of %d", size)
			switch again := store.again(s); {
			case parallelism > 1: // a worker that is late may open a column once more
			case DefaultBatchRows%size == 0:
				require.Empty(t, again)
			default: // a block may cross the end of a decoded batch
				require.LessOrEqual(t, len(again), 2*rows/60_000*len(o.Columns))
			}
			o.Filter = where(t, "delay >= 500")
			next := int64(0)
			for b, err := range s.Scan(context.Background(), o) {
				require.NoError(t, err)
				require.LessOrEqual(t, b.NumRows(), int64(size))
				k := 0
				for _, r := range b.RowRanges() {
					for row := r.From; row < r.To; row++ {
						require.Equal(t, row, b.Column(0).(*array.Int64).Value(k))
						k++
					}
				}
				require.EqualValues(t, k, b.NumRows())
				next += b.NumRows()
			}
			require.EqualValues(t, rows/2, next)
			mem.AssertSize(t, 0)
		}
	}
}

// TestColumnsOfOneName: a column that is requested twice comes once, at its first place. A second column of a
// name, and a column without a name, get unique names, in filters too.
func TestColumnsOfOneName(t *testing.T) {
	ctx := context.Background()
	data := numbered(100, 1)
	first := data.columns[0]
	taken, err := arrowutil.Take(memory.DefaultAllocator, first, between(1, 100))
	require.NoError(t, err)
	shifted, err := array.Concatenate([]arrow.Array{taken, array.NewSlice(first, 0, 1)}, memory.DefaultAllocator)
	require.NoError(t, err)
	data.columns = []arrow.Array{first, shifted, first}
	field := func(name string) arrow.Field { return arrow.Field{Name: name, Type: first.DataType()} }
	data.schema = arrow.NewSchema([]arrow.Field{field("a"), field("a"), field("")}, nil)
	s := openTable(t, data, WriterOptions{})
	row := func(text string, columns ...string) []string {
		for b, err := range s.Scan(ctx, ScanOptions{Filter: where(t, text), Columns: columns}) {
			require.NoError(t, err)
			require.EqualValues(t, 1, b.NumRows())
			var out []string
			for _, c := range b.Columns() {
				out = append(out, c.ValueStr(0))
			}
			return out
		}
		return nil
	}
	require.Equal(t, []string{"7", "8", "7"}, row("a = 7"))
	require.Equal(t, []string{"6", "7", "6"}, row(`"a#2" = 7`))
	require.Equal(t, []string{"6", "7", "6"}, row(`"a#2" = 7 and a = 6`))
	require.Equal(t, []string{"7", "8"}, row(`"#1" = 7 and a > 0`, "#1", "a#2", "#1", "a#2"))
	_, err = s.Reader(ctx, ScanOptions{Columns: []string{"a#3"}})
	require.ErrorIs(t, err, schema.ErrNoField)
}

// TestScanManyRanges scans many short ranges, in and out of order. Those that follow one another share batches.
func TestScanManyRanges(t *testing.T) {
	data := numbered(20_000, 2)
	s := openTable(t, data, WriterOptions{StripeRows: 7000})
	random := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		var ranges []RowRange
		var want []int64
		for at := int64(0); at < 20_000; {
			r := RowRange{From: at, To: min(at+random.Int64N(20), 20_000)}
			if random.IntN(50) == 0 {
				r = RowRange{From: 100, To: 103} // again, and out of order
			}
			ranges, want = append(ranges, r), append(want, between(int(r.From), int(r.To))...)
			at = max(at, r.To) + random.Int64N(3)*random.Int64N(40)
		}
		for _, o := range []ScanOptions{{}, {Limit: int64(len(want) / 2)}, {BatchRows: 100}, {Filter: where(t, "c0 >= 0")}, {Stripes: []int{1}}} {
			o.Rows = ranges
			for _, o.Parallelism = range []int{1, 3} {
				expected := want
				switch {
				case o.Limit > 0:
					expected = want[:o.Limit]
				case o.Stripes != nil:
					expected = slices.DeleteFunc(slices.Clone(want), func(n int64) bool { return n < 7000 || n >= 14_000 })
				}
				values, batches := scanned(t, s, o)
				require.Equal(t, expected, values)
				if o.BatchRows == 0 {
					require.Less(t, len(batches), len(ranges)/5)
				}
				for _, n := range batches {
					require.True(t, o.BatchRows == 0 || n <= int64(o.BatchRows))
				}
			}
		}
	}
}
