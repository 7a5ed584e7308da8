package order

import (
	"cmp"
	"context"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// naive compares values by their Go values, with null as the greatest one.
func naive(a arrow.Array, i int, b arrow.Array, k int) int {
	va, vb := goValue(a, i), goValue(b, k)
	switch {
	case va == nil || vb == nil:
		return cmp.Compare(isNil(va), isNil(vb))
	}
	return compareValues(va, vb)
}

func isNil(v any) int {
	if v == nil {
		return 1
	}
	return 0
}

// list is the value of a list, struct or map.
type list []any

// goValue is a value as int64, uint64, float64, string, *big.Int, bool, list, or nil.
func goValue(arr arrow.Array, i int) any {
	switch a := arr.(type) {
	case array.ExtensionArray:
		return goValue(a.Storage(), i)
	case *array.Null:
		return nil
	case *array.Dictionary:
		if a.IsNull(i) {
			return nil
		}
		return goValue(a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return goValue(a.Values(), a.GetPhysicalIndex(i))
	}
	if arr.IsNull(i) {
		return nil
	}
	switch a := arr.(type) {
	case *array.Boolean:
		return int64(map[bool]int{true: 1}[a.Value(i)])
	case interface{ Value(int) string }:
		return a.Value(i)
	case interface{ Value(int) []byte }:
		return string(a.Value(i))
	case *array.Struct:
		out := list{}
		for f := range a.NumField() {
			out = append(out, goValue(a.Field(f), i))
		}
		return out
	case *array.Map:
		out := list{}
		entries := a.ListValues().(*array.Struct)
		keys, items := entries.Field(0), entries.Field(1)
		begin, end := a.ValueOffsets(i)
		for k := begin; k < end; k++ {
			out = append(out, goValue(keys, int(k)), goValue(items, int(k)))
		}
		return out
	case array.ListLike:
		out := list{}
		begin, end := a.ValueOffsets(i)
		for k := begin; k < end; k++ {
			out = append(out, goValue(a.ListValues(), int(k)))
		}
		return out
	}
	return number(arr, i)
}

func number(arr arrow.Array, i int) any {
	switch a := arr.(type) {
	case *array.Float16:
		return float64(arrowutil.Values[float16.Num](a)[i].Float32())
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.Uint8, *array.Uint16, *array.Uint32:
		return int64(wordOf(arr, i))
	case *array.Uint64:
		return new(big.Int).SetUint64(a.Value(i))
	case *array.Decimal128:
		return arrowutil.Values[decimal128.Num](a)[i].BigInt()
	case *array.Decimal256:
		return arrowutil.Values[decimal256.Num](a)[i].BigInt()
	case *array.DayTimeInterval:
		v := a.Value(i)
		return interval(0, int64(v.Days), int64(v.Milliseconds)*1_000_000)
	case *array.MonthDayNanoInterval:
		v := a.Value(i)
		return interval(int64(v.Months), int64(v.Days), v.Nanoseconds)
	}
	width := arr.DataType().(arrow.FixedWidthDataType).Bytes()
	shift := 64 - 8*width
	return int64(wordOf(arr, i)<<shift) >> shift
}

func wordOf(arr arrow.Array, i int) (v uint64) {
	width := arr.DataType().(arrow.FixedWidthDataType).Bytes()
	b := arrowutil.Values[byte](arr)
	_ = b
	raw := arr.Data().Buffers()[1].Bytes()[(arr.Data().Offset()+i)*width:]
	for k := range width {
		v |= uint64(raw[k]) << (8 * k)
	}
	return v
}

func interval(months, days, nanos int64) *big.Int {
	out := big.NewInt((months*30 + days) * 24 * 60 * 60)
	out.Mul(out, big.NewInt(1_000_000_000))
	return out.Add(out, big.NewInt(nanos))
}

func compareValues(a, b any) int {
	switch a := a.(type) {
	case int64:
		return cmp.Compare(a, b.(int64))
	case string:
		return cmp.Compare(a, b.(string))
	case *big.Int:
		return a.Cmp(b.(*big.Int))
	case float64:
		return -cmp.Compare(-a, -b.(float64)) // NaN is less for cmp, and greatest here
	}
	la, lb := a.(list), b.(list)
	for i := range min(len(la), len(lb)) {
		if la[i] == nil || lb[i] == nil {
			if c := cmp.Compare(isNil(la[i]), isNil(lb[i])); c != 0 {
				return c
			}
			continue
		}
		if c := compareValues(la[i], lb[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(la), len(lb))
}

// sortNaively returns the order of rows.
func sortNaively(columns []arrow.Array, keys []Key, rows int) []int64 {
	order := make([]int64, rows)
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, func(i, k int64) int {
		for c, key := range keys {
			a, b := columns[c], columns[c]
			x, y := isNil(goValue(a, int(i))), isNil(goValue(b, int(k)))
			if x != y {
				if key.NullsFirst {
					return y - x
				}
				return x - y
			}
			d := naive(a, int(i), b, int(k))
			if key.Descending {
				d = -d
			}
			if d != 0 {
				return d
			}
		}
		return 0
	})
	return order
}

// random makes a table, with the number of each row behind the columns.
func random(g *arrowgen.Gen, types []arrow.DataType, rows int) arrow.RecordBatch {
	fields := make([]arrow.Field, len(types))
	columns := make([]arrow.Array, len(types))
	for i, dt := range types {
		fields[i] = arrow.Field{Name: dt.String(), Type: dt, Nullable: true}
		columns[i] = g.Array(dt, rows)
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range rows {
		b.Append(int64(i))
	}
	fields = append(fields, arrow.Field{Name: "row", Type: arrow.PrimitiveTypes.Int64})
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), append(columns, b.NewArray()), int64(rows))
}

// sortBatches sorts a table by its first columns.
func sortBatches(t *testing.T, table arrow.RecordBatch, keys []Key, o Options, batch int) []arrow.RecordBatch {
	s, err := NewSorter(table.Schema(), keys, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for begin := int64(0); begin < table.NumRows(); begin += int64(batch) {
		part := table.NewSlice(begin, min(begin+int64(batch), table.NumRows()))
		require.NoError(t, s.Add(t.Context(), part, part.Columns()[:len(keys)]))
		part.Release()
	}
	require.NoError(t, s.Finish(t.Context()))
	return readAll(t, s)
}

func readAll(t *testing.T, s interface {
	Next(context.Context) (arrow.RecordBatch, error)
}) (out []arrow.RecordBatch) {
	for {
		b, err := s.Next(t.Context())
		require.NoError(t, err)
		if b == nil {
			return out
		}
		require.Positive(t, b.NumRows())
		out = append(out, b)
	}
}

// requireRows compares batches with rows of a table that has the numbers of rows in its last column.
func requireRows(t *testing.T, table arrow.RecordBatch, want []int64, got []arrow.RecordBatch, note ...any) {
	rows := []int64{}
	for _, b := range got {
		rows = append(rows, b.Column(int(b.NumCols())-1).(*array.Int64).Int64Values()...)
	}
	require.Equal(t, append([]int64{}, want...), rows, note...)
	requireValues(t, table, want, got, note...)
}

// requireValues compares batches with rows of a table.
func requireValues(t *testing.T, table arrow.RecordBatch, want []int64, got []arrow.RecordBatch, note ...any) {
	done := 0
	for _, b := range got {
		n := int(b.NumRows())
		require.LessOrEqual(t, done+n, len(want), note...)
		require.True(t, b.Schema().Equal(table.Schema()))
		for i, c := range b.Columns() {
			rows, err := arrowutil.Take(memory.DefaultAllocator, table.Column(i), want[done:done+n])
			require.NoError(t, err)
			require.Equal(t, -1, arrowutil.Difference(rows, c), "column %d: %s", i, c.DataType())
		}
		done += n
	}
	require.Equal(t, len(want), done, note...)
}

// TestSort sorts random tables of all types, in memory and with runs, and compares them with a naive sort.
func TestSort(t *testing.T) {
	types := arrowgen.ReferenceTypes()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(7, 7))
	for i := range sweep.Count(len(types), 10*len(types)) {
		g := arrowgen.New(uint64(i))
		g.Wide = true
		g.Nulls = []float64{0, 0.1, 0.6}[r.IntN(3)]
		chosen := []arrow.DataType{types[i%len(types)]}
		for range r.IntN(3) {
			chosen = append(chosen, types[r.IntN(len(types))])
		}
		rows := []int{0, 1, 30, 300, 2000}[r.IntN(5)]
		table := random(g, chosen, rows)
		keys := make([]Key, 1+r.IntN(len(chosen)))
		for k := range keys {
			keys[k] = Key{Type: chosen[k], Descending: r.IntN(2) == 0, NullsFirst: r.IntN(3) == 0}
		}
		want := sortNaively(table.Columns(), keys, rows)
		for _, o := range []Options{{}, {Memory: int64(1 + r.IntN(100_000))}, {Limit: int64(1 + r.IntN(20))}, {Limit: int64(1 + r.IntN(3000)), Memory: 1 + r.Int64N(10_000)}} {
			o.TempDir = dir
			w := want
			if o.Limit > 0 && int(o.Limit) < len(w) {
				w = w[:o.Limit]
			}
			got := sortBatches(t, table, keys, o, 1+r.IntN(1000))
			requireRows(t, table, w, got, "case %d: %v %+v", i, keys, o)
		}
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestWindows compares windows with the beginnings of keys, above which they must not be.
func TestWindows(t *testing.T) {
	types := arrowgen.ReferenceTypes()
	for i := range 2 * len(types) {
		g := arrowgen.New(uint64(i))
		dt := types[i/2]
		k := Key{Type: dt, Descending: i%2 == 0, NullsFirst: i%3 == 0}
		arr := g.Array(dt, 600)
		if i%5 == 0 {
			arr = array.NewSlice(arr, 3, 590)
		}
		e, err := NewEncoder([]Key{k})
		require.NoError(t, err)
		keys := e.Encode([]arrow.Array{arr}, arr.Len())
		got := make([]uint64, arr.Len()-1)
		k.windows(arr, &e.dicts[0])(got, 1)
		exact := 0
		for row, w := range got {
			require.LessOrEqual(t, w, window(keys.Key(row+1), 0), "%s, row %d: %x", dt, row+1, keys.Key(row+1))
			if w == window(keys.Key(row+1), 0) {
				exact++
			}
		}
		if arrow.IsInteger(dt.ID()) || arrow.IsFloating(dt.ID()) && dt.ID() != arrow.FLOAT16 {
			require.Equal(t, len(got), exact, dt)
		}
	}
}
