package predicate_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/filtertest"
)

// Verdicts of conditions and of their parts never contradict their evaluation.
func TestPruneAgainstEval(t *testing.T) {
	count := map[predicate.Verdict]int{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		batch := randomBatch(r)
		if batch.NumRows() == 0 {
			continue
		}
		g := filtertest.New(seed, batch)
		for range 12 {
			e, _ := g.Condition()
			b, err := predicate.Bind(e.Node(), batch.Schema())
			require.NoError(t, err)
			from := r.Int64N(batch.NumRows())
			to := from + 1 + r.Int64N(min(batch.NumRows()-from, 20))
			part := batch.NewSlice(from, to)
			columns := make([]arrow.Array, len(b.Columns()))
			facts := make([]predicate.Facts, len(columns))
			for i := range columns {
				columns[i], err = b.Column(i).Of(part)
				require.NoError(t, err)
				facts[i] = factsOf(columns[i], r)
			}
			if r.IntN(10) == 0 {
				facts = facts[:r.IntN(len(facts)+1)]
			}
			var check func(n *predicate.Node)
			check = func(n *predicate.Node) {
				v := n.Prune(facts)
				bits, err := n.Eval(nil, columns, int(to-from))
				require.NoError(t, err)
				rows := rowset.FromBits(bits, 0, int(to-from), 0)
				switch count[v]++; v {
				case predicate.None:
					require.True(t, rows.Empty(), "seed %d: %s, %v", seed, e, facts)
				case predicate.All:
					require.True(t, rows.Equal(rowset.All(to-from)), "seed %d: %s, %v", seed, e, facts)
				}
				for _, k := range n.Nodes {
					check(k)
				}
			}
			check(b.Root())
			require.Equal(t, b.Root().Prune(facts), b.Prune(facts))
		}
	}
	require.Greater(t, count[predicate.None], 3000, count)
	require.Greater(t, count[predicate.All], 1000, count)
}

// Facts give the expected verdicts.
func TestPrune(t *testing.T) {
	text := func(s string) predicate.Limit { return predicate.BytesLimit([]byte(s)) }
	known := predicate.Facts{NoNulls: true, NoNaNs: true, Min: predicate.IntLimit(10), Max: predicate.IntLimit(20)}
	nulls := predicate.Facts{Min: known.Min, Max: known.Max}
	words := predicate.Facts{NoNulls: true, Min: text("bar"), Max: text("foo")}
	floats := predicate.Facts{NoNulls: true, Min: predicate.FloatLimit(10), Max: predicate.FloatLimit(20)}
	sieve := predicate.Facts{MayHold: func(v []byte) bool { return string(v) == "yes" }}
	for _, c := range []struct {
		dt        arrow.DataType
		facts     predicate.Facts
		condition string
		want      predicate.Verdict
	}{
		{arrow.PrimitiveTypes.Int32, known, "x > 20", predicate.None},
		{arrow.PrimitiveTypes.Int32, known, "x >= 20", predicate.Some},
		{arrow.PrimitiveTypes.Int32, known, "x >= 10", predicate.All},
		{arrow.PrimitiveTypes.Int32, nulls, "x >= 10", predicate.Some},
		{arrow.PrimitiveTypes.Int32, nulls, "not x >= 10", predicate.None},
		{arrow.PrimitiveTypes.Int32, known, "x <> 5", predicate.All},
		{arrow.PrimitiveTypes.Int32, known, "x in (1, 2, 30)", predicate.None},
		{arrow.PrimitiveTypes.Int32, known, "x = 15 and x is null", predicate.None},
		{arrow.PrimitiveTypes.Int32, known, "x = 15 or x is not null", predicate.All},
		{arrow.PrimitiveTypes.Int32, known, "x < 3 or x = 15", predicate.Some},
		{arrow.PrimitiveTypes.Int32, predicate.Facts{NoValues: true}, "x < 3", predicate.None},
		{arrow.PrimitiveTypes.Int32, predicate.Facts{NoValues: true}, "x is null", predicate.All},
		{arrow.PrimitiveTypes.Int32, predicate.Facts{NoValues: true}, "x = x", predicate.None},
		{arrow.PrimitiveTypes.Int32, predicate.Facts{}, "x = 3", predicate.Some},
		{arrow.PrimitiveTypes.Int32, words, "x = 3", predicate.Some}, // bounds of another kind
		{arrow.PrimitiveTypes.Float64, floats, "x > 5", predicate.Some},
		{arrow.PrimitiveTypes.Float64, floats, "x <> 5", predicate.All}, // NaN differs from 5
		{arrow.PrimitiveTypes.Float64, floats, "x > 30", predicate.None},
		{arrow.PrimitiveTypes.Float64, floats, "not x > 30", predicate.All},
		{arrow.PrimitiveTypes.Float64, floats, "x is nan", predicate.Some},
		{arrow.PrimitiveTypes.Float64, predicate.Facts{NoNaNs: true}, "x is nan", predicate.None},
		{arrow.PrimitiveTypes.Float64, predicate.Facts{NoNulls: true, NoValues: true}, "x is nan", predicate.All},
		{arrow.PrimitiveTypes.Float64, predicate.Facts{NoValues: true}, "x is null", predicate.Some},
		{arrow.BinaryTypes.String, words, "x = 'aaa'", predicate.None},
		{arrow.BinaryTypes.String, words, "x starts with 'c'", predicate.Some},
		{arrow.BinaryTypes.String, words, "x starts with 'g'", predicate.None},
		{arrow.BinaryTypes.String, words, "x like 'g%x'", predicate.None},
		{arrow.BinaryTypes.String, words, "x not like 'g%x'", predicate.All},
		{arrow.BinaryTypes.String, words, "x matches '^g[a-z]'", predicate.None},
		{arrow.BinaryTypes.String, words, "x contains 'g'", predicate.Some},
		{arrow.BinaryTypes.String, words, "x >= 'bar'", predicate.All},
		{arrow.BinaryTypes.String, sieve, "x = 'no'", predicate.None},
		{arrow.BinaryTypes.String, sieve, "x in ('no', 'never')", predicate.None},
		{arrow.BinaryTypes.String, sieve, "x in ('no', 'yes')", predicate.Some},
		{arrow.BinaryTypes.String, sieve, "x > 'no'", predicate.Some},
		{arrow.FixedWidthTypes.Boolean, predicate.Facts{Min: predicate.BoolLimit(true)}, "not x", predicate.None},
		{arrow.FixedWidthTypes.Boolean, predicate.Facts{Max: predicate.BoolLimit(false), NoNulls: true}, "not x", predicate.All},
		{&arrow.Decimal128Type{Precision: 20, Scale: 2}, known, "x > 0.2", predicate.None},
		{&arrow.Decimal128Type{Precision: 20, Scale: 2}, known, "x > 0.05", predicate.All},
		{arrow.PrimitiveTypes.Int32, known, "true", predicate.All},
		{arrow.PrimitiveTypes.Int32, known, "null", predicate.None},
	} {
		s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.dt, Nullable: true}}, nil)
		b, err := predicate.BindText(c.condition, s)
		require.NoError(t, err)
		require.Equal(t, c.want, b.Prune([]predicate.Facts{c.facts}), "%s: %v", c.condition, c.facts)
	}
}

