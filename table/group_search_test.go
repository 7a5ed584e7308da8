package table_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

// groupsOf are the numbers of matches of a search by number % 7.
func groupsOf(t *testing.T, tab *table.Table, o table.GroupOptions) map[string]int64 {
	t.Helper()
	got := map[string]int64{}
	o.By = "number % 7 as g"
	for b, err := range tab.Group(t.Context(), o) {
		require.NoError(t, err)
		for i := range int(b.NumRows()) {
			got[b.Column(0).ValueStr(i)] = b.Column(1).(*array.Int64).Value(i)
		}
	}
	return got
}

// TestGroupMatches counts the matches of searches by groups: those of rows that are looked at one by one.
func TestGroupMatches(t *testing.T) {
	t.Chdir(t.TempDir())
	all := drawDocuments(rand.New(rand.NewPCG(7, 8)), 2000)
	require.NoError(t, os.WriteFile("a.csv", csvOf(all), 0o644))
	copyTable(t, "a.csv", "a.amudai.shard")
	require.NoError(t, shard.AddIndex(t.Context(), "a.amudai.shard", shard.EditOptions{}, shard.IndexDefinition{Type: shard.TermIndex, Columns: []string{"title", "body"},
		Properties: []shard.Property{{Name: "scores", Value: true}}}))
	where, err := filter.Parse("number % 5 = 1")
	require.NoError(t, err)
	copyTable(t, "a.amudai.shard", "deleted.amudai.shard")
	_, err = shard.Delete(t.Context(), "deleted.amudai.shard", shard.EditOptions{}, shard.Rows{Where: where})
	require.NoError(t, err)
	deleted := slices.Clone(all)
	for i := range deleted {
		deleted[i].deleted = i%5 == 1
	}
	for _, c := range []struct {
		locations []string
		documents []document
	}{
		{[]string{"a.csv"}, all}, {[]string{"a.amudai.shard"}, all}, {[]string{"deleted.amudai.shard"}, deleted}, {[]string{"a.amudai.shard", "a.csv", "deleted.amudai.shard"}, slices.Concat(all, all, deleted)},
	} {
		tab := open(t, c.locations...)
		for query, matches := range map[string]func(d document) bool{
			"word1":            func(d document) bool { return hasWord(d, "word1") },
			"word1 OR word39*": func(d document) bool { return hasWord(d, "word1") || hasWord(d, "word39*") },
			"word2 NOT word1":  func(d document) bool { return hasWord(d, "word2") && !hasWord(d, "word1") },
			"nothing":          func(document) bool { return false },
		} {
			for _, rank := range []*table.RankOptions{nil, {}} {
				in := func(d document) bool { return d.number >= 100 && d.number < 1500 }
				plain, within := map[string]int64{}, map[string]int64{}
				for i, d := range c.documents {
					if d.deleted || !matches(d) {
						continue
					}
					plain[fmt.Sprint(d.number%7)]++
					if i < 1900 && in(d) {
						within[fmt.Sprint(d.number%7)]++
					}
				}
				o := table.SearchOptions{Query: query, Rank: rank}
				require.Equal(t, plain, groupsOf(t, tab, table.GroupOptions{Search: &o}), "%v %s %v", c.locations, query, rank)
				o.Filter = filter.Ge(filter.Col("number"), 100)
				require.Equal(t, within, groupsOf(t, tab, table.GroupOptions{Search: &o, Filter: filter.Lt(filter.Col("number"), 1500), Rows: []table.RowRange{{To: 1900}}}),
					"%v %s %v", c.locations, query, rank)
			}
		}
		for _, o := range []table.SearchOptions{{Query: "("}, {Query: "a", Before: -1}, {Query: "a", In: []string{"none"}}} {
			for _, err := range tab.Group(t.Context(), table.GroupOptions{Search: &o}) {
				require.Error(t, err)
			}
		}
	}
}
