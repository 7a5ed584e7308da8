package aggregate

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/sketch"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// columns of the random tables. Decimals of d38 need more than 64 bits.
var testFields = []arrow.Field{
	{Name: "b", Type: arrow.FixedWidthTypes.Boolean},
	{Name: "i8", Type: arrow.PrimitiveTypes.Int8},
	{Name: "i32", Type: arrow.PrimitiveTypes.Int32},
	{Name: "i64", Type: arrow.PrimitiveTypes.Int64},
	{Name: "u64", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "f64", Type: arrow.PrimitiveTypes.Float64},
	{Name: "f32", Type: arrow.PrimitiveTypes.Float32},
	{Name: "s", Type: arrow.BinaryTypes.String},
	{Name: "v", Type: arrow.BinaryTypes.StringView},
	{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}},
	{Name: "d8", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}},
	{Name: "day", Type: arrow.FixedWidthTypes.Date32},
	{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_us},
	{Name: "d15", Type: &arrow.Decimal128Type{Precision: 15, Scale: 2}},
	{Name: "d38", Type: &arrow.Decimal128Type{Precision: 38, Scale: 2}},
}

// randomBatch makes a batch, and its values as an oracle sees them: nil, bool, *big.Int, float64 or string.
func randomBatch(r *rand.Rand, rows, spread int) (arrow.RecordBatch, [][]any) {
	columns := make([]arrow.Array, len(testFields))
	values := make([][]any, len(testFields))
	nulls := r.IntN(3) > 0
	for c, f := range testFields {
		b := array.NewBuilder(memory.DefaultAllocator, kinds.Unwrapped(f.Type))
		values[c] = make([]any, rows)
		for i := range rows {
			if nulls && r.IntN(8) == 0 {
				b.AppendNull()
				continue
			}
			n := spread
			if f.Name == "d8" { // has 8 bits for codes
				n = min(n, 100)
			}
			values[c][i] = appendRandom(r, b, r.IntN(n))
		}
		columns[c] = b.NewArray()
		if !arrow.TypeEqual(columns[c].DataType(), f.Type) {
			wrapped, err := arrowutil.Wrap(memory.DefaultAllocator, columns[c], f.Type)
			if err != nil {
				panic(err)
			}
			columns[c] = wrapped
			if d, ok := wrapped.(*array.Dictionary); ok && r.IntN(2) == 0 {
				columns[c] = withNullEntry(d)
			}
		}
	}
	return array.NewRecordBatch(arrow.NewSchema(testFields, nil), columns, int64(rows)), values
}

// withNullEntry is a dictionary array whose nulls refer to an entry that is null.
func withNullEntry(d *array.Dictionary) arrow.Array {
	mem := memory.DefaultAllocator
	entries, err := arrowutil.Concatenate(mem, []arrow.Array{d.Dictionary(), arrowutil.Nulls(mem, d.Dictionary().DataType(), 1)})
	if err != nil {
		panic(err)
	}
	codes := array.NewBuilder(mem, d.Indices().DataType())
	for i := range d.Len() {
		code := d.Dictionary().Len()
		if d.IsValid(i) {
			code = d.GetValueIndex(i)
		}
		if err := codes.AppendValueFromString(fmt.Sprint(code)); err != nil {
			panic(err)
		}
	}
	return array.NewDictionaryArray(d.DataType(), codes.NewArray(), entries)
}

// appendRandom appends one of as many values as n has.
func appendRandom(r *rand.Rand, b array.Builder, n int) any {
	integer := func(v int64) any { return big.NewInt(v) }
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(n%2 == 0)
		return n%2 == 0
	case *array.Int8Builder:
		b.Append(int8(n%100 - 50))
		return integer(int64(n%100 - 50))
	case *array.Int32Builder:
		b.Append(int32(n * 1999))
		return integer(int64(n * 1999))
	case *array.Int64Builder:
		v := int64(n % 120)
		if n%3 == 0 && r.IntN(2) == 0 {
			v = math.MaxInt64 / 64 * int64(n%5-2)
		}
		if b.Type().ID() == arrow.INT64 && n > 120 {
			v = int64(n) * 1e15
		}
		if n == 4 {
			v = -1
		}
		b.Append(v)
		return integer(v)
	case *array.Uint64Builder:
		v := uint64(n)
		if n%7 == 0 {
			v = math.MaxUint64 - uint64(n)
		}
		b.Append(v)
		return new(big.Int).SetUint64(v)
	case *array.Float64Builder:
		v := []float64{float64(n) / 4, -float64(n), math.NaN(), math.Copysign(0, -1), 0, float64(n) * 1e10, math.Inf(1)}[min(n, 6)*r.IntN(2)]
		b.Append(v)
		return v
	case *array.Float32Builder:
		b.Append(float32(n) / 8)
		return float64(float32(n) / 8)
	case *array.StringBuilder:
		s := strings.Repeat("x\x00", n%3) + fmt.Sprint(n)
		b.Append(s)
		return s
	case *array.StringViewBuilder:
		s := fmt.Sprint(n, strings.Repeat("long ", n%4))
		b.Append(s)
		return s
	case *array.Date32Builder:
		b.Append(arrow.Date32(10_000 + n))
		return integer(int64(10_000 + n))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(1e15 + int64(n)*1e9))
		return integer(1e15 + int64(n)*1e9)
	case *array.Decimal128Builder:
		v := decimal128.FromI64(int64(n) * 25)
		if b.Type().(*arrow.Decimal128Type).Precision == 38 && n%2 == 0 {
			v = v.Mul(decimal128.FromI64(1e18)).Negate()
		}
		b.Append(v)
		return v.BigInt()
	}
	panic(fmt.Sprintf("%T", b))
}

