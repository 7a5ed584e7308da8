package table_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

type point struct{ X, Y int32 }

// writeRows writes rows to a shard.
func writeRows[T any](t *testing.T, o shard.WriterOptions, rows []T) (location string) {
	location = filepath.Join(t.TempDir(), "rows.shard")
	w, err := shard.CreateOf[T](t.Context(), location, o)
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), rows...))
	require.NoError(t, w.Close(t.Context()))
	return location
}

// openRows opens a shard that is read by several goroutines.
func openRows(t *testing.T, location string, mem memory.Allocator) *table.Table {
	f := shard.New(shard.FormatOptions{Scan: shard.ScanOptions{Parallelism: 4}})
	s, err := table.OpenWith(t.Context(), table.OpenOptions{Formats: []provider.Format{f}, Allocator: mem}, location)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func readRows[T any](ctx context.Context, s *table.Table, o table.ScanOptions) (rows []T, err error) {
	for row, err := range table.RowsOf[T](ctx, s, o) {
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// TestRowsOfFormats reads the same rows of files in several formats, of all of them together, and of a pipe.
func TestRowsOfFormats(t *testing.T) {
	type row struct {
		N    int    `arrow:"n"`
		Name string `arrow:"name"`
	}
	dir := t.TempDir()
	from := filepath.Join(dir, "rows.csv")
	var csv strings.Builder
	csv.WriteString("name,n,rest\n")
	for i := range 200 {
		fmt.Fprintf(&csv, "n%d,%d,x\n", i, i)
	}
	require.NoError(t, os.WriteFile(from, []byte(csv.String()), 0o644))
	all := []string{from}
	for _, extension := range []string{".parquet", ".shard", ".arrow", ".root", ".jsonl"} {
		all = append(all, strings.TrimSuffix(from, ".csv")+extension)
		copyTable(t, from, all[len(all)-1])
	}
	o := table.ScanOptions{Filter: filter.And(filter.Eq(filter.Col("rest"), "x"), filter.Ge(filter.Col("n"), 198))}
	want := []row{{198, "n198"}, {199, "n199"}}
	for _, locations := range append([][]string{all, {"-"}}, []string{all[0]}, []string{all[1]}, []string{all[2]}, []string{all[3]}, []string{all[4]}, []string{all[5]}) {
		open := func() *table.Table {
			tb, err := table.OpenWith(t.Context(), table.OpenOptions{Stdin: strings.NewReader(csv.String())}, locations...)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, tb.Close()) })
			return tb
		}
		rows, err := readRows[row](t.Context(), open(), o)
		require.NoError(t, err, locations)
		var expected []row
		for range locations {
			expected = append(expected, want...)
		}
		require.Equal(t, expected, rows, locations)
		_, err = readRows[struct {
			N int8 `arrow:"n"`
		}](t.Context(), open(), table.ScanOptions{})
		require.ErrorContains(t, err, "row 128 of the ", locations)
		require.ErrorContains(t, err, "field .N: 128 does not fit int8", locations)
		_, err = readRows[struct {
			N int8 `arrow:"n"`
		}](t.Context(), open(), o)
		require.ErrorContains(t, err, "row 198 of the table: field .N: 198 does not fit int8", locations)
		_, err = readRows[struct{ None int }](t.Context(), open(), o)
		require.ErrorContains(t, err, "field .None: ", locations)
		require.ErrorContains(t, err, `"None"`, locations)
	}
}

type label string

