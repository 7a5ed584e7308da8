package profile_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/text/textkind"
)

// profiled is the profile of a column in batches of some rows.
func profiled(t *testing.T, arr arrow.Array, rows int) *profile.Profile {
	t.Helper()
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType(), Nullable: true}}, nil)
	p := profile.New(s, profile.Options{})
	for i := 0; i < arr.Len(); i += rows {
		part := array.NewSlice(arr, int64(i), int64(min(i+rows, arr.Len())))
		require.NoError(t, p.Add(t.Context(), array.NewRecordBatch(s, []arrow.Array{part}, int64(part.Len()))))
	}
	return p.Result()
}

func floats(values []float64) arrow.Array {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return b.NewArray()
}

func texts(n int, value func(i int) string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range n {
		b.Append(value(i))
	}
	return b.NewArray()
}

// TestNumbers compares with plain calculations on values that repeat, in batches of different sizes.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := array.NewInt64Builder(memory.DefaultAllocator)
	var values []int64
	nulls := int64(0)
	counts := map[int64]int64{}
	for range 30_000 {
		if r.IntN(10) == 0 {
			b.AppendNull()
			nulls++
			continue
		}
		v := int64(r.NormFloat64() * 300)
		b.Append(v)
		values = append(values, v)
		counts[v]++
	}
	arr := b.NewArray()
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += float64(v)
	}
	mean := sum / float64(len(values))
	for _, v := range values {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	sorted := slices.Sorted(slices.Values(values))
	var first *profile.Profile
	for _, rows := range []int{30_000, 997, 64} {
		p := profiled(t, arr, rows)
		if first == nil {
			first = p
		}
		require.Equal(t, first, p, "batches of %d", rows)
	}
	c := first.Columns[0]
	require.Equal(t, nulls, c.Nulls)
	require.EqualValues(t, len(counts), c.Distinct)
	require.True(t, c.DistinctExact)
	require.Equal(t, strconv.FormatInt(sorted[0], 10), c.Min.Text)
	require.Equal(t, strconv.FormatInt(sorted[len(sorted)-1], 10), c.Max.Text)
	require.InEpsilon(t, mean, c.Numbers.Mean.Float, 1e-9)
	require.InEpsilon(t, math.Sqrt(squares/float64(len(values)-1)), *c.Numbers.Deviation, 1e-9)
	require.Equal(t, counts[0], c.Numbers.Zeros)
	require.Zero(t, c.Numbers.RankError)
	for i, q := range c.Numbers.Quantiles {
		rank := int(math.Ceil(profile.Shares[i]*float64(len(values)))) - 1
		require.EqualValues(t, sorted[rank], q.Float)
	}
	require.Zero(t, c.Top.Error)
	for _, v := range c.Top.Values {
		require.Equal(t, counts[int64(v.Float)], v.Count)
	}
	in := c.Histogram.Below + c.Histogram.Above
	for _, bin := range c.Histogram.Bins {
		in += bin.Count
		want := int64(0)
		for _, v := range values {
			if float64(v) >= bin.From.Float && float64(v) < bin.To.Float {
				want++
			}
		}
		require.Equal(t, want, bin.Count, "%s to %s", bin.From.Text, bin.To.Text)
	}
	require.EqualValues(t, len(values), in)
}

// TestQuantilesOfSamples: the ranks of quantiles of many different values are within the stated error, in whatever order they come.
func TestQuantilesOfSamples(t *testing.T) {
	const n = 600_000
	r := rand.New(rand.NewPCG(3, 4))
	draw := map[string]func(i int) float64{
		"ascending":  func(i int) float64 { return float64(i) },
		"descending": func(i int) float64 { return float64(-i) },
		"uniform":    func(int) float64 { return r.Float64() },
		"tail":       func(int) float64 { return math.Exp(10 * r.NormFloat64()) },
		"waves":      func(i int) float64 { return math.Sin(float64(i)/100) + 1e-6*r.Float64() },
	}
	for name, f := range draw {
		t.Run(name, func(t *testing.T) {
			values := make([]float64, n)
			for i := range values {
				values[i] = f(i)
			}
			c := profiled(t, floats(values), 32<<10).Columns[0]
			slices.Sort(values)
			require.Positive(t, c.Numbers.RankError)
			require.Less(t, c.Numbers.RankError, 0.01)
			require.EqualValues(t, values[0], c.Min.Float)
			require.EqualValues(t, values[n-1], c.Max.Float)
			for i, q := range c.Numbers.Quantiles {
				rank, _ := slices.BinarySearch(values, q.Float)
				require.InDelta(t, profile.Shares[i], float64(rank)/n, c.Numbers.RankError)
			}
			require.InEpsilon(t, n, c.Distinct, 0.03)
		})
	}
}

// TestFrequentValues: counts of frequent values among very many others are within the stated error.
func TestFrequentValues(t *testing.T) {
	const n = 400_000
	counts := map[string]int64{}
	value := func(i int) string {
		if i%10 < 3 {
			return "frequent " + strconv.Itoa(i%10)
		}
		return strconv.Itoa(i)
	}
	arr := texts(n, value)
	for i := range n {
		counts[value(i)]++
	}
	c := profiled(t, arr, 10_000).Columns[0]
	require.Positive(t, c.Top.Error)
	require.Less(t, c.Top.Error, int64(n/100))
	for _, v := range c.Top.Values[:3] {
		require.GreaterOrEqual(t, counts[v.Text], v.Count)
		require.LessOrEqual(t, counts[v.Text], v.Count+c.Top.Error)
		require.Contains(t, v.Text, "frequent")
	}
	require.InEpsilon(t, len(counts), c.Distinct, 0.03)
	require.EqualValues(t, n, c.Texts.Kinds[0].Count+c.Texts.Kinds[1].Count)
}

