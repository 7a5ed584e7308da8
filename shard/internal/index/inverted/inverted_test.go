package inverted

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// answers are what the reference answers from an index.
type answers struct {
	Tokenizer, Collation, Source string
	Rows                         int64
	Stripes                      []int64
	Answers                      []answer
}

type answer struct {
	Query, Term, State     string
	Terms                  []string
	True, Unknown, Missing [][2]int64
}

var goldens = []string{"text-apache-log", "text-apache-word", "text-health-trivial"}

// openGolden opens an index of the reference.
func openGolden(t testing.TB, name string) (*Index, answers) {
	var g answers
	require.NoError(t, json.Unmarshal(testdata.ReadGolden(t, "indexes/"+name+"/answers.json"), &g))
	c, ok := analysis.CollationByName(g.Collation)
	require.True(t, ok)
	x, err := Open(t.Context(), file(t, name, "terms"), file(t, name, "positions"), c, g.Rows)
	require.NoError(t, err)
	return x, g
}

func file(t testing.TB, index, name string) storage.ByteRange {
	b := testdata.ReadGolden(t, "indexes/"+index+"/"+name+".amudai.shard")
	return storage.ByteRange{Reader: storage.FromBytes(name, b), Size: int64(len(b))}
}

// eachGolden calls f for the indexes of the reference. None is part of the repository, because the licence of their texts does not allow it.
func eachGolden(t *testing.T, f func(t *testing.T, x *Index, g answers)) {
	testdata.Shared(t)
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) {
			x, g := openGolden(t, name)
			f(t, x, g)
		})
	}
}

func setOf(lists ...[][2]int64) rowset.Set {
	var ranges []rowset.Range
	for _, r := range slices.Concat(lists...) {
		ranges = append(ranges, rowset.Range{From: r[0], To: r[1]})
	}
	return rowset.Of(ranges...)
}

// ask returns the rows that have some terms, and those that may.
func ask(t require.TestingT, x *Index, a answer) (sure, maybe rowset.Set) {
	terms := a.Terms
	if terms == nil {
		terms = []string{a.Term}
	}
	prefix := strings.HasPrefix(a.Query, "prefix")
	for _, text := range terms {
		for e, err := range x.Find(ctx, []byte(text), prefix) {
			require.NoError(t, err)
			if !x.Collation.HasPrefix(e.Term, []byte(text)) || !prefix && x.Collation.Compare(e.Term, []byte(text)) != 0 {
				continue
			}
			for _, l := range e.Lists {
				rows, err := x.Set(ctx, l, 0, x.Rows)
				require.NoError(t, err)
				if maybe = maybe.Or(rows); l.Form != Approximate {
					sure = sure.Or(rows)
				}
			}
		}
	}
	return sure, maybe
}

// without is the rows of a set that are not in another.
func without(a, b rowset.Set) rowset.Set { return a.Minus(b) }

// The indexes of the reference answer all recorded questions as it does.
func TestGolden(t *testing.T) {
	eachGolden(t, func(t *testing.T, x *Index, g answers) {
		for _, a := range g.Answers {
			sure, maybe := ask(t, x, a)
			if a.Query == "prefix" && x.Collation == analysis.CasePreserving && a.State == "" {
				// The reference ends the search among terms in another case.
				require.True(t, setOf(a.True).Minus(sure).Empty() && setOf(a.True, a.Unknown).Minus(maybe).Empty(), "%s %q", a.Query, a.Term)
				continue
			}
			require.Equal(t, setOf(a.True).String(), sure.String(), "%s %q", a.Query, a.Term)
			require.Equal(t, setOf(a.Unknown).String(), without(maybe, sure).String(), "%s %q", a.Query, a.Term)
		}
	})
}

// Each posting that the reference lost is the last one of the term before.
func TestLostPostings(t *testing.T) {
	lost := 0
	eachGolden(t, func(t *testing.T, x *Index, g answers) {
		for _, a := range g.Answers {
			if a.Missing == nil {
				continue
			}
			l, ok, err := x.Before(ctx, []byte(a.Term))
			require.NoError(t, err)
			require.True(t, ok)
			row, ok, err := x.Last(ctx, l)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, [][2]int64{{row, row + 1}}, a.Missing, a.Term)
			lost++
		}
	})
	require.Equal(t, 12, lost)
}
