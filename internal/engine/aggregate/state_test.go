package aggregate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/ast"
)

// Sums are exact, however large integers are.
func TestSumsOfAnySize(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 8))
		edges := []int64{0, laneValue - 1, -laneValue, laneValue, -laneValue - 1, math.MaxInt64, math.MinInt64}[:3+r.IntN(5)]
		s := &sums{}
		var want [8]big.Int
		for more := range 4 {
			s.grow(4 + more)
			b := array.NewInt64Builder(memory.DefaultAllocator)
			groups := make([]uint32, r.IntN(50))
			for i := range groups {
				v := edges[r.IntN(len(edges))]
				groups[i] = uint32(r.IntN(5 + more))
				b.Append(v)
				want[groups[i]].Add(&want[groups[i]], big.NewInt(v))
			}
			arg := &argument{name: "x", needs: needIntegers}
			require.NoError(t, arg.load(memory.DefaultAllocator, b.NewArray(), false))
			require.NoError(t, s.add(groups, arg))
		}
		for g := range want[1:] {
			require.Equal(t, want[g+1].String(), s.of(g+1).BigInt().String())
		}
	}
}

// Numbers that a batch gives before it turns out that its keys need to be encoded stay the same.
func TestKeysBecomeTexts(t *testing.T) {
	dt := &arrow.Decimal128Type{Precision: 38, Scale: 0}
	batch := func(high int64, low ...uint64) arrow.RecordBatch {
		b := array.NewDecimal128Builder(memory.DefaultAllocator, dt)
		for _, v := range low {
			b.Append(decimal128.New(0, v))
		}
		b.Append(decimal128.New(high, 7))
		return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "k", Type: dt}}, nil), []arrow.Array{b.NewArray()}, int64(len(low)+1))
	}
	out := runQuery(t, "k", "count()", []arrow.RecordBatch{batch(0, 1, 9), batch(1, 2, 3, 1), batch(1, 2, 4)}, Options{})
	keys, counts := []string{}, []int64{}
	for _, b := range out {
		for i := range int(b.NumRows()) {
			keys = append(keys, b.Column(0).ValueStr(i))
			counts = append(counts, b.Column(1).(*array.Int64).Value(i))
		}
	}
	require.Equal(t, []string{"1", "9", "7", "2", "3", "18446744073709551623", "4"}, keys)
	require.Equal(t, []int64{2, 1, 1, 2, 1, 2, 1}, counts)
}

// Other names of a function give its results.
func TestAliases(t *testing.T) {
	batch, _ := randomBatch(rand.New(rand.NewPCG(1, 1)), 1000, 20)
	for alias, call := range map[string]string{
		"count_distinct(i64)": "count(distinct i64)", "COUNT_DISTINCT(s) filter (where i8 > 0)": "count(distinct s) filter (where i8 > 0)",
		"approx_count_distinct(i64)": "approx_distinct(i64)", "mean(i64)": "avg(i64)", "variance(i8)": "var_samp(i8)", "stddev(i8)": "stddev_samp(i8)",
		"quantile(i64, 0.3)": "quantile_disc(i64, 0.3)", "arbitrary(s)": "first(s)", "group_concat(s, '-')": "string_agg(s, '-')", "array_agg(i8)": "list(i8)",
	} {
		out := runQuery(t, "d8", alias+" as x, "+call+" as y", []arrow.RecordBatch{batch}, Options{})
		require.NotEmpty(t, out)
		for _, b := range out {
			require.True(t, array.Equal(b.Column(1), b.Column(2)), "%s\n%s\n%s", alias, b.Column(1), b.Column(2))
		}
	}
}

// A name that is nearly right is suggested.
func TestHintOfNames(t *testing.T) {
	for _, name := range []string{"count_distinct", "approx_distinct", "string_agg"} {
		calls, err := ast.ParseCalls(name[1:] + "(i64)")
		require.NoError(t, err)
		_, err = Bind(nil, calls, arrow.NewSchema(testFields, nil))
		require.ErrorContains(t, err, "is "+name+" meant?")
	}
}
