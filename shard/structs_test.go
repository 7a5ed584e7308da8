package shard

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	tables "github.com/amudai/amudai-go/table"
)

type color string

type point struct{ X, Y int32 }

type embedded struct {
	Embedded int16
	Hidden   *uint8 `arrow:"hidden"`
}

// everything has a field of each kind.
type everything struct {
	embedded
	Bool     bool
	I8       int8
	I16      int16
	I32      int32
	I64      int64
	Int      int
	U8       uint8
	U16      uint16
	U32      uint32
	U64      uint64
	Uint     uint
	F32      float32
	F64      float64
	Text     string
	Color    color
	Raw      []byte
	ID       [16]byte         `arrow:"id,uuid"`
	Short    [3]byte          `arrow:"short"`
	At       time.Time        `arrow:"at"`
	Day      time.Time        `arrow:"day,date32"`
	Micro    time.Time        `arrow:"micro,timestamp(us)"`
	Took     time.Duration    `arrow:"took"`
	Clock    time.Duration    `arrow:"clock,time32"`
	Cents    decimal128.Num   `arrow:"cents,decimal(30,2)"`
	Wide     decimal256.Num   `arrow:"wide"`
	Point    point            `arrow:"point"`
	Tuple    [2]float64       `arrow:"tuple"`
	List     []int64          `arrow:"list"`
	Names    []string         `arrow:"names"`
	Days     []time.Time      `arrow:"days,date32"`
	Points   []point          `arrow:"points"`
	Deep     [][]*point       `arrow:"deep"`
	Counts   map[string]int32 `arrow:"counts"`
	ByColor  map[color][]*int `arrow:"by color"`
	PBool    *bool
	PInt     *int
	PText    *string
	PColor   *color
	PTime    *time.Time
	PPoint   *point
	PID      *[16]byte
	PTuple   *[2]point
	_        int    // not exported
	Skipped  func() `arrow:"-"`
	Optional *struct {
		In *point
	}
}

func drawn[V any](g *rapid.Generator[V]) *rapid.Generator[*V] { return rapid.Ptr(g, true) }

func sliceOf[V any](g *rapid.Generator[V]) *rapid.Generator[[]V] {
	return rapid.OneOf(rapid.Just([]V(nil)), rapid.SliceOfN(g, 0, 4))
}

func mapOf[K comparable, V any](k *rapid.Generator[K], v *rapid.Generator[V]) *rapid.Generator[map[K]V] {
	return rapid.OneOf(rapid.Just(map[K]V(nil)), rapid.MapOfN(k, v, 0, 3))
}

