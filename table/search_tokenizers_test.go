package table_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/searchtest"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

// vocabulary is words that tokenizers make the same of, and such that they do not.
var vocabulary = strings.Fields("run Runs running runner shoe SHOES Zürich zurich Häuser Haus hauses straße STRASSE ﬁne fine Ｆine café Cafés 東京都 京都府 東京 京 カメラ 안녕하세요 안녕 x1 x12 42")

// plainly is a query evaluated without an index.
type plainly struct {
	text    string
	matches func(text string) bool
	words   []string // that are ranked by; a beginning ends with a star
	negated []string
}

func termsOf(z analysis.Tokenizer, text string) (all []string) {
	var x analysis.Terms
	x.Find(z, []byte(text))
	for term := range x.All {
		all = append(all, string(analysis.AppendUpper(nil, term)))
	}
	return all
}

// wordsOf are the terms of a query: a single character of Han is any term that has it where terms are pairs of characters.
func wordsOf(z analysis.Tokenizer, text string) (all []string) {
	for _, term := range termsOf(z, text) {
		if z.Rewrites() && utf8.RuneCountInString(term) == 1 && term >= "一" && term <= "龥" {
			term = "*" + term
		}
		all = append(all, term)
	}
	return all
}

func isTerm(term, word string) bool {
	if inside, isInside := strings.CutPrefix(word, "*"); isInside {
		return strings.Contains(term, inside)
	}
	if like, distance, isFuzzy := strings.Cut(word, "~"); isFuzzy {
		return searchtest.IsLike([]rune(term), []rune(like), int(distance[0]-'0'))
	}
	begin, isBegin := strings.CutSuffix(word, "*")
	return term == begin || isBegin && strings.HasPrefix(term, begin)
}

// draw makes a query, and says what it means.
func draw(rnd *rand.Rand, z analysis.Tokenizer, depth int) plainly {
	word := func() string { return vocabulary[rnd.IntN(len(vocabulary))] }
	term := func(text, star string, z analysis.Tokenizer) plainly {
		words := termsOf(z, text)
		if star == "" {
			words = wordsOf(z, text)
		}
		if star == "*" || len(words) == 1 { // pairs of characters are as they are
			words[len(words)-1] += star
		}
		return plainly{text: text + star, words: words, matches: func(doc string) bool {
			have := termsOf(plainIndex, doc) // stems, even where those of the query are not
			return !slices.ContainsFunc(words, func(w string) bool {
				return !slices.ContainsFunc(have, func(h string) bool { return isTerm(h, w) })
			})
		}}
	}
	switch k := rnd.IntN(7); {
	case depth == 0 && k < 2:
		return term(word(), fmt.Sprintf("~%d", 1+rnd.IntN(2)), z.Unstemmed())
	case depth == 0 || k < 2:
		return term(word(), "", z)
	case k == 2:
		w := []rune(word())
		return term(string(w[:1+rnd.IntN(len(w))]), "*", z.Unstemmed())
	case k == 3:
		a, b := word(), word()
		return plainly{text: fmt.Sprintf("%q", a+" "+b), words: wordsOf(z, a+" "+b), matches: func(doc string) bool {
			return strings.Contains(strings.ToUpper(" "+doc+" "), strings.ToUpper(" "+a+" "+b+" "))
		}}
	case k == 4:
		a := draw(rnd, z, depth-1)
		return plainly{text: "NOT (" + a.text + ")", matches: func(doc string) bool { return !a.matches(doc) }, words: a.negated, negated: a.words}
	default:
		a, b := draw(rnd, z, depth-1), draw(rnd, z, depth-1)
		op := []string{" AND ", " OR "}[k-5]
		return plainly{text: "(" + a.text + op + b.text + ")", words: slices.Concat(a.words, b.words), negated: slices.Concat(a.negated, b.negated), matches: func(doc string) bool {
			if k == 5 {
				return a.matches(doc) && b.matches(doc)
			}
			return a.matches(doc) || b.matches(doc)
		}}
	}
}

// plainIndex is the tokenizer of the documents in the running test.
var plainIndex analysis.Tokenizer

