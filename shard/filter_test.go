package shard

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/filtertest"
	"github.com/amudai/amudai-go/storage"
)

// requireRows compares a scan with rows of a table.
func requireRows(t require.TestingT, s *Shard, data table, rows []int64, o ScanOptions) {
	var found []int64
	for batch, err := range s.Scan(context.Background(), o) {
		require.NoError(t, err)
		n := int(batch.NumRows())
		require.Positive(t, n, "an empty batch")
		set := rowset.Of(batch.RowRanges()...)
		require.Equal(t, batch.RowRanges(), slices.Collect(set.Ranges()), "ranges that ascend and do not touch")
		got := slices.Collect(set.Rows())
		require.Len(t, got, n, "rows of a batch of %d", n)
		stripe := s.file.Stripe(batch.Stripe)
		require.True(t, got[0] >= stripe.Position() && got[n-1] < stripe.Position()+stripe.Rows(), "stripe %d", batch.Stripe)
		for i, c := range batch.Columns() {
			want, err := arrowutil.Take(memory.DefaultAllocator, data.columns[i], got)
			require.NoError(t, err)
			if !arrow.TypeEqual(want.DataType(), c.DataType()) {
				// Arrow looks into maps below large lists and views, where equal types differ.
				require.Equal(t, want.DataType().String(), c.DataType().String())
			}
			require.Equal(t, -1, arrowutil.Difference(want, c), "column %d of type %v where %v", i, c.DataType(), o.Filter)
		}
		found = append(found, got...)
	}
	if o.AsReady {
		slices.Sort(found)
	}
	want := rows
	if o.Limit > 0 {
		want = rows[:min(len(rows), int(o.Limit))]
		if o.AsReady {
			require.Len(t, found, len(want), "limit")
			want = slices.DeleteFunc(slices.Clone(rows), func(r int64) bool { _, ok := slices.BinarySearch(found, r); return !ok })
		}
	}
	require.True(t, slices.Equal(want, found), "%d rows where %v without %b, expected %d", len(found), o.Filter, o.Disable, len(want))
}

// clustered returns data in long runs of similar values, which statistics and indexes can decide, and with a
// column of few distinct values of each type.
func clustered(g *arrowgen.Gen, r *rand.Rand, types []arrow.DataType, rows int) table {
	data := randomTable(g, types, rows)
	for i, c := range data.columns {
		if r.IntN(2) == 0 {
			continue
		}
		indices := make([]int64, rows)
		at, few := int64(0), 1+r.Int64N(8)
		for k := range indices {
			if r.IntN(100) == 0 {
				at = r.Int64N(min(few*5, int64(rows)))
			}
			indices[k] = at
		}
		taken, err := arrowutil.Take(memory.DefaultAllocator, c, indices)
		if err == nil {
			data.columns[i] = taken
		}
	}
	return data
}

// TestFilterAgainstOracle compares the rows of filtered scans with those of an independent evaluation, for any
// disabled sources and any sizes of stripes, batches and reads.
func TestFilterAgainstOracle(t *testing.T) { filterAgainstOracle(t, false) }

// TestFilterOfDeletedRows does the same with shards that have indexes and deleted rows.
func TestFilterOfDeletedRows(t *testing.T) { filterAgainstOracle(t, true) }

