package predicate_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

func bindX(t testing.TB, dt arrow.DataType, condition string) *predicate.Bound {
	t.Helper()
	b, err := predicate.BindText(condition, arrow.NewSchema([]arrow.Field{{Name: "x", Type: dt, Nullable: true}}, nil))
	require.NoError(t, err, condition)
	return b
}

// A bound expression accepts strings in every layout.
func TestLayouts(t *testing.T) {
	mem := memory.DefaultAllocator
	const rows = 200
	plain := arrowgen.New(3).Array(arrow.BinaryTypes.LargeString, rows)
	dictionary, err := arrowutil.EncodeDictionary(mem, plain, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.LargeString})
	require.NoError(t, err)
	runs, err := arrowutil.EncodeRuns(mem, plain, arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.LargeString))
	require.NoError(t, err)
	views := arrowutil.ToViews(mem, plain, arrow.BinaryTypes.StringView)
	short := array.NewSlice(dictionary, 7, 9) // fewer rows than entries
	for _, condition := range []string{
		"x starts with 'v1'", "x = ''", "x <> 'v1'", "x is null", "x is not null", "x contains '7' or x contains 'ö'", "x like '%1_'",
		"x in ('v3', 'v4', '')", "x in ('v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7', 'v8', 'v9', 'v10')", "x > 'v' and x < 'v5'", "x not ilike 'V%'",
		"x not in ('v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7', 'v8', 'v9', 'v10')", "x >= x and x contains '1'",
	} {
		b := bindX(t, arrow.BinaryTypes.String, condition)
		want, err := b.Eval(nil, []arrow.Array{plain}, rows)
		require.NoError(t, err)
		for _, arr := range []arrow.Array{dictionary, runs, views} {
			got, err := b.Eval(make([]byte, 0, 100), []arrow.Array{arr}, rows)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s on %s", condition, arr.DataType())
		}
		got, err := b.Eval(nil, []arrow.Array{short}, 2)
		require.NoError(t, err)
		require.True(t, rowset.FromBits(want, 7, 2, 0).Equal(rowset.FromBits(got, 0, 2, 0)), condition)
	}
}

func TestEvalErrors(t *testing.T) {
	b := bindX(t, arrow.PrimitiveTypes.Int32, "x > 3 and x < 10 or x = x")
	numbers := arrowgen.New(1).Array(arrow.PrimitiveTypes.Int32, 10)
	for _, c := range []struct {
		columns []arrow.Array
		want    string
	}{
		{nil, "column 0 is missing"},
		{[]arrow.Array{nil}, "column 0 is missing"},
		{[]arrow.Array{numbers}, "column 0 has 10 rows instead of 11"},
		{[]arrow.Array{arrowgen.New(1).Array(arrow.PrimitiveTypes.Int64, 11)}, "column 0 is of type int64 instead of int32"},
		{[]arrow.Array{arrowgen.New(1).Array(arrow.BinaryTypes.String, 11)}, "column 0 is of type utf8 instead of int32"},
	} {
		_, err := b.Eval(nil, c.columns, 11)
		require.ErrorContains(t, err, c.want)
	}
	batch := array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, 0)
	_, err := b.Select(batch)
	require.ErrorContains(t, err, "the batch has no column x")
	_, err = predicate.Child(numbers, []int{1})
	require.ErrorContains(t, err, "array of type int32 has no field 1")
}

// Several goroutines may use a bound expression at the same time. Its memory does not grow with the number of rows.
func TestConcurrentUse(t *testing.T) {
	const rows = 1000
	b := bindX(t, arrow.BinaryTypes.String, "x icontains 'V1' or (x > 'v7' and x not like '%9') or x ~ '[3-5]$'")
	columns := []arrow.Array{arrowgen.New(5).Array(arrow.BinaryTypes.String, rows)}
	want, err := b.Eval(nil, columns, rows)
	require.NoError(t, err)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 20 {
				got, err := b.Eval(nil, columns, rows)
				if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%v: %v instead of %v", err, got, want)
				}
			}
		})
	}
	wait.Wait()
}

func TestAllocations(t *testing.T) {
	const rows = 1 << 14
	for _, c := range []struct {
		dt        arrow.DataType
		condition string
	}{
		{arrow.PrimitiveTypes.Int64, "x > 300 and x < 1000 or x is null"},
		{arrow.PrimitiveTypes.Float32, "x <> 300"},
		{arrow.BinaryTypes.String, "x = 'v1' or x contains '7' or x ilike '%V_2'"},
		{arrow.BinaryTypes.StringView, "x > 'v1'"},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, "x in ('v1', 'v2')"},
	} {
		b := bindX(t, c.dt, c.condition)
		columns := []arrow.Array{arrowgen.New(1).Array(c.dt, rows)}
		dst := make([]byte, predicate.BitmapLen(rows))
		_, err := b.Eval(dst, columns, rows)
		require.NoError(t, err)
		n := testing.AllocsPerRun(20, func() { _, _ = b.Eval(dst, columns, rows) })
		require.LessOrEqual(t, n, 4.0, c.condition) // a few for each evaluation, none for each value
	}
}

