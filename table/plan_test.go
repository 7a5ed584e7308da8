package table_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table"
)

// TestPlan reads the stripes of a plan one by one: they have the rows of the scan.
func TestPlan(t *testing.T) {
	ctx := t.Context()
	checked, other := files(t)
	all := open(t, append(checked, other)...)
	scan := table.ScanOptions{Columns: []string{"span:name", "Order"}, Filter: filter.Eq(filter.Col("span:name"), "POST /checkout")}
	plan, err := all.Plan(ctx, scan)
	require.NoError(t, err)
	require.Equal(t, 2, plan.Schema.NumFields())
	require.Len(t, plan.Parts, 4)
	for i, p := range plan.Parts {
		require.Equal(t, all.Locations()[i], p.Location)
		require.Equal(t, all.Formats()[i].Name, p.Format.Name)
		require.NotEmpty(t, p.Version)
		require.Positive(t, p.Bytes)
		require.Equal(t, i == 3, p.Explanation == nil, p.Location) // text is read as a whole
	}

	one := open(t, checked[0])
	scan.Columns = []string{"span:name"}
	want, err := one.Count(ctx, scan)
	require.NoError(t, err)
	require.Positive(t, want)
	plan, err = one.Plan(ctx, scan)
	require.NoError(t, err)
	require.Equal(t, "span:name", plan.Parts[0].Statistics.Columns[0].Path)
	read := int64(0)
	for _, s := range plan.Parts[0].Explanation.Stripes {
		o := scan
		o.Rows = []table.RowRange{{From: s.First, To: s.First + s.Rows}}
		n, err := one.Count(ctx, o)
		require.NoError(t, err)
		require.LessOrEqual(t, n, s.Left())
		read += n
	}
	require.Equal(t, want, read)

	var option *table.OptionError
	_, err = one.Plan(ctx, table.ScanOptions{Rows: []table.RowRange{}})
	require.ErrorAs(t, err, &option)
	_, err = all.Plan(ctx, table.ScanOptions{Columns: []string{"nothing"}})
	require.ErrorContains(t, err, "nothing")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = one.Plan(ended, scan)
	require.ErrorIs(t, err, context.Canceled)
	damage(t, checked[0])
	_, err = open(t, checked[0]).Plan(ctx, scan)
	require.Error(t, err)
}

// TestExplainSeveral explains inputs of which some lack a column of the scan.
func TestExplainSeveral(t *testing.T) {
	checked, other := files(t)
	all := open(t, append(checked, other)...)
	for _, o := range []table.ScanOptions{{Columns: []string{"span:name"}}, {Filter: filter.Eq(filter.Col("span:name"), "POST /checkout")}} {
		files, err := all.Explain(t.Context(), o, true)
		require.NoError(t, err)
		require.Len(t, files, 4)
		for _, x := range files[:3] {
			require.NotNil(t, x)
		}
	}
}