func filterAgainstOracle(t *testing.T, deletes bool) {
	types := arrowgen.Types()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		most, questions := 3000, 8
		if deletes {
			most, questions = 1000, 4
		}
		seed := rapid.Uint64().Draw(t, "seed")
		r := rand.New(rand.NewPCG(seed, 3))
		g := arrowgen.New(seed)
		g.Nulls = rapid.SampledFrom([]float64{0, 0.01, 0.5, 1}).Draw(t, "nulls")
		var chosen []arrow.DataType
		for range rapid.IntRange(1, 4).Draw(t, "columns") {
			chosen = append(chosen, rapid.SampledFrom(types).Draw(t, "type"))
		}
		data := clustered(g, r, chosen, rapid.IntRange(1, most).Draw(t, "rows"))
		location := filepath.Join(dir, fmt.Sprintf("%d.shard", n))
		wo := WriterOptions{
			Edition:    editionFor(chosen, rapid.SampledFrom([]edition.Edition{edition.Reference, edition.E2026}).Draw(t, "edition")),
			Profile:    encoding.Profile(rapid.IntRange(0, 4).Draw(t, "profile")),
			StripeRows: rapid.SampledFrom([]int64{0, 1 << 10, 300}).Draw(t, "stripe rows"),
		}
		shown := func(rows []int64) []int64 { return rows }
		if deletes {
			wo.Edition, wo.NullsApart, wo.OffsetsApart, wo.Layout = edition.E2026, rapid.Bool().Draw(t, "nulls apart"), rapid.Bool().Draw(t, "offsets apart"), Layout(rapid.IntRange(0, 1).Draw(t, "layout"))
			wo.Packed = packable(data, rapid.Bool().Draw(t, "packed"))
			writeTable(t, location, data, wo, 900)
			shown = indexAndDelete(t, location, data)
		} else {
			writeTable(t, location, data, wo, 900)
		}
		s, err := Open(context.Background(), location, OpenOptions{})
		require.NoError(t, err)
		defer s.Close()
		conditions := filtertest.New(seed, data.batch(0, data.rows))
		conditions.Computed = n%2 == 0
		for range questions {
			e, oracle := conditions.Condition()
			rows := shown(oracle.Rows(data.rows))
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			o := ScanOptions{
				Filter: e, Allocator: mem, Disable: Sources(rapid.IntRange(0, 15).Draw(t, "disabled")),
				BatchRows:   rapid.SampledFrom([]int{0, 1000, 170}).Draw(t, "batch rows"),
				Parallelism: rapid.IntRange(1, 3).Draw(t, "parallelism"),
				MemoryLimit: rapid.SampledFrom([]int64{0, 0, 2000, limitAlone(170, len(chosen)), 400_000}).Draw(t, "limit"),
				FetchGap:    rapid.SampledFrom([]int64{0, 1, 5000}).Draw(t, "gap"),
				FetchBytes:  rapid.SampledFrom([]int64{0, 1000}).Draw(t, "fetch"),
				Limit:       rapid.SampledFrom([]int64{0, 0, 1, 500}).Draw(t, "most"),
				AsReady:     rapid.Bool().Draw(t, "as ready"),
			}
			requireRows(t, s, data, rows, o)
			require.Zero(t, mem.CurrentAlloc(), "bytes not released")
			count, err := s.Count(context.Background(), e) // which makes no arrays of numbers
			require.NoError(t, err)
			require.Equal(t, int64(len(rows)), count, "%v", e)
		}
		if deletes {
			all := make([]int64, data.rows)
			for i := range all {
				all[i] = int64(i)
			}
			requireRows(t, s, data, shown(all), ScanOptions{Parallelism: 2})
			for _, row := range all[:min(30, len(all))] {
				b, err := s.Take(context.Background(), []int64{row}, TakeOptions{})
				if slices.Contains(shown(all), row) {
					require.NoError(t, err)
					b.Release()
				} else {
					require.ErrorContains(t, err, "deleted")
				}
			}
		}
	})
}

// packable is a group of all columns that can be packed, if they shall be.
func packable(data table, pack bool) [][]string {
	var names []string
	for _, f := range data.schema.Fields() {
		if pack && (arrow.IsInteger(f.Type.ID()) || arrow.IsBaseBinary(f.Type.ID())) {
			names = append(names, f.Name)
		}
	}
	if len(names) < 2 {
		return nil
	}
	return [][]string{names}
}

// indexAndDelete builds indexes of columns that can have them, before rows are deleted and after that. The result drops deleted rows of a list.
func indexAndDelete(t *rapid.T, location string, data table) func(rows []int64) []int64 {
	ctx := context.Background()
	kinds := map[string]bool{}
	index := func() {
		for _, f := range data.schema.Fields() {
			all := []string{HashIndex, HashmapIndex}
			if id := f.Type.ID(); id == arrow.STRING || id == arrow.LARGE_STRING || id == arrow.STRING_VIEW {
				all = []string{TermIndex, InvertedIndex, HashIndex, HashmapIndex, RangeIndex}
			} else if !arrow.IsInteger(id) {
				continue
			}
			d := IndexDefinition{Type: rapid.SampledFrom(all).Draw(t, "index"), Columns: []string{schema.Escape(f.Name)}, PerStripe: rapid.Bool().Draw(t, "per stripe")}
			if key := d.Type + f.Name; !kinds[key] {
				kinds[key] = true
				require.NoError(t, AddIndex(ctx, location, EditOptions{}, d))
			}
		}
	}
	if rapid.Bool().Draw(t, "indexes before") {
		index()
	}
	gone := rowset.Set{}
	for range rapid.IntRange(1, 4).Draw(t, "deletes") {
		from := rapid.Int64Range(0, int64(data.rows)-1).Draw(t, "from")
		step, count := rapid.Int64Range(1, 9).Draw(t, "step"), rapid.Int64Range(1, 1000).Draw(t, "count")
		var ranges []RowRange
		for row := from; row < int64(data.rows) && row < from+step*count; row += step {
			ranges = append(ranges, RowRange{From: row, To: row + 1})
		}
		_, err := Delete(ctx, location, EditOptions{}, Rows{Ranges: ranges})
		require.NoError(t, err)
		gone = gone.Or(rowset.Of(ranges...))
	}
	if rapid.Bool().Draw(t, "indexes after") {
		index()
	}
	return func(rows []int64) []int64 {
		return slices.DeleteFunc(slices.Clone(rows), gone.Contains)
	}
}