func TestMismatches(t *testing.T) {
	type row struct {
		A     int64
		Note  *string
		Wide  uint64
		P     *point
		L     []*int32
		Cents decimal128.Num `arrow:",decimal(9,2)"`
	}
	rows := make([]row, 3000)
	for i := range rows {
		rows[i] = row{A: int64(i), Note: new(string), Wide: uint64(i), P: &point{}, L: []*int32{new(int32)}}
	}
	rows[2999] = row{A: -1, Wide: math.MaxUint64, L: []*int32{nil}}
	s := openRows(t, writeRows(t, shard.WriterOptions{}, rows), nil)
	mismatch[struct{ B int64 }](t, s, 0, "field .B:", `"B"`)
	mismatch[struct{ A string }](t, s, 0, `field .A: the column "A" is of the type int64, which does not become a string`)
	mismatch[struct{ P struct{ X, Z int32 } }](t, s, 0, "field .P.Z:", "Z")
	mismatch[struct{ P struct{ X string } }](t, s, 0, `field .P.X: the column "X" is of the type int32`)
	mismatch[struct{ A []int64 }](t, s, 0, `field .A: the column "A"`)
	mismatch[struct{ L int64 }](t, s, 0, `field .L: the column "L"`)
	mismatch[struct{ Cents decimal128.Num }](t, s, 0, "decimal(9, 2)")
	mismatch[struct{ A float64 }](t, s, 0, "int64")
	mismatch[struct{ C chan int }](t, s, 0, "field .C")
	mismatch[struct{ Note string }](t, s, 2999, "row 2999 of the table: field .Note: the value is null, which string cannot be; *string can")
	mismatch[struct{ P point }](t, s, 2999, "row 2999 of the table: field .P: the value is null")
	mismatch[struct{ P struct{ X int32 } }](t, s, 2999, "row 2999 of the table: field .P: the value is null")
	mismatch[struct{ L []int32 }](t, s, 2999, "row 2999 of the table: field .L[]: the value is null")
	mismatch[struct{ A int8 }](t, s, 128, "row 128 of the table: field .A: 128 does not fit int8")
	mismatch[struct{ A uint }](t, s, 2999, "row 2999 of the table: field .A: -1 does not fit uint")
	mismatch[struct{ Wide int }](t, s, 2999, "field .Wide: 18446744073709551615 does not fit int")

	for _, o := range []table.ScanOptions{{Columns: []string{"A"}}, {Dictionaries: true}, {Decimals64: []string{"Cents"}}, {Reuse: true}} {
		_, err := readRows[row](t.Context(), s, o)
		require.ErrorContains(t, err, "must not be set")
	}
}

// mismatch reads with an error after some rows at most: those in the same piece as the row of the error are not seen.
func mismatch[T any](t *testing.T, s *table.Table, most int, texts ...string) {
	t.Helper()
	rows, err := readRows[T](t.Context(), s, table.ScanOptions{})
	for _, text := range texts {
		require.ErrorContains(t, err, text)
	}
	require.LessOrEqual(t, len(rows), most)
}

// TestRowsOfColumns reads types that no writer of structs makes.
func TestRowsOfColumns(t *testing.T) {
	mem := memory.DefaultAllocator
	zone := "Europe/Rome"
	fields := []arrow.Field{
		{Name: "code", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "number", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int16}},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: zone}},
		{Name: "day", Type: arrow.FixedWidthTypes.Date64},
		{Name: "took", Type: arrow.FixedWidthTypes.Duration_s},
		{Name: "clock", Type: arrow.FixedWidthTypes.Time64us},
		{Name: "view", Type: arrow.BinaryTypes.StringView},
		{Name: "large", Type: arrow.BinaryTypes.LargeBinary},
		{Name: "half", Type: arrow.FixedWidthTypes.Float16},
		{Name: "list", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Uint8), Nullable: true},
		{Name: "fixed", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)},
		{Name: "small", Type: &arrow.Decimal64Type{Precision: 9, Scale: 2}},
		{Name: "zone", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: ""}},
	}
	s := arrow.NewSchema(fields, nil)
	b, _, err := array.RecordFromJSON(mem, s, bytes.NewBufferString(`[
		{"code": "a", "number": 7, "at": 1000, "day": "2026-01-02", "took": 5, "clock": "00:00:01", "view": "x", "large": "AQI=", "half": 0.5,
		 "list": [1, 2], "fixed": [0.5, 1], "small": "1.25", "zone": 9},
		{"code": null, "number": -1, "at": -1, "day": "1970-01-01", "took": -5, "clock": "23:00:00", "view": "", "large": "", "half": -2,
		 "list": null, "fixed": [2, 3], "small": "-1.25", "zone": -9}]`))
	require.NoError(t, err)
	defer b.Release()
	location := filepath.Join(t.TempDir(), "rows.shard")
	w, err := shard.Create(t.Context(), location, s, shard.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), b))
	require.NoError(t, w.Close(t.Context()))

	type row struct {
		Code   *string        `arrow:"code"`
		Number int64          `arrow:"number"`
		At     time.Time      `arrow:"at"`
		Day    time.Time      `arrow:"day"`
		Took   time.Duration  `arrow:"took"`
		Clock  time.Duration  `arrow:"clock"`
		View   label          `arrow:"view"`
		Large  []byte         `arrow:"large"`
		Half   float64        `arrow:"half"`
		List   []uint32       `arrow:"list"`
		Fixed  []float64      `arrow:"fixed"`
		Small  decimal128.Num `arrow:"small,decimal(38,2)"`
		Zone   time.Time      `arrow:"zone"`
	}
	rows, err := readRows[row](t.Context(), openRows(t, location, nil), table.ScanOptions{})
	require.NoError(t, err)
	rome, err := time.LoadLocation(zone)
	require.NoError(t, err)
	a := "a"
	require.Equal(t, []row{
		{&a, 7, time.UnixMilli(1000).In(rome), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), 5 * time.Second, time.Second, "x", []byte{1, 2}, 0.5,
			[]uint32{1, 2}, []float64{0.5, 1}, decimal128.FromI64(125), time.Unix(9, 0).UTC()},
		{nil, -1, time.UnixMilli(-1).In(rome), time.Unix(0, 0).UTC(), -5 * time.Second, 23 * time.Hour, "", []byte{}, -2,
			nil, []float64{2, 3}, decimal128.FromI64(-125), time.Unix(-9, 0).UTC()},
	}, rows)
}