// TestRankTokenizers compares random queries with each tokenizer with their plain meaning and plain BM25: by indexes, scans, and both together.
func TestRankTokenizers(t *testing.T) {
	t.Chdir(t.TempDir())
	rnd := rand.New(rand.NewPCG(5, 6))
	var docs []string
	csv := "body,number\n"
	for i := range 400 {
		var words []string
		for range rnd.IntN(9) {
			words = append(words, vocabulary[min(rnd.IntN(len(vocabulary)), rnd.IntN(2*len(vocabulary)))])
		}
		docs = append(docs, strings.Join(words, " "))
		csv += fmt.Sprintf("%s,%d\n", docs[i], i)
	}
	require.NoError(t, os.WriteFile("a.csv", []byte(csv), 0o644))
	for _, name := range []string{"unicode-word", "unicode-log", "unicode-folded", "english", "german"} {
		z, ok := analysis.TokenizerByName(name)
		require.True(t, ok)
		plainIndex = z
		location := name + ".amudai.shard"
		copyTable(t, "a.csv", location)
		require.NoError(t, shard.AddIndex(t.Context(), location, shard.EditOptions{}, shard.IndexDefinition{Type: shard.TermIndex, Columns: []string{"body"}, Properties: []shard.Property{
			{Name: "scores", Value: true}, {Name: "tokenizers", Value: []any{name}},
		}}))
		for _, c := range []struct {
			locations []string
			tokenizer string
		}{{[]string{location}, ""}, {[]string{"a.csv"}, name}, {[]string{"a.csv", location}, ""}} {
			tab := open(t, c.locations...)
			all := slices.Repeat(docs, len(c.locations))
			for range 15 {
				q := draw(rnd, z, 3)
				want := map[int64]float64{}
				for i, score := range plainRanks(z, all, q.words) {
					if score > 0 && q.matches(all[i]) {
						want[int64(i)] = score
					}
				}
				got := map[int64]float64{}
				last := math.Inf(1)
				for f, err := range tab.Search(t.Context(), table.SearchOptions{Query: q.text, Limit: 1000, Rank: &table.RankOptions{Tokenizer: c.tokenizer}}) {
					require.NoError(t, err, q.text)
					for i, row := range f.Positions {
						got[row] = f.Ranks[i].Score
						require.LessOrEqual(t, got[row], last)
						last = got[row]
					}
				}
				require.Equal(t, len(want), len(got), "%v %s %s", c.locations, name, q.text)
				for row, score := range want {
					require.InDelta(t, score, got[row], 1e-4, "%v %s %s: %s", c.locations, name, q.text, all[row])
				}
			}
		}
		// An index of other words than the text has says nothing about conditions.
		for _, word := range vocabulary {
			for _, condition := range []string{"has(body, '%s')", "contains(body, '%s')", "not has(body, '%s')", "body = '%s'", "body like '%%%s%%'"} {
				where, err := filter.Parse(fmt.Sprintf(condition, word))
				require.NoError(t, err)
				want, err := open(t, "a.csv").Count(t.Context(), table.ScanOptions{Filter: where})
				require.NoError(t, err)
				got, err := open(t, location).Count(t.Context(), table.ScanOptions{Filter: where})
				require.NoError(t, err)
				require.Equal(t, want, got, "%s: "+condition, name, word)
			}
		}
	}
	for _, err := range open(t, "a.csv").Search(t.Context(), table.SearchOptions{Query: "a", Rank: &table.RankOptions{Tokenizer: "latin"}}) {
		require.ErrorContains(t, err, `there is no tokenizer "latin"`)
	}
	for name, properties := range map[string][]shard.Property{
		"phrases":   {{Name: "phrases", Value: true}, {Name: "tokenizers", Value: []any{"english"}}},
		"only rank": {{Name: "tokenizers", Value: []any{"english"}}},
	} {
		require.ErrorContains(t, shard.AddIndex(t.Context(), "english.amudai.shard", shard.EditOptions{}, shard.IndexDefinition{Type: shard.TermIndex, Columns: []string{"body"}, Properties: properties}), name)
	}
	require.Error(t, shard.AddIndex(t.Context(), "english.amudai.shard", shard.EditOptions{}, shard.IndexDefinition{Type: shard.InvertedIndex, Columns: []string{"body"}, Properties: []shard.Property{
		{Name: "tokenizers", Value: []any{"english"}},
	}}))
}

// plainRanks are BM25 of documents by words, each once.
func plainRanks(z analysis.Tokenizer, docs []string, words []string) []float64 {
	scores := make([]float64, len(docs))
	terms, rows, total := make([][]string, len(docs)), 0.0, 0.0
	for i, doc := range docs {
		if terms[i] = termsOf(z, doc); len(terms[i]) > 0 {
			rows, total = rows+1, total+float64(len(terms[i]))
		}
	}
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		counts, with := make([]float64, len(docs)), 0.0
		for i := range docs {
			for _, term := range terms[i] {
				if isTerm(term, w) {
					counts[i]++
				}
			}
			with += min(counts[i], 1)
		}
		idf := math.Log(1 + (rows-with+0.5)/(with+0.5))
		for i, f := range counts {
			scores[i] += idf * f * 2.2 / (f + 1.2*(0.25+0.75*float64(len(terms[i]))/(total/rows)))
		}
	}
	return scores
}