// flightsLike returns a table with a sorted column, strings with few distinct values, and others.
func flightsLike(rows int) table {
	g := arrowgen.New(7)
	g.Nulls = 0
	data := numbered(rows, 1)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	d := array.NewFloat64Builder(memory.DefaultAllocator)
	for i := range rows {
		b.Append([]string{"SFO", "LAX", "JFK", "ORD"}[i*i%7%4])
		d.Append(float64(i % 1000))
	}
	payload := g.Array(arrow.BinaryTypes.String, rows)
	data.columns = append(data.columns, b.NewArray(), d.NewArray(), payload)
	fields := []arrow.Field{data.schema.Field(0)}
	for i, name := range []string{"origin", "delay", "payload"} {
		fields = append(fields, arrow.Field{Name: name, Type: data.columns[i+1].DataType(), Nullable: true})
	}
	data.schema = arrow.NewSchema(fields, nil)
	return data
}

// where parses a filter.
func where(t testing.TB, text string) filter.Expr {
	e, err := filter.Parse(text)
	require.NoError(t, err)
	return e
}

// A filter reads only the struct fields that it names, unless a name does not exist.
func TestFilterFields(t *testing.T) {
	ctx := context.Background()
	data := numbered(100, 300)
	s := openTable(t, data, WriterOptions{})
	for text, want := range map[string]int{"c7 is not null and c299 is not null": 2, "c0 < 5 or c0 > 7": 1, "true": 0} {
		p, err := s.table.ProjectTops(ctx, where(t, text).Columns())
		require.NoError(t, err)
		require.Len(t, p.Columns, want, text)
	}
	_, err := s.Count(ctx, where(t, "C7 = 1"))
	require.ErrorContains(t, err, `there is no column "C7": is c7 meant?`)
	_, err = s.Count(ctx, where(t, `"a.b" = 1`))
	require.ErrorContains(t, err, "there is no column")
}

// TestFilterColumns: a filter may use columns that are not in the result, and parts of structs.
func TestFilterColumns(t *testing.T) {
	data := flightsLike(5000)
	s := openTable(t, data, WriterOptions{StripeRows: 2000})
	count := func(text string, columns []string) (rows int64) {
		for b, err := range s.Scan(context.Background(), ScanOptions{Filter: where(t, text), Columns: columns}) {
			require.NoError(t, err)
			require.EqualValues(t, len(columns), b.NumCols())
			rows += b.NumRows()
		}
		return rows
	}
	require.EqualValues(t, 1, count("c0 = 4321", []string{"payload"}))
	require.EqualValues(t, 1, count("c0 = 4321", []string{}))
	require.EqualValues(t, 10, count("c0 between 1995 and 2004", []string{"c0", "delay"}))
	require.EqualValues(t, 5, count("delay = 17", []string{"origin"}))
	require.EqualValues(t, 0, count("origin = 'XYZ'", []string{"origin"}))
	require.EqualValues(t, 5000, count("c0 >= 0", []string{"c0"}))
	_, err := s.Reader(context.Background(), ScanOptions{Filter: where(t, "nothing = 1")})
	require.ErrorContains(t, err, "nothing")
	_, err = s.Reader(context.Background(), ScanOptions{Filter: where(t, "c0 like 'x'")})
	require.Error(t, err)
}

// TestFilterRows: ranges and stripes also limit filtered scans.
func TestFilterRows(t *testing.T) {
	data := flightsLike(5000)
	s := openTable(t, data, WriterOptions{StripeRows: 2000})
	want := []int64{1999, 2000, 2001}
	for _, o := range []ScanOptions{
		{Filter: where(t, "c0 in (3, 1999, 2000, 2001, 4500)"), Rows: []RowRange{{From: 10, To: 2500}}},
		{Filter: where(t, "c0 > 1998 and c0 < 2002")},
		{Filter: where(t, "not (c0 <= 1998 or c0 >= 2002)"), Stripes: []int{0, 1}},
	} {
		for _, o.Parallelism = range []int{1, 2} {
			requireRows(t, s, data, want, o)
		}
	}
}

// TestFilterConcurrently runs filters on one open shard at the same time.
func TestFilterConcurrently(t *testing.T) {
	data := flightsLike(4000)
	store := storage.NewMemory()
	writeTable(t, "mem://x/s", data, WriterOptions{Store: store, StripeRows: 1000}, 1000)
	s, err := Open(context.Background(), "mem://x/s", OpenOptions{Store: store})
	require.NoError(t, err)
	defer s.Close()
	done := make(chan error)
	for k := range 4 {
		go func() {
			rows := 0
			for b, err := range s.Scan(context.Background(), ScanOptions{Filter: filter.Eq(filter.Col("origin"), "SFO"), BatchRows: 100 + k, Parallelism: 1 + k}) {
				if err != nil {
					done <- err
					return
				}
				rows += int(b.NumRows())
			}
			if rows < 500 {
				err = fmt.Errorf("%d rows", rows)
			}
			done <- err
		}()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
}