// TestRowsOfFilter uses a column that T has no field for.
func TestRowsOfFilter(t *testing.T) {
	s := openRows(t, numberedStructs(t, 100_000), nil)
	type name struct{ Name string }
	e, err := filter.Parse("Number >= 99990 or Number = 5")
	require.NoError(t, err)
	rows, err := readRows[name](t.Context(), s, table.ScanOptions{Filter: e, Limit: 3})
	require.NoError(t, err)
	require.Equal(t, []name{{"n5"}, {"n99990"}, {"n99991"}}, rows)
	_, err = readRows[struct{ Number int16 }](t.Context(), s, table.ScanOptions{Rows: []table.RowRange{{From: 10, To: 20}, {From: 40_000, To: 40_010}}})
	require.ErrorContains(t, err, "row 40000 of the table: field .Number: 40000 does not fit int16")
}

type numberedStruct struct {
	Number int
	Name   string
}

// numberedStructs is a shard of them.
func numberedStructs(t *testing.T, n int) (location string) {
	rows := make([]numberedStruct, n)
	for i := range rows {
		rows[i] = numberedStruct{i, fmt.Sprint("n", i)}
	}
	return writeRows(t, shard.WriterOptions{StripeRows: 30_000}, rows)
}

// TestRowsOfEndsEarly leaves loops in the middle, by hand, by a context that ends, and by a panic.
func TestRowsOfEndsEarly(t *testing.T) {
	location, mem := numberedStructs(t, 100_000), memory.NewCheckedAllocator(memory.DefaultAllocator)
	check := leaktest.Goroutines(t)
	s := openRows(t, location, mem)
	for stop := range 3 {
		n := 0
		for row, err := range table.RowsOf[numberedStruct](t.Context(), s, table.ScanOptions{BatchRows: 1000}) {
			require.NoError(t, err)
			require.Equal(t, n, row.Number)
			if n++; n == 1+stop*1500 {
				break
			}
		}
		require.Equal(t, 1+stop*1500, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, last := 0, error(nil)
	for _, err := range table.RowsOf[numberedStruct](ctx, s, table.ScanOptions{BatchRows: 1000}) {
		if n++; n == 5 {
			cancel()
		}
		last = err
	}
	require.ErrorIs(t, last, context.Canceled)
	check()
	require.Zero(t, mem.CurrentAlloc())
	require.Panics(t, func() {
		for range table.RowsOf[numberedStruct](t.Context(), s, table.ScanOptions{BatchRows: 1000}) {
			panic("in the loop")
		}
	})
	check()
}