// Bounds of two columns decide how their values compare, if they do not overlap.
func TestPruneComparison(t *testing.T) {
	ints := func(lo, hi int64) predicate.Facts {
		return predicate.Facts{NoNulls: true, NoNaNs: true, Min: predicate.IntLimit(lo), Max: predicate.IntLimit(hi)}
	}
	floats := predicate.Facts{NoNulls: true, Min: predicate.FloatLimit(1), Max: predicate.FloatLimit(2)}
	high := predicate.Facts{NoNulls: true, NoNaNs: true, Min: predicate.FloatLimit(3), Max: predicate.FloatLimit(4)}
	nulls := ints(1, 5)
	nulls.NoNulls = false
	for _, c := range []struct {
		dt        arrow.DataType
		x, y      predicate.Facts
		condition string
		want      predicate.Verdict
	}{
		{arrow.PrimitiveTypes.Int64, ints(1, 5), ints(6, 9), "x < y", predicate.All},
		{arrow.PrimitiveTypes.Int64, ints(1, 5), ints(6, 9), "x <= y", predicate.All},
		{arrow.PrimitiveTypes.Int64, ints(1, 5), ints(6, 9), "x <> y", predicate.All},
		{arrow.PrimitiveTypes.Int64, ints(1, 5), ints(6, 9), "x = y", predicate.None},
		{arrow.PrimitiveTypes.Int64, ints(1, 5), ints(6, 9), "x >= y", predicate.None},
		{arrow.PrimitiveTypes.Int64, ints(1, 5), ints(5, 9), "x <= y", predicate.All},
		{arrow.PrimitiveTypes.Int64, ints(1, 5), ints(5, 9), "x < y", predicate.Some},
		{arrow.PrimitiveTypes.Int64, ints(1, 5), ints(5, 9), "x > y", predicate.None},
		{arrow.PrimitiveTypes.Int64, ints(5, 9), ints(1, 5), "x >= y", predicate.All},
		{arrow.PrimitiveTypes.Int64, ints(7, 7), ints(7, 7), "x = y", predicate.All},
		{arrow.PrimitiveTypes.Int64, ints(1, 6), ints(5, 9), "x > y", predicate.Some},
		{arrow.PrimitiveTypes.Int64, nulls, ints(6, 9), "x < y", predicate.Some},
		{arrow.PrimitiveTypes.Int64, nulls, ints(6, 9), "x > y", predicate.None},
		{arrow.PrimitiveTypes.Int64, predicate.Facts{NoNulls: true}, ints(6, 9), "x > y", predicate.Some},
		{arrow.PrimitiveTypes.Float64, floats, high, "x < y", predicate.Some}, // x may be NaN
		{arrow.PrimitiveTypes.Float64, floats, high, "x > y", predicate.None},
		{arrow.PrimitiveTypes.Float64, floats, high, "x <> y", predicate.All},
		{arrow.PrimitiveTypes.Float64, floats, high, "not x < y", predicate.Some},
		{extensions.NewBool8Type(), ints(-93, -93), ints(100, 100), "x = y", predicate.Some},
	} {
		s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.dt}, {Name: "y", Type: c.dt}}, nil)
		b, err := predicate.BindText(c.condition, s)
		require.NoError(t, err)
		require.Equal(t, c.want, b.Prune([]predicate.Facts{c.x, c.y}), c)
	}
}