// Planners see leaves whose tests have the type of the column.
func TestLeaves(t *testing.T) {
	decimal := &arrow.Decimal128Type{Precision: 20, Scale: 2}
	bytes := func(lo, hi string) valueset.ByteRange { return valueset.ByteRange{Lo: []byte(lo), Hi: []byte(hi)} }
	for _, c := range []struct {
		dt        arrow.DataType
		condition string
		want      predicate.Test
	}{
		{arrow.PrimitiveTypes.Int16, "x > 3 and x <> 7 and x < 1e9", valueset.Ints{{Lo: 4, Hi: 6}, {Lo: 8, Hi: math.MaxInt16}}},
		{arrow.PrimitiveTypes.Int16, "x in (1, 2, 3, 7)", valueset.Ints{{Lo: 1, Hi: 3}, {Lo: 7, Hi: 7}}},
		{arrow.PrimitiveTypes.Int16, "x > -1e9", predicate.Nulls{Not: true}},
		{arrow.PrimitiveTypes.Uint8, "not x >= 3", valueset.Uints{{Lo: 0, Hi: 2}}},
		{arrow.FixedWidthTypes.Boolean, "not x", valueset.Bools{False: true}},
		{arrow.PrimitiveTypes.Float64, "not x > 1", valueset.Floats{Intervals: []valueset.Interval[float64]{{Lo: math.Inf(-1), Hi: 1}}, NaN: true}},
		{arrow.PrimitiveTypes.Float32, "x > 0", valueset.Floats{Intervals: []valueset.Interval[float64]{{Lo: math.SmallestNonzeroFloat32, Hi: math.Inf(1)}}}},
		{arrow.PrimitiveTypes.Float64, "x is nan", valueset.Floats{Intervals: []valueset.Interval[float64]{}, NaN: true}},
		{decimal, "x between -0.015 and 2.5", valueset.Decimals{{Lo: valueset.Int256{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}, Hi: valueset.Int256{250}}}},
		{arrow.BinaryTypes.String, "x in ('b', 'a')", valueset.Bytes{bytes("a", "a\x00"), bytes("b", "b\x00")}},
		{arrow.BinaryTypes.String, "x ~ '^ab'", valueset.Bytes{bytes("ab", "ac")}},
		{arrow.BinaryTypes.String, "x like 'a\xff%'", valueset.Bytes{bytes("a\xff", "b")}},
		{arrow.BinaryTypes.String, "x > 'a'", valueset.Bytes{{Lo: []byte("a\x00"), Hi: []byte{}, NoHi: true}}},
		{arrow.FixedWidthTypes.Date32, "x = '1970-01-03'", valueset.Ints{{Lo: 2, Hi: 2}}},
		{&arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Berlin"}, "x = '1970-07-01'", valueset.Ints{{Lo: 181*86400 - 3600, Hi: 181*86400 - 3600}}},
	} {
		require.Equal(t, c.want, bindX(t, c.dt, c.condition).Root().Test, c.condition)
	}
	require.Equal(t, predicate.NodeNever, bindX(t, arrow.PrimitiveTypes.Int16, "x = 1.5").Root().Kind)

	both := bindX(t, arrow.BinaryTypes.String, "x like 'pre%m_d%le%' and x !~ 'a(lit)+[0-9]'").Root()
	require.Equal(t, []int{0}, both.Columns())
	like, regex := both.Nodes[0].Test.(*predicate.Text), both.Nodes[1].Test.(*predicate.Text)
	require.Equal(t, "pre", string(like.Prefix))
	require.Equal(t, [][]byte{[]byte("pre"), []byte("m"), []byte("d"), []byte("le")}, like.Parts)
	require.True(t, regex.Not && !like.Not)
	require.Equal(t, [][]byte{[]byte("alit"), []byte("lit")}, regex.Parts)
	require.True(t, like.Match([]byte("pre middle"), nil))
	require.False(t, regex.Match([]byte("pre middle"), nil))
	require.True(t, regex.Match([]byte("alitlit7"), new(pattern.Scratch)))

	constants, ok := bindX(t, arrow.BinaryTypes.String, "x in ('b', 'a')").Root().Test.(valueset.Bytes).Constants()
	require.True(t, ok)
	require.Equal(t, [][]byte{[]byte("a"), []byte("b")}, constants)
	_, ok = bindX(t, arrow.BinaryTypes.String, "x in ('b', 'a') or x > 'y'").Root().Test.(valueset.Bytes).Constants()
	require.False(t, ok)
	narrow := bindX(t, decimal, "x > -0.5 and x <> 3 and x < 1e17 or x > 1e17").Root().Test.(valueset.Decimals).Int64()
	require.Equal(t, valueset.Ints{{Lo: -49, Hi: 299}, {Lo: 301, Hi: math.MaxInt64}}, narrow)
}

// Bounds and values of 7 to 9 bytes, of which some differ in zeros at the end alone, compare as byte strings do.
func TestBounds(t *testing.T) {
	texts := []string{""}
	for _, begin := range []string{"a", "\x00", "abcdefg", "abcdefgh", "abcdefghi", "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f"} {
		texts = append(texts, begin, begin+"\x00", begin+"\x00\x00", begin+"\x01", begin+"z")
	}
	var values []string
	for range 4 { // the last ones are compared one at a time
		values = append(values, texts...)
	}
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	b.AppendStringValues(values, nil)
	column := b.NewBinaryArray()
	defer column.Release()
	dst := make([]byte, predicate.BitmapLen(len(values)))
	for _, lo := range texts {
		for _, hi := range texts {
			bound := bindX(t, arrow.BinaryTypes.Binary, fmt.Sprintf("x >= x'%x' and x < x'%x'", lo, hi))
			if bound.Root().Kind == predicate.NodeNever {
				require.GreaterOrEqual(t, lo, hi)
				continue
			}
			_, err := bound.Eval(dst, []arrow.Array{column}, len(values))
			require.NoError(t, err)
			for i, v := range values {
				require.Equal(t, lo <= v && v < hi, dst[i/8]>>(i%8)&1 != 0, "%q <= %q < %q", lo, v, hi)
			}
		}
	}
}
