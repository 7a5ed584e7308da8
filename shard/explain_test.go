package shard

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowfilter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/table/provider"
)

func (s *Shard) explain(ctx context.Context, o ScanOptions) (*scan.Explanation, error) {
	return scan.Explain(ctx, s.table, o.options())
}

func (s *Shard) analyze(ctx context.Context, o ScanOptions) (*scan.Explanation, error) {
	return scan.Analyze(ctx, s.table, o.options())
}

// statistics is what a shard records of a column.
func (s *Shard) statistics(ctx context.Context, path string) (provider.ColumnStatistics, error) {
	all, err := s.recorded().Columns(ctx, []string{path})
	if err != nil {
		return provider.ColumnStatistics{}, err
	}
	return all.Columns[0], nil
}

// TestExplain checks the answer of each source to a filter that it can decide, and compares the explanation with a
// run.
func TestExplain(t *testing.T) {
	ctx := context.Background()
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, flightsLike(100_000), WriterOptions{StripeRows: 40_000}, 100_000)
	s, err := Open(ctx, location, OpenOptions{SuffixBytes: 4096}) // a longer one has the data
	require.NoError(t, err)
	defer s.Close()
	explain := func(text string) []rowfilter.Step {
		x, err := s.explain(ctx, ScanOptions{Filter: where(t, text), Stripes: []int{1}})
		require.NoError(t, err)
		require.EqualValues(t, 100_000, x.Rows)
		require.EqualValues(t, 40_000, x.Asked)
		require.Len(t, x.Stripes, 1)
		return x.Stripes[0].Steps
	}
	steps := explain("c0 < 100")
	require.Len(t, steps, 1)
	require.Equal(t, Statistics, steps[0].Source)
	require.Zero(t, steps[0].Left)

	steps = explain("c0 < 0") // nothing of the stripe is asked
	require.Len(t, steps, 1)
	require.Zero(t, steps[0].Left)
	require.Equal(t, "of the whole table", steps[0].Note)

	steps = explain("c0 >= 40000")
	require.Len(t, steps, 1)
	require.EqualValues(t, 40_000, steps[0].Sure)

	steps = explain("origin = 'LAY'")
	require.Equal(t, BloomFilters, steps[len(steps)-1].Source)
	require.Zero(t, steps[len(steps)-1].Left)

	steps = explain("origin contains 'M'")
	require.Equal(t, Dictionaries, steps[len(steps)-1].Source)
	require.Zero(t, steps[len(steps)-1].Left)

	steps = explain("origin contains 'S' and c0 between 42300 and 42800")
	last := steps[len(steps)-1]
	require.Equal(t, RangeIndexes, last.Source)
	require.LessOrEqual(t, last.Left, int64(768)) // pages of 256 rows
	require.GreaterOrEqual(t, last.Left, int64(501))
	require.Contains(t, steps[len(steps)-2].Note, "1 of 3 entries of origin")

	x, err := s.analyze(ctx, ScanOptions{Filter: where(t, "c0 between 42310 and 42320"), Parallelism: 2})
	require.NoError(t, err)
	require.EqualValues(t, 11, x.Run.Rows)
	require.EqualValues(t, 256, x.Run.Evaluated)
	require.Positive(t, x.Run.Blocks)
	require.Less(t, x.Run.Values, int64(1000))
	for _, took := range []time.Duration{x.Run.Prune, x.Run.Filter, x.Run.Decode, x.Run.Read} {
		require.Positive(t, took)
	}
	text := x.String()
	require.Contains(t, text, "where:   c0 between 42310 and 42320")
	require.Contains(t, text, "result:  11 rows in 1 batch")
	require.Contains(t, text, "range index      leaves 256 rows")
	x, err = s.analyze(ctx, ScanOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 100_000, x.Run.Rows)
	require.Equal(t, x.Run.Blocks, x.Run.BlocksOfColumns)
	require.Contains(t, x.String(), " read, 0 skipped of the ")

	// Blocks of the filter's columns count, even if these are not in the result.
	x, err = s.analyze(ctx, ScanOptions{Filter: where(t, "c0 between 42310 and 42320"), Columns: []string{}})
	require.NoError(t, err)
	require.EqualValues(t, 1, x.Run.Blocks)
	require.GreaterOrEqual(t, x.Run.BlocksOfColumns, x.Run.Blocks)
	for _, columns := range [][]string{nil, {}, {"delay"}, {"payload"}} {
		x, err = s.analyze(ctx, ScanOptions{Filter: where(t, "delay = 17 or payload > 'M'"), Columns: columns})
		require.NoError(t, err)
		require.LessOrEqual(t, x.Run.Blocks-x.Run.BlocksAgain, x.Run.BlocksOfColumns)
	}
}

// TestExplainConstants: columns of one value or of none, and missing columns, are decided without reading their
// data.
func TestExplainConstants(t *testing.T) {
	ctx := context.Background()
	data := numbered(3000, 1)
	seven, text := array.NewInt32Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	none, yes := array.NewFloat64Builder(memory.DefaultAllocator), array.NewBooleanBuilder(memory.DefaultAllocator)
	for range data.rows {
		seven.Append(7)
		text.Append("same")
		none.AppendNull()
		yes.Append(true)
	}
	fields := data.schema.Fields()
	for i, b := range []array.Builder{seven, text, none, yes} {
		data.columns = append(data.columns, b.NewArray())
		fields = append(fields, arrow.Field{Name: []string{"seven", "text", "none", "yes"}[i], Type: b.Type(), Nullable: true})
	}
	data.schema = arrow.NewSchema(fields, nil)
	s := openTable(t, data, WriterOptions{StripeRows: 2000})
	for text, want := range map[string]int64{
		"seven = 7": 3000, "seven <> 7": 0, "seven in (1, 2)": 0, "text = 'same'": 3000, "text starts with 'x'": 0, "not text > 'same'": 3000,
		"none is null": 3000, "none > 1": 0, "yes": 3000, "not yes": 0, "seven = 7 and text = 'same' and none is null": 3000,
	} {
		x, err := s.analyze(ctx, ScanOptions{Filter: where(t, text), Columns: []string{}})
		require.NoError(t, err)
		require.Equal(t, want, x.Run.Rows, text)
		require.Zero(t, x.Run.Blocks, text)
		require.Zero(t, x.Run.Evaluated, text)
		for _, stripe := range x.Stripes {
			require.Len(t, stripe.Steps, 1, text)
			require.Equal(t, Statistics, stripe.Steps[0].Source, text)
		}
	}
}

