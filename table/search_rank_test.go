package table_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// document is a row of the tables of these tests.
type document struct {
	title, body string
	number      int
	deleted     bool
}

// drawDocuments makes documents whose words are as frequent as in a language.
func drawDocuments(rnd *rand.Rand, n int) (all []document) {
	z := rand.NewZipf(rnd, 1.2, 3, 400)
	words := func(n int) string {
		var w []string
		for range n {
			w = append(w, []string{"Word%d", "word%d", "WÖRD%d"}[rnd.IntN(3)])
			w[len(w)-1] = fmt.Sprintf(w[len(w)-1], z.Uint64())
		}
		return strings.Join(w, []string{" ", ", ", " - "}[rnd.IntN(3)])
	}
	for i := range n {
		all = append(all, document{title: words(rnd.IntN(5)), body: words(rnd.IntN(60)), number: i})
	}
	return all
}

// plainScores are BM25 of documents by a word or the beginning of words, with boosts of title and body, written as in the papers.
func plainScores(all []document, words []string, boosts [2]float64, k1, b float64) []float64 {
	scores := make([]float64, len(all))
	for column, boost := range boosts {
		terms := make([][]string, len(all))
		rows, total := 0.0, 0.0
		lengths := make([]float64, len(all))
		for i, d := range all {
			if d.deleted {
				continue
			}
			terms[i] = strings.FieldsFunc(strings.ToUpper([]string{d.title, d.body}[column]), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if n := len(terms[i]); n > 0 {
				lengths[i] = float64(analysis.Length(analysis.LengthCode(n)))
				rows, total = rows+1, total+lengths[i]
			}
		}
		for _, w := range words {
			begin, isBegin := strings.CutSuffix(strings.ToUpper(w), "*")
			counts := make([]float64, len(all))
			with := 0.0
			for i := range all {
				for _, term := range terms[i] {
					if term == begin || isBegin && strings.HasPrefix(term, begin) {
						counts[i]++
					}
				}
				with += min(counts[i], 1)
			}
			idf := math.Log(1 + (rows-with+0.5)/(with+0.5))
			for i, f := range counts {
				if f > 0 {
					scores[i] += boost * idf * f * (k1 + 1) / (f + k1*(1-b+b*lengths[i]/(total/rows)))
				}
			}
		}
	}
	return scores
}

func hasWord(d document, w string) bool {
	for _, term := range strings.FieldsFunc(strings.ToUpper(d.title+" "+d.body), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if begin, isBegin := strings.CutSuffix(strings.ToUpper(w), "*"); term == begin || isBegin && strings.HasPrefix(term, begin) {
			return true
		}
	}
	return false
}

func csvOf(all []document) []byte {
	var b strings.Builder
	b.WriteString("title,body,number\n")
	for _, d := range all {
		fmt.Fprintf(&b, "%q,%q,%d\n", d.title, d.body, d.number)
	}
	return []byte(b.String())
}

// TestRank compares the best matches with BM25 of all rows: in shards with an index of all rows and of each stripe, with deleted rows, without an index, in
// other formats and in unions.
func TestRank(t *testing.T) {
	t.Chdir(t.TempDir())
	rnd := rand.New(rand.NewPCG(3, 4))
	all := drawDocuments(rnd, 3000)
	require.NoError(t, os.WriteFile("a.csv", csvOf(all), 0o644))
	copyTable(t, "a.csv", "plain.amudai.shard")
	copyTable(t, "a.csv", "a.parquet")
	scores := []shard.Property{{Name: "scores", Value: true}}
	index := func(name string, d shard.IndexDefinition) {
		in, err := table.Open(t.Context(), "a.csv")
		require.NoError(t, err)
		src, err := in.Reader(t.Context(), table.ScanOptions{})
		require.NoError(t, err)
		w, err := shard.Create(t.Context(), name, src.Schema(), shard.WriterOptions{StripeRows: 1100})
		require.NoError(t, err)
		for b, err := range provider.Batches(t.Context(), src) {
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), b))
		}
		require.NoError(t, w.Close(t.Context()))
		require.NoError(t, in.Close())
		d.Type, d.Columns, d.Properties = shard.TermIndex, []string{"title", "body"}, scores
		require.NoError(t, shard.AddIndex(t.Context(), name, shard.EditOptions{}, d))
	}
	index("whole.amudai.shard", shard.IndexDefinition{})
	index("stripes.amudai.shard", shard.IndexDefinition{PerStripe: true})
	index("deleted.amudai.shard", shard.IndexDefinition{})
	where, err := filter.Parse("number % 7 = 3")
	require.NoError(t, err)
	_, err = shard.Delete(t.Context(), "deleted.amudai.shard", shard.EditOptions{}, shard.Rows{Where: where})
	require.NoError(t, err)
	deleted := slices.Clone(all)
	for i := range deleted {
		deleted[i].deleted = i%7 == 3
	}
	for _, c := range []struct {
		locations []string
		documents []document
	}{
		{[]string{"a.csv"}, all}, {[]string{"a.parquet"}, all}, {[]string{"plain.amudai.shard"}, all}, {[]string{"whole.amudai.shard"}, all},
		{[]string{"stripes.amudai.shard"}, all}, {[]string{"deleted.amudai.shard"}, deleted},
		{[]string{"whole.amudai.shard", "a.csv", "deleted.amudai.shard"}, slices.Concat(all, all, deleted)},
	} {
		tab, err := table.Open(t.Context(), c.locations...)
		require.NoError(t, err)
		for _, q := range []struct {
			query   string
			words   []string
			matches func(d document) bool
			o       table.SearchOptions
			boosts  [2]float64
		}{
			{query: "word7 OR word100 OR WORD3", words: []string{"word7", "word100", "word3"}},
			{query: "wörd17", words: []string{"wörd17"}, o: table.SearchOptions{Limit: 3}},
			{query: "word39* OR word2", words: []string{"word39*", "word2"}, o: table.SearchOptions{Limit: 30}},
			{query: "word1 word20", words: []string{"word1", "word20"}, o: table.SearchOptions{Limit: 10_000},
				matches: func(d document) bool { return hasWord(d, "word1") && hasWord(d, "word20") }},
			{query: "word5 NOT word6", words: []string{"word5"}, matches: func(d document) bool { return hasWord(d, "word5") && !hasWord(d, "word6") }},
			{query: "word5 OR wörd8", words: []string{"word5", "wörd8"}, o: table.SearchOptions{Filter: filter.Lt(filter.Col("number"), 1000), Rank: &table.RankOptions{
				Boosts: map[string]float64{"title": 3.5}, K1: 0.9, B: 0.4,
			}}, boosts: [2]float64{3.5, 1}, matches: func(d document) bool { return d.number < 1000 }},
			{query: "word5", words: []string{"word5"}, o: table.SearchOptions{In: []string{"body"}}, boosts: [2]float64{0, 1}},
			{query: "nothing"},
		} {
			o := q.o
			o.Query, o.Columns = q.query, []string{"number"}
			k1, b := 1.2, 0.75
			if o.Rank == nil {
				o.Rank = &table.RankOptions{}
			} else {
				k1, b = o.Rank.K1, o.Rank.B
			}
			if q.boosts == [2]float64{} {
				q.boosts = [2]float64{1, 1}
			}
			plain := plainScores(c.documents, q.words, q.boosts, k1, b)
			var want []int
			for i, d := range c.documents {
				if plain[i] > 0 && !d.deleted && (q.matches == nil || q.matches(d)) {
					want = append(want, i)
				}
			}
			slices.SortStableFunc(want, func(i, k int) int { return cmp.Compare(plain[k], plain[i]) })
			want = want[:min(len(want), cmp.Or(int(o.Limit), 10))]
			n := 0
			for f, err := range tab.Search(t.Context(), o) {
				require.NoError(t, err, "%v %s", c.locations, q.query)
				for i, position := range f.Positions {
					require.Less(t, n, len(want), "%v %s", c.locations, q.query)
					// Rows with the same score but for rounding may be in another order.
					require.InDelta(t, plain[want[n]], f.Ranks[i].Score, 1e-5, "%v %s", c.locations, q.query)
					require.EqualValues(t, position, 3000*f.Ranks[i].Input+int(f.Ranks[i].Row))
					require.InDelta(t, plain[position], f.Ranks[i].Score, 1e-5, "%v %s", c.locations, q.query)
					require.Equal(t, fmt.Sprint(c.documents[position].number), f.Column(0).ValueStr(i), "%v %s: %v", c.locations, q.query, f.Positions)
					require.False(t, c.documents[position].deleted)
					n++
				}
			}
			require.Equal(t, len(want), n, "%v %s", c.locations, q.query)
		}
		require.NoError(t, tab.Close())
	}
}