// keyText is equal for equal values.
func keyText(v any) string {
	if f, ok := v.(float64); ok && f == 0 {
		v = 0.0
	}
	return fmt.Sprintf("%T %v", v, v)
}

func compareValues(a, b any) int {
	switch a := a.(type) {
	case *big.Int:
		return a.Cmp(b.(*big.Int))
	case float64:
		if f := b.(float64); a != a || f != f { // NaN is greatest
			return -cmp.Compare(boolInt(a == a), boolInt(f == f))
		}
		return cmp.Compare(a, b.(float64))
	case bool:
		return cmp.Compare(boolInt(a), boolInt(b.(bool)))
	}
	return cmp.Compare(a.(string), b.(string))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func number64(v any) float64 {
	if b, ok := v.(bool); ok {
		return float64(boolInt(b))
	}
	if i, ok := v.(*big.Int); ok {
		f, _ := new(big.Float).SetInt(i).Float64()
		return f
	}
	return v.(float64)
}

// oracle computes a function of the values of a group, nulls included.
func oracle(name string, all []any, distinct bool) any {
	var some []any
	seen := map[string]bool{}
	for _, v := range all {
		if v == nil || distinct && seen[keyText(v)] {
			continue
		}
		seen[keyText(v)] = true
		some = append(some, v)
	}
	switch name {
	case "count":
		return float64(len(some))
	case "approx_distinct":
		return float64(len(seen))
	case "first":
		return all[0]
	case "last":
		return all[len(all)-1]
	}
	if len(some) == 0 {
		return nil
	}
	sorted := slices.Clone(some)
	slices.SortStableFunc(sorted, compareValues)
	switch name {
	case "any_value":
		return some[0]
	case "min", "bool_and":
		return sorted[0]
	case "max", "bool_or":
		return sorted[len(sorted)-1]
	case "quantile":
		return sorted[max(1, len(some)-int(math.Floor(float64(len(some))-0.3*float64(len(some)))))-1]
	case "median":
		at := float64(len(some)-1) * 0.5
		lo, hi := number64(sorted[int(at)]), number64(sorted[int(math.Ceil(at))])
		if lo == hi || at == math.Trunc(at) {
			return lo
		}
		return lo + (hi-lo)*0.5
	}
	if _, ok := some[0].(bool); ok && name == "sum" {
		some = slices.Clone(some)
		for i, v := range some {
			some[i] = big.NewInt(int64(boolInt(v.(bool))))
		}
	}
	if i, ok := some[0].(*big.Int); ok && name == "sum" {
		sum := new(big.Int).Set(i)
		for _, v := range some[1:] {
			sum.Add(sum, v.(*big.Int))
		}
		return sum
	}
	sum, exact := 0.0, new(big.Float).SetPrec(500)
	for _, v := range some {
		f := number64(v)
		if sum += f; !math.IsInf(f, 0) && f == f {
			exact.Add(exact, new(big.Float).SetFloat64(f))
		}
	}
	if !math.IsInf(sum, 0) && sum == sum {
		sum, _ = exact.Float64()
	}
	n := float64(len(some))
	switch name {
	case "sum":
		return sum
	case "avg":
		return sum / n
	}
	squares := 0.0
	for _, v := range some {
		d := number64(v) - sum/n
		squares += d * d
	}
	if len(some) == 1 {
		return nil
	}
	return math.Sqrt(squares / (n - 1))
}

// testCalls are calls by the columns that they take.
var testCalls = map[string][]string{
	"count":           {"b", "i8", "f64", "s", "v", "d", "d8", "d38"},
	"sum":             {"b", "i8", "i32", "i64", "u64", "f32", "d15", "d38", "d8"},
	"avg":             {"i8", "i64", "u64", "f32", "d15"},
	"min":             {"b", "i8", "i64", "u64", "f64", "f32", "s", "v", "d", "day", "ts", "d15", "d38", "d8"},
	"max":             {"b", "i8", "i64", "u64", "f64", "f32", "s", "v", "d", "day", "ts", "d15", "d38", "d8"},
	"first":           {"b", "i64", "f32", "s", "v", "d", "d38", "d8"},
	"last":            {"b", "i64", "f32", "s", "v", "d", "d38", "d8"},
	"any_value":       {"b", "i64", "s", "v", "d", "d38"},
	"stddev":          {"i8", "i32", "f32", "d15"},
	"median":          {"i8", "i32", "f64", "d15", "ts"},
	"quantile":        {"i8", "u64", "f32", "s", "d", "v", "d38", "b"},
	"bool_and":        {"b"},
	"bool_or":         {"b"},
	"approx_distinct": {"i8", "i64", "s", "v", "d", "f64", "d38", "d8"},
}

var noDistinct = []string{"first", "last", "any_value"}

// testCall is a random call.
type testCall struct {
	name, column    string
	distinct, where bool
}

func (c testCall) String() string {
	s := c.column
	if c.distinct {
		s = "distinct " + s
	}
	if c.name == "quantile" {
		s += ", 0.3"
	}
	s = c.name + "(" + s + ")"
	if c.where {
		s += " filter (where i8 > 0)"
	}
	return s
}

func randomCalls(r *rand.Rand) (calls []testCall) {
	names := []string{}
	for name := range testCalls {
		names = append(names, name)
	}
	slices.Sort(names)
	for range 1 + r.IntN(8) {
		name := names[r.IntN(len(names))]
		c := testCall{name: name, column: testCalls[name][r.IntN(len(testCalls[name]))], where: r.IntN(4) == 0}
		c.distinct = r.IntN(4) == 0 && !slices.Contains(noDistinct, name)
		calls = append(calls, c)
	}
	return calls
}

// question is a random query and what the oracle answers: the results of calls by the text of keys.
type question struct {
	keys    []string
	calls   []testCall
	batches []arrow.RecordBatch
	answers map[string][]any
}

func randomQuestion(r *rand.Rand, most int) question {
	q := question{calls: randomCalls(r), answers: map[string][]any{}}
	for _, i := range r.Perm(len(testFields))[:r.IntN(5)] {
		q.keys = append(q.keys, testFields[i].Name)
	}
	index := map[string]int{}
	for i, f := range testFields {
		index[f.Name] = i
	}
	groups := map[string][][]any{} // values of each column
	spread := []int{3, 20, 2000, 1 << 20}[r.IntN(4)]
	if len(q.keys) == 0 {
		groups[""] = make([][]any, len(testFields))
	}
	for range 1 + r.IntN(4) {
		batch, values := randomBatch(r, r.IntN(most), spread)
		q.batches = append(q.batches, batch)
		for row := range int(batch.NumRows()) {
			var key strings.Builder
			for _, k := range q.keys {
				key.WriteString(keyText(values[index[k]][row]) + "|")
			}
			g := groups[key.String()]
			if g == nil {
				g = make([][]any, len(testFields))
				groups[key.String()] = g
			}
			for c := range values {
				g[c] = append(g[c], values[c][row])
			}
		}
	}
	for key, g := range groups {
		for _, c := range q.calls {
			all := g[index[c.column]]
			if c.where {
				var kept []any
				for row, v := range g[index["i8"]] {
					if i, ok := v.(*big.Int); ok && i.Sign() > 0 {
						kept = append(kept, all[row])
					}
				}
				all = kept
			}
			var answer any
			if len(all) > 0 || c.name == "count" || c.name == "approx_distinct" {
				answer = oracle(c.name, all, c.distinct)
			}
			q.answers[key] = append(q.answers[key], answer)
		}
	}
	return q
}

func (q question) text() string {
	var calls []string
	for _, c := range q.calls {
		calls = append(calls, c.String())
	}
	return fmt.Sprintf("%s by %s", strings.Join(calls, ", "), strings.Join(q.keys, ","))
}

// run returns the results as a table.
func (q question) run(t *testing.T, o Options) []arrow.RecordBatch {
	t.Helper()
	var calls []string
	for _, c := range q.calls {
		calls = append(calls, c.String())
	}
	return runQuery(t, strings.Join(q.keys, ","), strings.Join(calls, ", "), q.batches, o)
}

func bindQuery(t testing.TB, keys, calls string, s *arrow.Schema) *Query {
	t.Helper()
	k, err := ast.ParseValues(keys)
	require.NoError(t, err)
	c, err := ast.ParseCalls(calls)
	require.NoError(t, err)
	query, err := Bind(k, c, s)
	require.NoError(t, err)
	return query
}

func runQuery(t testing.TB, keys, calls string, batches []arrow.RecordBatch, o Options) (out []arrow.RecordBatch) {
	t.Helper()
	query := bindQuery(t, keys, calls, batches[0].Schema())
	a, err := New(query, o)
	require.NoError(t, err)
	defer a.Close()
	for _, b := range batches {
		require.NoError(t, a.Add(t.Context(), b))
	}
	require.NoError(t, a.Finish(t.Context(), nil, func(b arrow.RecordBatch) error {
		for _, c := range b.Columns() {
			require.NoError(t, arrowutil.Check(c))
		}
		b.Retain()
		out = append(out, b)
		return nil
	}))
	return out
}

// valueAt is a value of a result, as the oracle sees it.
func valueAt(arr arrow.Array, row int) any {
	if arr.IsNull(row) {
		return nil
	}
	switch a := arr.(type) {
	case *array.Boolean:
		return a.Value(row)
	case *array.Int8:
		return big.NewInt(int64(a.Value(row)))
	case *array.Int32:
		return big.NewInt(int64(a.Value(row)))
	case *array.Int64:
		return big.NewInt(a.Value(row))
	case *array.Uint64:
		return new(big.Int).SetUint64(a.Value(row))
	case *array.Date32:
		return big.NewInt(int64(a.Value(row)))
	case *array.Timestamp:
		return big.NewInt(int64(a.Value(row)))
	case *array.Decimal128:
		return a.Value(row).BigInt()
	case *array.Float64:
		return a.Value(row)
	case *array.Float32:
		return float64(a.Value(row))
	case *array.String:
		return a.Value(row)
	case *array.StringView:
		return a.Value(row)
	}
	panic(fmt.Sprintf("%T", arr))
}

func sameValue(want, got any, scale float64) bool {
	if want == nil || got == nil {
		return want == got
	}
	if f, ok := want.(float64); ok {
		g := number64(got) / scale
		if f == g || f != f && g != g {
			return true
		}
		return math.Abs(f-g) <= 1e-9*math.Max(math.Abs(f), math.Abs(g))
	}
	return compareValues(want, got) == 0
}

func (q question) check(t *testing.T, results []arrow.RecordBatch) {
	t.Helper()
	rows := 0
	for _, b := range results {
		for row := range int(b.NumRows()) {
			rows++
			var key strings.Builder
			for i := range q.keys {
				key.WriteString(keyText(valueAt(b.Column(i), row)) + "|")
			}
			want, ok := q.answers[key.String()]
			require.True(t, ok, "%s: no group %s", q.text(), key.String())
			for i, c := range q.calls {
				got := valueAt(b.Column(len(q.keys)+i), row)
				scale := 1.0
				if (c.name == "avg" || c.name == "stddev") && c.column == "d15" {
					scale = 0.01
				}
				w := want[i]
				if f, ok := w.(float64); ok && c.name == "median" && (c.column == "d15" || c.column == "ts") {
					w = big.NewInt(int64(f)) // cut
				}
				if c.name == "approx_distinct" && number64(w) > sketch.MostHashes {
					require.InEpsilon(t, number64(w), number64(got), 0.08, q.text())
					continue
				}
				require.True(t, sameValue(w, got, scale), "%s: group %s, %s: want %v, got %v", q.text(), key.String(), c, w, got)
			}
		}
	}
	require.Len(t, q.answers, rows, q.text())
}

// TestOracle compares random queries with an oracle of a few lines, in memory and with most groups in temporary files.
func TestOracle(t *testing.T) {
	rows := 400
	if sweep.All() {
		rows = 3000
	}
	for seed := range uint64(sweep.Count(40, 1000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		q := randomQuestion(r, rows)
		q.check(t, q.run(t, Options{Parallelism: 1}))
		if !slices.ContainsFunc(q.calls, func(c testCall) bool { return c.name == "median" || c.name == "quantile" }) {
			q.check(t, q.run(t, Options{Parallelism: 3, Memory: 1 << 16, TempDir: t.TempDir()}))
		}
	}
}