// TestMemory: two million different texts, and as many numbers, take no more memory than the limits of a column.
func TestMemory(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "number", Type: arrow.PrimitiveTypes.Int64}}, nil)
	p := profile.New(s, profile.Options{})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	const batch, batches = 20_000, 100
	for k := range batches {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		for i := range batch {
			b.Append(int64(k*batch+i) * 7919)
		}
		columns := []arrow.Array{texts(batch, func(i int) string { return fmt.Sprintf("value number %d of two million", k*batch+i) }), b.NewArray()}
		require.NoError(t, p.Add(t.Context(), array.NewRecordBatch(s, columns, batch)))
	}
	require.Less(t, heap()-min(before, heap()), uint64(32<<20))
	r := p.Result()
	require.InEpsilon(t, batch*batches, r.Columns[0].Distinct, 0.03)
	require.EqualValues(t, batch*batches, r.Columns[1].Distinct)
	require.Equal(t, profile.StrictAscending, r.Columns[1].Order)
}

// TestAllTypes: every type is described, alone and in structs, lists and dictionaries.
func TestAllTypes(t *testing.T) {
	batch := arrowtest.Batch(t, arrowtest.Columns())
	p := profile.New(batch.Schema(), profile.Options{})
	require.NoError(t, p.Add(t.Context(), batch))
	require.NoError(t, p.Add(t.Context(), batch.NewSlice(1, batch.NumRows())))
	r := p.Result()
	for _, c := range r.Columns {
		require.LessOrEqual(t, c.Nulls, c.Count, c.Path)
		if c.Min != nil {
			require.NotNil(t, c.Max, c.Path)
		}
		if c.Depth == 0 {
			require.Equal(t, r.Rows, c.Count, c.Path)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, profile.New(batch.Schema(), profile.Options{}).Add(ctx, batch), context.Canceled)
}

// TestEmptyStruct describes structs without fields, some of which are null.
func TestEmptyStruct(t *testing.T) {
	b := array.NewStructBuilder(memory.DefaultAllocator, arrow.StructOf())
	b.Append(true)
	b.AppendNull()
	c := profiled(t, b.NewArray(), 1).Columns[0]
	require.Equal(t, profile.Struct, c.Class)
	require.EqualValues(t, 2, c.Count)
	require.EqualValues(t, 1, c.Nulls)
}

// TestMomentsOfLargeIntegers: those that floats round, such as ids, have the deviation of their differences.
func TestMomentsOfLargeIntegers(t *testing.T) {
	for _, c := range []struct {
		first, step int64
		deviation   float64
	}{{15808039449788416, 1, 2886.8956799071675}, {6374628540732951412, 0, 0}, {-9223372036854775808, 1, 2886.8956799071675}, {0, 1, 2886.8956799071675}} {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		for i := range int64(10_000) {
			b.Append(c.first + i*c.step)
		}
		n := profiled(t, b.NewArray(), 700).Columns[0].Numbers
		require.InEpsilon(t, 1+c.deviation, 1+*n.Deviation, 1e-12)
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues([]int64{math.MinInt64, math.MaxInt64}, nil)
	require.InEpsilon(t, math.Ldexp(1, 64)/math.Sqrt2, *profiled(t, b.NewArray(), 2).Columns[0].Numbers.Deviation, 1e-12)
}

// TestKinds: texts are counted by their kinds.
func TestKinds(t *testing.T) {
	kinds := profiled(t, texts(3, func(i int) string { return []string{"abc", "12", "abc"}[i] }), 2).Columns[0].Texts.Kinds
	require.Equal(t, textkind.Other, kinds[0].Kind)
	require.EqualValues(t, 2, kinds[0].Count)
	require.Equal(t, textkind.Int, kinds[1].Kind)
}

func FuzzTexts(f *testing.F) {
	for _, s := range []string{"", "N/A", "1,234.5", "12/31/2012 10:11 PM", "Sun, 31 Dec 2012", "\xff", "é 1", "2012-12-31T10:11:12+01:00", "5 Jan"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { profiled(t, texts(2, func(int) string { return s }), 1) })
}

// TestLittleMemory profiles columns with room for few counts, as in tables of many columns, also for numbers of counts that are no
// powers of two.
func TestLittleMemory(t *testing.T) {
	const rows = 3_000
	values := make([]float64, rows)
	for i := range values {
		values[i] = float64(i*7919%1013) / 8
	}
	column := floats(values)
	defer column.Release()
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: column.DataType(), Nullable: true}}, nil)
	b := array.NewRecordBatch(s, []arrow.Array{column}, rows)
	defer b.Release()
	for memory := int64(1 << 10); memory < 1<<20; memory += memory/3 + 77 {
		p := profile.New(s, profile.Options{Memory: memory})
		require.NoError(t, p.Add(t.Context(), b))
		out := p.Result()
		require.EqualValues(t, rows, out.Rows)
		require.InEpsilon(t, 1013, out.Columns[0].Distinct, 0.05)
	}
}