// TestRankDamaged ranks rows of a shard whatever byte of its index is another: the matches are those of the rows.
func TestRankDamaged(t *testing.T) {
	t.Chdir(t.TempDir())
	all := drawDocuments(rand.New(rand.NewPCG(5, 6)), 800)
	require.NoError(t, os.WriteFile("a.csv", csvOf(all), 0o644))
	copyTable(t, "a.csv", "a.amudai.shard")
	require.NoError(t, shard.AddIndex(t.Context(), "a.amudai.shard", shard.EditOptions{}, shard.IndexDefinition{Type: shard.TermIndex, Columns: []string{"body"},
		Properties: []shard.Property{{Name: "scores", Value: true}}}))
	files, err := filepath.Glob("*.amudai.index")
	require.NoError(t, err)
	require.Len(t, files, 1)
	sound, err := os.ReadFile(files[0])
	require.NoError(t, err)
	groups := map[string]int64{}
	best := func() (out []table.Rank) {
		clear(groups)
		tab, err := table.Open(t.Context(), "a.amudai.shard")
		require.NoError(t, err)
		for f, err := range tab.Search(t.Context(), table.SearchOptions{Query: "word1 OR word30 OR word2* OR wrod3~", In: []string{"body"}, Rank: &table.RankOptions{}}) {
			require.NoError(t, err)
			out = append(out, f.Ranks...)
		}
		search := table.SearchOptions{Query: "word1 OR word39* OR wrod30~", In: []string{"body"}, Rank: &table.RankOptions{}}
		for g, n := range groupsOf(t, tab, table.GroupOptions{Search: &search}) {
			groups[g] = n
		}
		require.NoError(t, tab.Close())
		return out
	}
	want := best()
	require.Len(t, want, 10)
	wantGroups := maps.Clone(groups)
	require.Len(t, wantGroups, 7)
	for i := 0; i < len(sound); i += len(sound)/60 + 1 {
		damaged := slices.Clone(sound)
		damaged[i] ^= 0x10
		require.NoError(t, os.WriteFile(files[0], damaged, 0o644))
		require.Equal(t, want, best(), "byte %d of %d", i, len(sound))
		require.Equal(t, wantGroups, groups, "byte %d of %d", i, len(sound))
	}
}
