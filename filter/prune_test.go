package filter_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/filtertest"
)

// Verdicts, of whole conditions and of their parts, are never against what
// evaluation finds.
func TestPruneAgainstEval(t *testing.T) {
	count := map[filter.Verdict]int{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		batch := randomBatch(r)
		if batch.NumRows() == 0 {
			continue
		}
		g := filtertest.New(seed, batch)
		for range 12 {
			e, _ := g.Condition()
			b, err := filter.Bind(e, batch.Schema())
			require.NoError(t, err)
			from := r.Int64N(batch.NumRows())
			to := from + 1 + r.Int64N(min(batch.NumRows()-from, 20))
			part := batch.NewSlice(from, to)
			columns := make([]arrow.Array, len(b.Columns()))
			facts := make([]filter.Facts, len(columns))
			for i := range columns {
				columns[i], err = b.Column(i).Of(part)
				require.NoError(t, err)
				facts[i] = filtertest.Facts(columns[i], r)
			}
			if r.IntN(10) == 0 {
				facts = facts[:r.IntN(len(facts)+1)]
			}
			var check func(n *filter.Node)
			check = func(n *filter.Node) {
				v := n.Prune(facts)
				bits, err := n.Eval(nil, columns, int(to-from))
				require.NoError(t, err)
				rows := rowset.FromBits(bits, 0, int(to-from), 0)
				switch count[v]++; v {
				case filter.None:
					require.True(t, rows.Empty(), "seed %d: %s, %v", seed, e, facts)
				case filter.All:
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
	require.Greater(t, count[filter.None], 3000, count)
	require.Greater(t, count[filter.All], 1000, count)
}

// What is known decides as it should.
func TestPrune(t *testing.T) {
	text := func(s string) filter.Limit { return filter.BytesLimit([]byte(s)) }
	known := filter.Facts{NoNulls: true, NoNaNs: true, Min: filter.IntLimit(10), Max: filter.IntLimit(20)}
	nulls := filter.Facts{Min: known.Min, Max: known.Max}
	words := filter.Facts{NoNulls: true, Min: text("bar"), Max: text("foo")}
	floats := filter.Facts{NoNulls: true, Min: filter.FloatLimit(10), Max: filter.FloatLimit(20)}
	sieve := filter.Facts{MayHold: func(v []byte) bool { return string(v) == "yes" }}
	for _, c := range []struct {
		dt        arrow.DataType
		facts     filter.Facts
		condition string
		want      filter.Verdict
	}{
		{arrow.PrimitiveTypes.Int32, known, "x > 20", filter.None},
		{arrow.PrimitiveTypes.Int32, known, "x >= 20", filter.Some},
		{arrow.PrimitiveTypes.Int32, known, "x >= 10", filter.All},
		{arrow.PrimitiveTypes.Int32, nulls, "x >= 10", filter.Some},
		{arrow.PrimitiveTypes.Int32, nulls, "not x >= 10", filter.None},
		{arrow.PrimitiveTypes.Int32, known, "x <> 5", filter.All},
		{arrow.PrimitiveTypes.Int32, known, "x in (1, 2, 30)", filter.None},
		{arrow.PrimitiveTypes.Int32, known, "x = 15 and x is null", filter.None},
		{arrow.PrimitiveTypes.Int32, known, "x = 15 or x is not null", filter.All},
		{arrow.PrimitiveTypes.Int32, known, "x < 3 or x = 15", filter.Some},
		{arrow.PrimitiveTypes.Int32, filter.Facts{NoValues: true}, "x < 3", filter.None},
		{arrow.PrimitiveTypes.Int32, filter.Facts{NoValues: true}, "x is null", filter.All},
		{arrow.PrimitiveTypes.Int32, filter.Facts{NoValues: true}, "x = x", filter.None},
		{arrow.PrimitiveTypes.Int32, filter.Facts{}, "x = 3", filter.Some},
		{arrow.PrimitiveTypes.Int32, words, "x = 3", filter.Some}, // bounds of another kind
		{arrow.PrimitiveTypes.Float64, floats, "x > 5", filter.Some},
		{arrow.PrimitiveTypes.Float64, floats, "x <> 5", filter.All}, // NaN differs from 5
		{arrow.PrimitiveTypes.Float64, floats, "x > 30", filter.None},
		{arrow.PrimitiveTypes.Float64, floats, "not x > 30", filter.All},
		{arrow.PrimitiveTypes.Float64, floats, "x is nan", filter.Some},
		{arrow.PrimitiveTypes.Float64, filter.Facts{NoNaNs: true}, "x is nan", filter.None},
		{arrow.PrimitiveTypes.Float64, filter.Facts{NoNulls: true, NoValues: true}, "x is nan", filter.All},
		{arrow.PrimitiveTypes.Float64, filter.Facts{NoValues: true}, "x is null", filter.Some},
		{arrow.BinaryTypes.String, words, "x = 'aaa'", filter.None},
		{arrow.BinaryTypes.String, words, "x starts with 'c'", filter.Some},
		{arrow.BinaryTypes.String, words, "x starts with 'g'", filter.None},
		{arrow.BinaryTypes.String, words, "x like 'g%x'", filter.None},
		{arrow.BinaryTypes.String, words, "x not like 'g%x'", filter.All},
		{arrow.BinaryTypes.String, words, "x matches '^g[a-z]'", filter.None},
		{arrow.BinaryTypes.String, words, "x contains 'g'", filter.Some},
		{arrow.BinaryTypes.String, words, "x >= 'bar'", filter.All},
		{arrow.BinaryTypes.String, sieve, "x = 'no'", filter.None},
		{arrow.BinaryTypes.String, sieve, "x in ('no', 'never')", filter.None},
		{arrow.BinaryTypes.String, sieve, "x in ('no', 'yes')", filter.Some},
		{arrow.BinaryTypes.String, sieve, "x > 'no'", filter.Some},
		{arrow.FixedWidthTypes.Boolean, filter.Facts{Min: filter.BoolLimit(true)}, "not x", filter.None},
		{arrow.FixedWidthTypes.Boolean, filter.Facts{Max: filter.BoolLimit(false), NoNulls: true}, "not x", filter.All},
		{&arrow.Decimal128Type{Precision: 20, Scale: 2}, known, "x > 0.2", filter.None},
		{&arrow.Decimal128Type{Precision: 20, Scale: 2}, known, "x > 0.05", filter.All},
		{arrow.PrimitiveTypes.Int32, known, "true", filter.All},
		{arrow.PrimitiveTypes.Int32, known, "null", filter.None},
	} {
		s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.dt, Nullable: true}}, nil)
		b, err := filter.BindText(c.condition, s)
		require.NoError(t, err)
		require.Equal(t, c.want, b.Prune([]filter.Facts{c.facts}), "%s: %v", c.condition, c.facts)
	}
}
