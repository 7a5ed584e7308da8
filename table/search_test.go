package table_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

// TestSearch finds rows, with rows around them, in formats that filter, in others, in pipes and in unions.
func TestSearch(t *testing.T) {
	t.Chdir(t.TempDir())
	var lines []string
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 35_000 {
		lines = append(lines, fmt.Sprintf("row %d word%d", i, random.IntN(300)))
	}
	text := strings.Join(lines, "\n") + "\n"
	require.NoError(t, os.WriteFile("a.log", []byte(text), 0o644))
	require.NoError(t, os.WriteFile("a.csv", []byte("line\n"+text), 0o644))
	objects := "{\"line\":\"" + strings.Join(lines, "\"}\n{\"line\":\"") + "\"}\n"
	copyTable(t, "a.log", "a.parquet")
	copyTable(t, "a.log", "a.amudai.shard")
	several := append(append(append([]string{}, lines...), lines...), lines...)
	for _, c := range []struct {
		locations []string
		lines     []string
	}{
		{[]string{"a.log"}, lines}, {[]string{"a.csv"}, lines}, {[]string{"a.parquet"}, lines}, {[]string{"a.amudai.shard"}, lines}, {[]string{"-"}, lines},
		{[]string{"a.amudai.shard", "a.parquet", "a.amudai.shard"}, several}, {[]string{"a.log", "a.amudai.shard", "-"}, several},
	} {
		for _, o := range []table.SearchOptions{
			{Query: "word7"}, {Query: "word7 OR word8", Limit: 30}, {Query: "row NOT word7", Limit: 50_000}, {Query: "nothing"},
			{Query: `word(7|8)\b`, Regexp: true, Before: 3, After: 2}, {Query: "word7", After: 5, Limit: 4}, {Query: "word7 OR word8*", Before: 1},
		} {
			var want, got []string
			due, matches := 0, int64(0)
			isMatch := func(i int) bool {
				_, word, _ := strings.Cut(c.lines[i], " word")
				switch o.Query {
				case "word7":
					return word == "7"
				case "word7 OR word8*":
					return word == "7" || word[0] == '8'
				case "row NOT word7":
					return word != "7"
				}
				return o.Query != "nothing" && (word == "7" || word == "8")
			}
			counted := int64(0)
			for i := range c.lines {
				match := isMatch(i) && (o.Limit == 0 || matches < o.Limit)
				if match {
					matches++
					due = i + 1 + int(o.After)
				}
				near := i < due
				for k := i; k <= i+int(o.Before) && k < len(c.lines) && !near; k++ {
					near = isMatch(k) && (o.Limit == 0 || matches < o.Limit)
				}
				if near {
					want = append(want, fmt.Sprint(i, !match, c.lines[i]))
				}
			}
			in, err := table.OpenWith(t.Context(), table.OpenOptions{Stdin: strings.NewReader(objects)}, c.locations...)
			require.NoError(t, err)
			for found, err := range in.Search(t.Context(), o) {
				require.NoError(t, err)
				counted += found.NumMatches()
				for i, position := range found.Positions {
					got = append(got, fmt.Sprint(position, found.Context != nil && found.Context[i], found.Column(0).ValueStr(i)))
				}
			}
			require.NoError(t, in.Close())
			require.Equal(t, len(want), len(got), "%v %+v", c.locations, o)
			require.Equal(t, want, got, "%v %+v", c.locations, o)
			require.Equal(t, matches, counted)
		}
	}
}

