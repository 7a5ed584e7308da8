package term

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// golden is the answers of an index of the reference.
type golden struct {
	Tokenizer, Collation string
	Rows                 int
	Source               string
	Answers              []struct {
		Query, Term, State     string
		Terms                  []string
		True, Unknown, Missing [][2]uint32
	}
}

// lines are the lines of the corpus that the index was made of.
func (g *golden) lines(t *testing.T) (out [][]byte) {
	file, _, _ := strings.Cut(g.Source, ".log")
	raw, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", filepath.FromSlash(file+".log")))
	require.NoError(t, err)
	for line := range bytes.Lines(raw) {
		out = append(out, bytes.TrimRight(line, "\r\n"))
	}
	return out[:g.Rows]
}

func rowsOfRanges(list ...[2]uint32) (rows []uint32) {
	for _, r := range list {
		for row := r[0]; row < r[1]; row++ {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// An index of the same lines answers all questions of the reference's indexes: it has each row that is true there, of
// those that are unknown some, and those that the reference lost.
func TestGolden(t *testing.T) {
	lost := 0
	for _, name := range []string{"text-apache-log", "text-apache-word", "text-health-trivial"} {
		raw, err := os.ReadFile(filepath.Join(testdata.Shared(t), "golden", "amudai", "indexes", name, "answers.json"))
		require.NoError(t, err)
		var g golden
		require.NoError(t, json.Unmarshal(raw, &g))
		z, ok := analysis.TokenizerByName(g.Tokenizer)
		require.True(t, ok)
		collation, ok := analysis.CollationByName(g.Collation)
		require.True(t, ok)
		b := NewBuilder(BuilderOptions{Collation: collation, Tokenizers: []analysis.Tokenizer{z}, Memory: 1 << 30})
		for i, line := range g.lines(t) {
			require.NoError(t, b.Add(0, uint32(i), line))
		}
		var out bytes.Buffer
		require.NoError(t, Write(t.Context(), &out, Options{Rows: int64(g.Rows), Collation: collation}, b))
		x := open(t, out.Bytes(), g.Rows)
		for _, a := range g.Answers {
			var got []uint32
			for _, text := range append(a.Terms, a.Term) {
				if text == "" && a.Terms != nil {
					continue
				}
				got = append(got, find(t, x, text, strings.HasPrefix(a.Query, "prefix"))...)
			}
			slices.Sort(got)
			got = slices.Compact(got)
			sure, maybe := rowsOfRanges(append(a.True, a.Missing...)...), rowsOfRanges(slices.Concat(a.True, a.Missing, a.Unknown)...)
			switch {
			case a.State == "approximate" || len(a.Unknown) > 0:
				require.True(t, isSubset(sure, got) && isSubset(got, maybe), "%s: %+v: %v", name, a, got)
			case a.State != "" || a.Query != "prefix" || collation == analysis.CaseInsensitive:
				require.Equal(t, sure, got, "%s: %s %q", name, a.Query, a.Term)
			default: // the reference ends a search among terms in another case
				require.True(t, isSubset(sure, got), "%s: %s %q", name, a.Query, a.Term)
			}
			if a.State == "vanished" {
				lost++
			}
		}
	}
	require.Equal(t, 12, lost)
}

func isSubset(part, whole []uint32) bool {
	return !slices.ContainsFunc(part, func(row uint32) bool {
		_, ok := slices.BinarySearch(whole, row)
		return !ok
	})
}

// find returns the rows of a term, or of a prefix, as the collation of the index says.
func find(t *testing.T, x *Index, text string, prefix bool) (rows []uint32) {
	for e, err := range x.Find(context.Background(), []byte(text), prefix) {
		require.NoError(t, err)
		if x.Collation.HasPrefix(e.Term, []byte(text)) && (prefix || x.Collation.Compare(e.Term, []byte(text)) == 0) {
			rows = append(rows, rowsOf(t, x, e, 0, 1<<31)...)
		}
	}
	return rows
}
