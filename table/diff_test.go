package table_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table"
)

// write writes a file of text, and opens it.
func write(t *testing.T, name, text string) *table.Table {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return open(t, path)
}

func open(t *testing.T, locations ...string) *table.Table {
	of, err := table.Open(t.Context(), locations...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, of.Close()) })
	return of
}

// linesOf are the differences of two tables as lines.
func linesOf(t *testing.T, old, new *table.Table, o table.DiffOptions) (lines []string, s table.DiffSummary) {
	c, err := table.Diff(t.Context(), old, new, o)
	require.NoError(t, err)
	for _, column := range c.Columns().All {
		if column.Changed {
			lines = append(lines, "column "+column.Name)
		}
	}
	for r, err := range c.Rows(t.Context()) {
		require.NoError(t, err)
		line := fmt.Sprint(r.Kind, " ", r.Position)
		for _, v := range []table.DiffValues{r.Old, r.New} {
			if v.Arrays != nil {
				line += " " + v.Arrays[0].ValueStr(v.Index)
			}
		}
		lines = append(lines, fmt.Sprint(line, r.Columns))
	}
	require.Equal(t, len(lines) > int(c.Summary().DuplicateKeys), c.Differs())
	require.NoError(t, c.Close())
	return lines, c.Summary()
}

func TestDiff(t *testing.T) {
	old := write(t, "old.csv", "id,n,gone\n1,10,a\n2,20,b\n3,30,c\n")
	changed := write(t, "new.jsonl", `{"id":3,"n":30}`+"\n"+`{"id":1,"n":11}`+"\n"+`{"id":4,"n":40}`+"\n"+`{"id":4,"n":40}`+"\n")
	for _, c := range []struct {
		o    table.DiffOptions
		want []string
		s    table.DiffSummary
	}{
		{table.DiffOptions{}, []string{"column gone", "0 0 1 3[0 1]", "0 1 2 1[0 1]", "0 2 3 4[0 1]", "2 3 4[]"}, table.DiffSummary{Changed: 3, Added: 1}},
		{table.DiffOptions{Key: "id"}, []string{"column gone", "0 -1 1 1[1]", "1 -1 2[]", "2 -1 4[]", "3 -1 4[]", "2 -1 4[]"},
			table.DiffSummary{Changed: 1, Removed: 1, Added: 2, Equal: 1, DuplicateKeys: 1}},
		{table.DiffOptions{Key: "id", Memory: 1000, Old: table.ScanOptions{Columns: []string{"id", "n"}, Filter: filter.Gt(filter.Col("id"), 2)},
			New: table.ScanOptions{Limit: 1}}, nil, table.DiffSummary{Equal: 1}},
	} {
		lines, s := linesOf(t, old, changed, c.o)
		require.Equal(t, c.want, lines, "%v", c.o)
		require.Equal(t, c.s, s, "%v", c.o)
	}
}

// TestDiffTypes compares text with a table of its types, also of those that text does not tell.
func TestDiffTypes(t *testing.T) {
	const columns = "id:int32,at:time64[us],price:decimal128(9, 2)\n"
	text := "id,at,price\n1,10:00:00,1.50\n2,11:30:00,20.25\n"
	typed := filepath.Join(t.TempDir(), "t.amudai.shard")
	csv := write(t, "t.csv", text)
	copyTyped(t, csv.Locations()[0], typed, strings.TrimSpace(columns))
	shard := open(t, typed)
	for _, tables := range [][2]*table.Table{{csv, shard}, {shard, csv}, {csv, csv}} {
		lines, s := linesOf(t, tables[0], tables[1], table.DiffOptions{Key: "id"})
		require.Empty(t, lines)
		require.Equal(t, table.DiffSummary{Equal: 2}, s)
	}
	other := write(t, "u.csv", strings.Replace(text, "20.25", "20.26", 1))
	lines, _ := linesOf(t, shard, other, table.DiffOptions{})
	require.Equal(t, []string{"0 1 2 2[2]"}, lines)
}

func TestDiffErrors(t *testing.T) {
	ctx := t.Context()
	old := write(t, "old.csv", "id,n\n1,10\n2,20\n")
	for _, o := range []table.DiffOptions{{Key: "id +"}, {Tolerance: -1}} {
		var option *table.OptionError
		_, err := table.Diff(ctx, old, old, o)
		require.ErrorAs(t, err, &option)
	}
	_, err := table.Diff(ctx, old, old, table.DiffOptions{Memory: -1})
	require.ErrorContains(t, err, "Memory")
	_, err = table.Diff(ctx, old, old, table.DiffOptions{Old: table.ScanOptions{Columns: []string{"m"}}})
	require.ErrorContains(t, err, "m")

	bad := filepath.Join(t.TempDir(), "bad.amudai.shard")
	copyTable(t, old.Locations()[0], bad)
	whole := open(t, bad)
	damage(t, bad)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		new  *table.Table
		key  string
		want string
	}{{ctx, old, "m", "m"}, {ended, old, "", "canceled"}, {ended, old, "id", "canceled"}, {ctx, whole, "id", ""}} {
		compared, err := table.Diff(ctx, old, c.new, table.DiffOptions{Key: c.key})
		if err == nil {
			for _, err = range compared.Rows(c.ctx) {
			}
			require.NoError(t, compared.Close())
		}
		require.ErrorContains(t, err, c.want)
	}
}

// TestDiffEnds leaves the loop at every row: nothing is returned behind it.
func TestDiffEnds(t *testing.T) {
	old := write(t, "old.csv", "id\n1\n1\n1\n2\n5\n5\n")
	changed := write(t, "new.csv", "id\n1\n3\n3\n4\n4\n")
	for _, key := range []string{"", "id"} {
		for n := 1; ; n++ {
			c, err := table.Diff(t.Context(), old, changed, table.DiffOptions{Key: key})
			require.NoError(t, err)
			seen := 0
			for _, err := range c.Rows(t.Context()) {
				require.NoError(t, err)
				if seen++; seen == n {
					break
				}
			}
			require.NoError(t, c.Close())
			if seen < n {
				break
			}
		}
	}
}