func drawEverything(t *rapid.T) everything {
	points := rapid.Custom(func(t *rapid.T) point { return point{rapid.Int32().Draw(t, "x"), rapid.Int32().Draw(t, "y")} })
	times := rapid.Custom(func(t *rapid.T) time.Time { return time.Unix(0, rapid.Int64().Draw(t, "time")).UTC() })
	days := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(86400*rapid.Int64Range(-700_000, 9_000_000).Draw(t, "day"), 0).UTC()
	})
	ids := rapid.Custom(func(t *rapid.T) [16]byte { return [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")) })
	colors := rapid.Map(rapid.String(), func(s string) color { return color(s) })
	e := everything{
		embedded: embedded{rapid.Int16().Draw(t, "embedded"), drawn(rapid.Uint8()).Draw(t, "hidden")},
		Bool:     rapid.Bool().Draw(t, "bool"), I8: rapid.Int8().Draw(t, "i8"), I16: rapid.Int16().Draw(t, "i16"), I32: rapid.Int32().Draw(t, "i32"),
		I64: rapid.Int64().Draw(t, "i64"), Int: rapid.Int().Draw(t, "int"), U8: rapid.Uint8().Draw(t, "u8"), U16: rapid.Uint16().Draw(t, "u16"),
		U32: rapid.Uint32().Draw(t, "u32"), U64: rapid.Uint64().Draw(t, "u64"), Uint: rapid.Uint().Draw(t, "uint"),
		F32: rapid.Float32().Draw(t, "f32"), F64: rapid.Float64().Draw(t, "f64"), Text: rapid.String().Draw(t, "text"), Color: colors.Draw(t, "color"),
		Raw: sliceOf(rapid.Byte()).Draw(t, "raw"), ID: ids.Draw(t, "id"), At: times.Draw(t, "at"), Day: days.Draw(t, "day"),
		Micro: time.UnixMicro(rapid.Int64Range(-60e15, 1e15).Draw(t, "micro")).UTC(), Took: time.Duration(rapid.Int64().Draw(t, "took")),
		Clock: time.Duration(rapid.Int64Range(0, 86_399_999).Draw(t, "clock")) * time.Millisecond,
		Cents: decimal128.FromI64(rapid.Int64().Draw(t, "cents")), Wide: decimal256.FromI64(rapid.Int64().Draw(t, "wide")),
		Point: points.Draw(t, "point"), Tuple: [2]float64{rapid.Float64().Draw(t, "tuple"), 1},
		List: sliceOf(rapid.Int64()).Draw(t, "list"), Names: sliceOf(rapid.String()).Draw(t, "names"), Days: sliceOf(days).Draw(t, "days"),
		Points: sliceOf(points).Draw(t, "points"), Deep: sliceOf(sliceOf(drawn(points))).Draw(t, "deep"),
		Counts: mapOf(rapid.String(), rapid.Int32()).Draw(t, "counts"), ByColor: mapOf(colors, sliceOf(drawn(rapid.Int()))).Draw(t, "by color"),
		PBool: drawn(rapid.Bool()).Draw(t, "pbool"), PInt: drawn(rapid.Int()).Draw(t, "pint"), PText: drawn(rapid.String()).Draw(t, "ptext"),
		PColor: drawn(colors).Draw(t, "pcolor"), PTime: drawn(times).Draw(t, "ptime"), PPoint: drawn(points).Draw(t, "ppoint"),
		PID: drawn(ids).Draw(t, "pid"),
	}
	copy(e.Short[:], e.ID[:])
	if rapid.Bool().Draw(t, "ptuple") {
		e.PTuple = &[2]point{points.Draw(t, "0"), points.Draw(t, "1")}
	}
	if rapid.Bool().Draw(t, "optional") {
		e.Optional = &struct{ In *point }{drawn(points).Draw(t, "in")}
	}
	return e
}

func writeRows[T any](t require.TestingT, o WriterOptions, rows []T, step int) []byte {
	var out bytes.Buffer
	ctx := context.Background()
	w, err := NewWriterOf[T](ctx, &out, o)
	require.NoError(t, err)
	for at := 0; at < len(rows); at += step {
		require.NoError(t, w.Write(ctx, rows[at:min(at+step, len(rows))]...))
		require.Equal(t, int64(min(at+step, len(rows))), w.Rows())
	}
	require.NoError(t, w.Close(ctx))
	return out.Bytes()
}

// readRows reads a shard by package table.
func readRows[T any](t require.TestingT, data []byte, o tables.ScanOptions) (rows []T) {
	ctx := context.Background()
	tb, err := tables.OpenWith(ctx, tables.OpenOptions{Stdin: bytes.NewReader(data), Format: "shard"}, "-")
	require.NoError(t, err)
	defer tb.Close()
	for row, err := range tables.RowsOf[T](ctx, tb, o) {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

// TestStructsComeBack writes rows of all kinds, and compares all rows after the loop, so that they must not depend on
// memory that is used again.
func TestStructsComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(drawEverything), 0, 12).Draw(rt, "rows")
		for least := rapid.SampledFrom([]int{0, 1000}).Draw(rt, "least"); len(rows) > 0 && len(rows) < least; {
			rows = append(rows, rows...)
		}
		step := rapid.SampledFrom([]int{1, 7, 600, 5000}).Draw(rt, "step")
		data := writeRows(rt, WriterOptions{}, rows, step)
		got := readRows[everything](rt, data, tables.ScanOptions{BatchRows: rapid.SampledFrom([]int{0, 5, 700}).Draw(rt, "batch")})
		require.Equal(rt, len(rows), len(got))
		for i := range rows {
			require.Equal(rt, rows[i], got[i])
		}
	})
}

// TestStructsAreDeterministic writes maps twice.
func TestStructsAreDeterministic(t *testing.T) {
	type row struct{ M map[int]string }
	rows := make([]row, 100)
	for i := range rows {
		rows[i].M = map[int]string{}
		for k := range i {
			rows[i].M[k*k-7*i] = fmt.Sprint(k)
		}
	}
	o := WriterOptions{CreationTime: created}
	require.Equal(t, writeRows(t, o, rows, 100), writeRows(t, o, rows, 9))
}

// TestWriteKeepsNoReference changes what a row refers to after the call.
func TestWriteKeepsNoReference(t *testing.T) {
	type row struct {
		Raw []byte
		P   *int
	}
	var out bytes.Buffer
	w, err := NewWriterOf[row](t.Context(), &out, WriterOptions{})
	require.NoError(t, err)
	raw, p := []byte{1}, 0
	for i := range 20_000 {
		raw[0], p = byte(i), i
		require.NoError(t, w.Write(t.Context(), row{raw, &p}))
	}
	require.NoError(t, w.Close(t.Context()))
	rows := readRows[row](t, out.Bytes(), tables.ScanOptions{})
	for i, r := range rows {
		require.Equal(t, byte(i), r.Raw[0])
		require.Equal(t, i, *r.P)
	}
	require.Len(t, rows, 20_000)
}