// Deleted rows are neither shown nor counted as context, and have positions.
func TestSearchAroundDeleted(t *testing.T) {
	t.Chdir(t.TempDir())
	random := rand.New(rand.NewPCG(3, 4))
	var all, kept []string
	var deleted []shard.RowRange
	var positions []int64
	for i := range int64(3000) {
		all = append(all, fmt.Sprintf("row %d word%d", i, random.IntN(20)))
		if i > 700 && i < 900 || random.IntN(3) == 0 {
			deleted = append(deleted, shard.RowRange{From: i, To: i + 1})
			continue
		}
		kept, positions = append(kept, all[i]), append(positions, i)
	}
	require.NoError(t, os.WriteFile("all.log", []byte(strings.Join(all, "\n")), 0o644))
	require.NoError(t, os.WriteFile("kept.log", []byte(strings.Join(kept, "\n")), 0o644))
	copyTable(t, "all.log", "a.amudai.shard")
	_, err := shard.Delete(t.Context(), "a.amudai.shard", shard.EditOptions{}, shard.Rows{Ranges: deleted})
	require.NoError(t, err)
	for i := range all {
		positions = append(positions, int64(3000+i)) // of all.log behind the shard
	}
	for _, more := range [][]string{nil, {"all.log"}} {
		for _, o := range []table.SearchOptions{
			{Query: "word7", Before: 1}, {Query: "word7 OR word8", After: 2}, {Query: "word9", Before: 3, After: 3, Limit: 9}, {Query: "row", Before: 2}, {Query: "nothing", Before: 1},
		} {
			search := func(position func(int64) int64, locations ...string) (found []string) {
				in := open(t, append(locations, more...)...)
				for f, err := range in.Search(t.Context(), o) {
					require.NoError(t, err)
					for i, row := range f.Positions {
						found = append(found, fmt.Sprint(position(row), f.Context[i], f.Column(0).ValueStr(i)))
					}
				}
				return found
			}
			want := search(func(row int64) int64 { return positions[row] }, "kept.log")
			require.Equal(t, want, search(func(row int64) int64 { return row }, "a.amudai.shard"), "%v %+v", more, o)
		}
	}
}

// TestSearchColumns searches columns, in a range of times, and counts.
func TestSearchColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte("day,n,a,a\n2026-01-01,1,x,failed\n2026-01-02,2,failed,y\n2026-01-03,3,failed,failed\n"), 0o644))
	in := open(t, path)
	search := func(o table.SearchOptions) (n int64, columns int64) {
		t.Helper()
		for found, err := range in.Search(t.Context(), o) {
			require.NoError(t, err)
			n += found.NumMatches()
			columns = found.NumCols()
		}
		return n, columns
	}
	for i, c := range []struct {
		o          table.SearchOptions
		n, columns int64
	}{
		{table.SearchOptions{Query: "failed"}, 3, 2},
		{table.SearchOptions{Query: "failed", In: []string{"a#2"}}, 2, 2},
		{table.SearchOptions{Query: "failed", Columns: []string{}}, 3, 0},
		{table.SearchOptions{Query: "failed", Columns: []string{"n"}, Filter: filter.Ge(filter.Col("n"), 3)}, 1, 1},
		{table.SearchOptions{Query: "failed", Since: "2026-01-02", Until: time.Date(2026, 1, 3, 0, 0, 0, 0, time.Local)}, 1, 2},
	} {
		n, columns := search(c.o)
		require.Equal(t, []int64{c.n, c.columns}, []int64{n, columns}, i)
	}
	for _, c := range []struct {
		o   table.SearchOptions
		err string
	}{
		{table.SearchOptions{}, "Query \"\": query: it is empty"},
		{table.SearchOptions{Query: "a", Before: -1}, "Before -1: it is negative"},
		{table.SearchOptions{Query: "a", In: []string{"b"}}, `there is no column "b"`},
		{table.SearchOptions{Query: "a", Since: "2026", TimeColumn: "day"}, "2026"},
	} {
		for _, err := range in.Search(t.Context(), c.o) {
			require.ErrorContains(t, err, c.err)
		}
	}
	require.NoError(t, os.WriteFile(path, []byte("n\n1\n"), 0o644))
	for _, err := range open(t, path).Search(t.Context(), table.SearchOptions{Query: "a"}) {
		require.ErrorIs(t, err, table.ErrNoText)
	}
	for _, err := range open(t, "../testdata/tour/sales-2025.csv").Search(t.Context(), table.SearchOptions{Query: "a", Since: "2026-01-01", TimeColumn: "Order"}) {
		require.Error(t, err)
	}
}
