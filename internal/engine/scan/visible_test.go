package scan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/engine/take"
	"github.com/amudai/amudai-go/storage"
)

// hiding is a table whose stripes hide rows.
type hiding struct {
	table.Table
	table.Indexed
	hides func(row int64) bool
	err   error
}

func (h hiding) Stripe(i int) table.Stripe { return hidingStripe{h.Table.Stripe(i), h} }

type hidingStripe struct {
	table.Stripe
	of hiding
}

func (s hidingStripe) Visible(context.Context) (*rowset.Set, error) {
	var rows []int64
	for i := range s.Rows() {
		if !s.of.hides(s.Position() + i) {
			rows = append(rows, i)
		}
	}
	if int64(len(rows)) == s.Rows() {
		return nil, s.of.err
	}
	set := rowset.FromRows(rows)
	return &set, s.of.err
}

const hiddenRows, hiddenStripe = 20_000, 5_000

// hidingTable has a stripe of which all rows are visible, one of which every third is hidden, one of which all are, and one of which a stretch is.
// Only hidden rows are of the kind "secret".
func hidingTable(t *testing.T) hiding {
	hides := func(row int64) bool {
		switch row / hiddenStripe {
		case 1:
			return row%3 == 0
		case 2:
			return true
		case 3:
			return row >= 16_000 && row < 18_000
		}
		return false
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "row", Type: arrow.PrimitiveTypes.Int64},
		{Name: "kind", Type: arrow.BinaryTypes.String},
		{Name: "text", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range int64(hiddenRows) {
		kind := fmt.Sprint("kind ", i%4)
		if hides(i) {
			kind = "secret"
		}
		b.Field(0).(*array.Int64Builder).Append(i)
		b.Field(1).(*array.StringBuilder).Append(kind)
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("%x", i*2654435761))
	}
	shard := openBatch(t, b.NewRecordBatch(), hiddenStripe)
	return hiding{Table: shard, Indexed: shard.(table.Indexed), hides: hides}
}

// visibleOf are the rows of a range that a test is true for and that are visible.
func (h hiding) visibleOf(from, to int64, is func(row int64) bool) (rows []int64) {
	for r := from; r < to; r++ {
		if !h.hides(r) && is(r) {
			rows = append(rows, r)
		}
	}
	return rows
}

// Hidden rows never come out of a scan, whatever its options, and the others keep their numbers.
func TestHiddenRowsOfScans(t *testing.T) {
	h := hidingTable(t)
	all := func(int64) bool { return true }
	for name, c := range map[string]struct {
		where string
		is    func(row int64) bool
	}{
		"all":               {"", all},
		"of statistics":     {"row >= 0", all},
		"none":              {"row < 0", func(int64) bool { return false }},
		"only hidden":       {"kind = 'secret'", func(int64) bool { return false }},
		"of dictionary":     {"kind = 'kind 1'", func(r int64) bool { return r%4 == 1 }},
		"not of dictionary": {"kind != 'kind 1'", func(r int64) bool { return r%4 != 1 }},
		"of values":         {"text like '%ab%'", func(r int64) bool { return containsAB(r) }},
		"of range index":    {"row in (100, 5001, 5002, 12000, 17000, 19000)", func(r int64) bool { return r == 100 || r == 5002 || r == 19000 }},
	} {
		var e *ast.Node
		if c.where != "" {
			e = where(t, c.where)
		}
		n, err := scan.Count(t.Context(), h, e)
		require.NoError(t, err, name)
		require.EqualValues(t, len(h.visibleOf(0, hiddenRows, c.is)), n, name)
		for _, o := range []scan.Options{
			{}, {Parallelism: 1}, {BatchRows: 100}, {FetchGap: storage.RemoteGap}, {FetchGap: storage.RemoteGap, MemoryLimit: 1 << 20, BatchRows: 1000}, {Columns: []string{}},
		} {
			o.Filter = e
			h.requireScan(t, name, o, h.visibleOf(0, hiddenRows, c.is))
			o.Rows = []rowset.Range{{From: 4990, To: 5010}, {From: 9000, To: 17_000}, {From: 17_500, To: 18_010}}
			var want []int64
			for _, r := range o.Rows {
				want = append(want, h.visibleOf(r.From, r.To, c.is)...)
			}
			h.requireScan(t, name, o, want)
			o.Rows, o.Stripes = nil, []int{1, 2}
			h.requireScan(t, name, o, h.visibleOf(hiddenStripe, 3*hiddenStripe, c.is))
			o.Stripes, o.Limit = nil, 7000
			want = h.visibleOf(0, hiddenRows, c.is)
			h.requireScan(t, name, o, want[:min(7000, len(want))])
		}
	}
}