func TestUnsuitableStructs(t *testing.T) {
	type recursive struct{ Next []struct{ R *recursive } } //nolint
	check := func(err error, text string) {
		t.Helper()
		require.ErrorContains(t, err, text)
	}
	check(createOf[struct{ C chan int }](t), "field .C: there is no Arrow type for chan int")
	check(createOf[struct{ A struct{ F []func() } }](t), "field .A.F[]: there is no Arrow type for func()")
	check(createOf[struct{ I any }](t), "field .I: there is no Arrow type for interface {}")
	check(createOf[struct{ C complex128 }](t), "field .C: there is no Arrow type for complex128")
	check(createOf[struct{ P **int }](t), "field .P: **int can be nil in two ways")
	check(createOf[struct{ P *[]int }](t), "field .P: *[]int can be nil in two ways")
	check(createOf[struct{ M map[float64]int }](t), "field .M: keys of maps are strings or integers, not float64")
	check(createOf[struct{ E [0]int }](t), "field .E: [0]int has no items")
	check(createOf[struct{ E struct{ hidden int } }](t), "has no exported fields")
	check(createOf[struct{ hidden int }](t), "has no exported fields")
	check(createOf[struct{ *embedded }](t), "field .embedded: an embedded pointer needs a tag")
	check(createOf[recursive](t), "contains itself")
	check(createOf[int](t), "int is not a struct of columns")
	check(createOf[*point](t), "*shard.point is not a struct of columns")
	check(createOf[time.Time](t), "time.Time is not a struct of columns")
	check(createOf[struct {
		A int
		B int `arrow:"A"`
	}](t), `field .B: its column "A" is also that of field .A`)
	check(createOf[struct {
		A int `arrow:"a,date32"`
	}](t), `field .A: a int has no option "date32"`)
	check(createOf[struct {
		A time.Time `arrow:"a,timestamp(h)"`
	}](t), "the unit is s, ms, us or ns")
	check(createOf[struct {
		A time.Time `arrow:"a,time64"`
	}](t), "time.Duration since midnight")
	check(createOf[struct {
		A decimal128.Num `arrow:"a,decimal(40,2)"`
	}](t), "has 1 to 38 digits")
	check(createOf[struct {
		A decimal128.Num `arrow:"a,decimal(4"`
	}](t), "a parenthesis is not closed")
}

func createOf[T any](t *testing.T) error {
	w, err := NewWriterOf[T](t.Context(), &bytes.Buffer{}, WriterOptions{})
	if err == nil {
		require.NoError(t, w.Abort(t.Context()))
	}
	return err
}

// TestInexactTimes refuses times that would change.
func TestInexactTimes(t *testing.T) {
	type row struct {
		At    time.Time     `arrow:"at,timestamp(s)"`
		Nano  time.Time     `arrow:"nano"`
		Day   time.Time     `arrow:"day,date64"`
		Clock time.Duration `arrow:"clock,time64"`
	}
	unix := time.Unix(0, 0)
	for text, bad := range map[string]row{
		"field row.At: 1970-01-01 00:00:00.000000001":          {time.Unix(0, 1).UTC(), unix, unix, 0},
		"field row.Nano: 0001-01-01 00:00:00 +0000 UTC is not": {unix, time.Time{}, unix, 0},
		"field row.Day: 1970-01-01 01:00:00":                   {unix, unix, time.Unix(3600, 0).UTC(), 0},
		"field row.Clock: 24h0m0s is not":                      {unix, unix, unix, 24 * time.Hour},
		"field row.Clock: -1ns is not":                         {unix, unix, unix, -1},
	} {
		w, err := NewWriterOf[row](t.Context(), &bytes.Buffer{}, WriterOptions{})
		require.NoError(t, err)
		rows := make([]row, 10_001)
		for i := range rows {
			rows[i] = row{unix, unix, unix, 0}
		}
		rows[10_000] = bad
		err = w.Write(t.Context(), rows...)
		if err == nil {
			err = w.Close(t.Context())
		}
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, "row 10000 of the shard")
		require.NoError(t, w.Abort(t.Context()))
	}
	for _, ns := range []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64} {
		rows := []row{{unix, time.Unix(0, ns).UTC(), unix, 0}}
		got := readRows[row](t, writeRows(t, WriterOptions{}, rows, 1), tables.ScanOptions{})
		require.Equal(t, ns, got[0].Nano.UnixNano())
	}
}

func TestWriterOfEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := NewWriterOf[point](ctx, &bytes.Buffer{}, WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, point{1, 2}))
	cancel()
	require.ErrorIs(t, w.Write(ctx, make([]point, 100_000)...), context.Canceled)
	require.Error(t, w.Close(t.Context()))
	require.Error(t, w.Write(t.Context(), point{}))
	require.NoError(t, w.Abort(t.Context()))

	w, err = NewWriterOf[point](t.Context(), &bytes.Buffer{}, WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Close(t.Context()))
	require.NoError(t, w.Abort(t.Context()))
	require.Error(t, w.Write(t.Context(), point{}))
	_, err = CreateOf[point](t.Context(), "mem://x/y", WriterOptions{StripeRows: -1})
	require.ErrorContains(t, err, "StripeRows")
}