// TestSampledPages checks that a range index of many pages is skipped only if it decides nothing.
func TestSampledPages(t *testing.T) {
	const rows = 300_000
	ctx := context.Background()
	data := flightsLike(rows)
	mixed := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range rows {
		mixed.Append(int64(i * 7919 % 1000))
	}
	data.columns[2] = mixed.NewArray()
	data.schema = arrow.NewSchema([]arrow.Field{data.schema.Field(0), data.schema.Field(1), {Name: "mixed", Type: arrow.PrimitiveTypes.Int64}, data.schema.Field(3)}, nil)
	s := openTable(t, data, WriterOptions{StripeRows: rows})
	for text, left := range map[string]int64{
		"c0 between 200000 and 200099": 512, "c0 < 1000 or mixed = 17": rows, "mixed = 17": rows, "c0 < 1000 and mixed = 17": 1024,
	} {
		x, err := s.explain(ctx, ScanOptions{Filter: where(t, text)})
		require.NoError(t, err)
		last := x.Stripes[0].Steps[len(x.Stripes[0].Steps)-1]
		require.Equal(t, RangeIndexes, last.Source, text)
		require.LessOrEqual(t, last.Left, left, text)
		require.Equal(t, text == "mixed = 17", strings.Contains(last.Note, "decided nothing"), text)
		n, err := s.Count(ctx, where(t, text))
		require.NoError(t, err)
		again := int64(0)
		for b, err := range s.Scan(ctx, ScanOptions{Filter: where(t, text), Disable: RangeIndexes, Columns: []string{}}) {
			require.NoError(t, err)
			again += b.NumRows()
		}
		require.Equal(t, again, n, text)
	}
}

// TestCount counts with statistics that decide the condition, and without.
func TestCount(t *testing.T) {
	ctx := context.Background()
	s := openTable(t, flightsLike(5000), WriterOptions{StripeRows: 2000})
	for text, want := range map[string]int64{
		"c0 < 100": 100, "c0 >= 0": 5000, "c0 is null": 0, "delay = 17": 5, "c0 < 2000 or origin = 'none'": 2000,
		"origin in ('SFO', 'LAX', 'JFK', 'ORD')": 5000, "payload is not null": 5000,
	} {
		n, err := s.Count(ctx, where(t, text))
		require.NoError(t, err)
		require.Equal(t, want, n, text)
	}
	n, err := s.Count(ctx, filter.Expr{})
	require.NoError(t, err)
	require.EqualValues(t, 5000, n)
	_, err = s.Count(ctx, where(t, "none = 3"))
	require.Error(t, err)
}

// TestCountReads counts the bytes that Count reads: none if statistics decide the condition, else only columns of
// the filter.
func TestCountReads(t *testing.T) {
	ctx := context.Background()
	s := openTable(t, flightsLike(50_000), WriterOptions{StripeRows: 20_000})
	bytes := func(text string) int64 {
		before := s.file.Reads().Bytes
		_, err := s.Count(ctx, where(t, text))
		require.NoError(t, err)
		return s.file.Reads().Bytes - before
	}
	// The shard's statistics were read with the tail, so that no stripe is read.
	require.Zero(t, bytes("c0 < 0"))
	require.Zero(t, bytes("c0 < 50000"))
	require.Zero(t, bytes("c0 is null or c0 > 50000 and payload contains 'x'"))
	bytes("c0 < 25000") // descriptors
	require.Zero(t, bytes("c0 < 40000"))
	require.Zero(t, bytes("c0 >= 20000 and c0 < 40000"))
	require.Less(t, bytes("c0 = 12345"), int64(20_000))
	d, err := s.file.FieldDescriptor(ctx, schemaID(t, s, "payload"))
	require.NoError(t, err)
	require.Less(t, bytes("delay = 7 and origin = 'SFO'"), int64(d.GetRawDataSize()/2))
}

func TestStatistics(t *testing.T) {
	ctx := context.Background()
	s := openTable(t, flightsLike(5000), WriterOptions{StripeRows: 2000})
	x, err := s.statistics(ctx, "c0")
	require.NoError(t, err)
	require.Zero(t, x.Nulls)
	require.Equal(t, "0", x.Min.ValueStr(0))
	require.Equal(t, "4999", x.Max.ValueStr(0))
	require.True(t, x.Exact)
	require.EqualValues(t, -1, x.Distinct)
	x, err = s.statistics(ctx, "origin")
	require.NoError(t, err)
	require.EqualValues(t, 3, x.Distinct)
	_, err = s.statistics(ctx, "none")
	require.Error(t, err)
}

// schemaID is the number of the node of a column in the stored schema.
func schemaID(t *testing.T, s *Shard, path string) uint32 {
	n, err := s.schema.Path(path)
	require.NoError(t, err)
	return n.ID()
}