// Rows come in the order of the ranges that were asked for, which may go back and overlap.
func TestHiddenRowsOfRanges(t *testing.T) {
	h := hidingTable(t)
	rapid.Check(t, func(r *rapid.T) {
		o := scan.Options{
			BatchRows: rapid.SampledFrom([]int{0, 7, 1000}).Draw(r, "batch"), Limit: rapid.SampledFrom([]int64{0, 1, 3000}).Draw(r, "limit"),
			FetchGap: rapid.SampledFrom([]int64{0, storage.RemoteGap}).Draw(r, "gap"), Columns: []string{"row"},
		}
		var want []int64
		for range rapid.IntRange(1, 5).Draw(r, "ranges") {
			from := rapid.Int64Range(0, hiddenRows).Draw(r, "from")
			if k := len(o.Rows); k > 0 && rapid.Bool().Draw(r, "close") {
				from = min(o.Rows[k-1].To+rapid.Int64Range(0, 9).Draw(r, "gap"), hiddenRows)
			}
			to := min(from+rapid.SampledFrom([]int64{0, 1, 5, 900, 7000}).Draw(r, "rows"), hiddenRows)
			o.Rows = append(o.Rows, rowset.Range{From: from, To: to})
			want = append(want, h.visibleOf(from, to, func(int64) bool { return true })...)
		}
		if o.Limit > 0 {
			want = want[:min(o.Limit, int64(len(want)))]
		}
		var rows, values []int64
		for b, err := range scan.Scan(t.Context(), h, o) {
			require.NoError(t, err)
			for _, r := range b.RowRanges() {
				for i := r.From; i < r.To; i++ {
					rows = append(rows, i)
				}
			}
			values = append(values, b.Column(0).(*array.Int64).Int64Values()...)
		}
		require.Equal(t, want, rows, "%+v", o)
		require.Equal(t, want, values, "%+v", o)
		n, err := table.CountVisible(t.Context(), h, rowset.Of(o.Rows...))
		require.NoError(t, err)
		if o.Limit == 0 {
			slices.Sort(want)
			require.EqualValues(t, len(slices.Compact(want)), n)
		}
	})
}

func containsAB(row int64) bool {
	text := fmt.Sprintf("%x", row*2654435761)
	for i := range len(text) - 1 {
		if text[i:i+2] == "ab" {
			return true
		}
	}
	return false
}

func (h hiding) requireScan(t *testing.T, name string, o scan.Options, want []int64) {
	var rows, values []int64
	for b, err := range scan.Scan(t.Context(), h, o) {
		require.NoError(t, err, "%s %+v", name, o)
		for _, r := range b.RowRanges() {
			for i := r.From; i < r.To; i++ {
				rows = append(rows, i)
			}
		}
		if b.NumCols() > 0 {
			values = append(values, b.Column(0).(*array.Int64).Int64Values()...)
		}
	}
	require.Equal(t, want, rows, "%s %+v", name, o)
	if o.Columns == nil {
		require.Equal(t, want, values, "%s %+v", name, o)
	}
	x, err := scan.Explain(t.Context(), h, o)
	require.NoError(t, err)
	require.GreaterOrEqual(t, x.Asked, int64(len(want)))
	require.LessOrEqual(t, x.Asked, int64(len(h.visibleOf(0, hiddenRows, func(int64) bool { return true }))))
}

// A dictionary may have values that only hidden rows have.
func TestHiddenRowsOfDistinct(t *testing.T) {
	h := hidingTable(t)
	seen := map[string]bool{}
	for values, err := range scan.Distinct(t.Context(), h, "kind") {
		require.NoError(t, err)
		for i := range values.Len() {
			seen[values.ValueStr(i)] = true
		}
	}
	require.Equal(t, map[string]bool{"kind 0": true, "kind 1": true, "kind 2": true, "kind 3": true}, seen)
}

// A row is taken by its number in the table, unless it is hidden.
func TestHiddenRowsOfTakes(t *testing.T) {
	h := hidingTable(t)
	b, err := take.Rows(t.Context(), h, []int64{19_999, 5_002, 1, 5_002}, take.Options{Columns: []string{"row"}})
	require.NoError(t, err)
	require.Equal(t, []int64{19_999, 5_002, 1, 5_002}, b.Column(0).(*array.Int64).Int64Values())
	for _, hidden := range []int64{5_001, 5_004, 12_345, 17_999} {
		_, err := take.Rows(t.Context(), h, []int64{1, hidden}, take.Options{})
		require.ErrorContains(t, err, fmt.Sprintf("row %d is deleted", hidden))
	}
}

// What is stored is seen with hidden rows, too. Nothing is answered if it is not known which rows are hidden.
func TestHiddenRowsShownOrUnknown(t *testing.T) {
	h := hidingTable(t)
	n, err := scan.Count(t.Context(), table.WithHidden(h), nil)
	require.NoError(t, err)
	require.EqualValues(t, hiddenRows, n)

	h.err = errors.New("broken")
	_, err = scan.Count(t.Context(), h, nil)
	require.ErrorIs(t, err, h.err)
	_, err = scan.Count(t.Context(), h, where(t, "row >= 0"))
	require.ErrorIs(t, err, h.err)
	_, err = take.Rows(t.Context(), h, []int64{1}, take.Options{})
	require.ErrorIs(t, err, h.err)
	for _, err := range scan.Distinct(t.Context(), h, "kind") {
		require.ErrorIs(t, err, h.err)
	}
}
