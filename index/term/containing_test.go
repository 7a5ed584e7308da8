package term

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/index/analysis"
)

// A term that may have been cut is yielded for any text, whatever its upper case takes.
func TestMayBeCut(t *testing.T) {
	for r := range rune(utf8.MaxRune + 1) {
		word := bytes.Repeat(utf8.AppendRune(nil, r), analysis.MaxTermLen/max(utf8.RuneLen(r), 1))
		require.True(t, mayBeCut(analysis.CaseInsensitive, analysis.AppendUpper(nil, word)), "%U", r)
	}
	for n := range 200 {
		require.Equal(t, n >= leastCut, mayBeCut(analysis.CaseInsensitive, bytes.Repeat([]byte("A"), n)))
		require.Equal(t, n >= leastCut, mayBeCut(analysis.CasePreserving, bytes.Repeat([]byte("s"), n)))
	}
}

// drawLetters draws a table of words of few letters, so that they have many parts in common.
func drawLetters(t *rapid.T) table {
	fields, rows := rapid.IntRange(1, 3).Draw(t, "fields"), rapid.SampledFrom([]int{0, 1, 10, 2000}).Draw(t, "rows")
	letters := []rune(rapid.SampledFrom([]string{"ab", "aBs", "aäſı", "abcdefghij0123456789"}).Draw(t, "letters"))
	most := rapid.SampledFrom([]int{3, 12, 150}).Draw(t, "most")
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	out := make(table, fields)
	for f := range out {
		out[f] = make([][]byte, rows)
		for i := range out[f] {
			for range rnd.IntN(4) {
				n := 1 + rnd.IntN(most)
				if n > 12 && rnd.IntN(20) > 0 {
					n = 1 + n%12
				}
				for range n {
					out[f][i] = fmt.Appendf(out[f][i], "%c", letters[rnd.IntN(len(letters))])
				}
				out[f][i] = append(out[f][i], ' ')
			}
		}
	}
	return out
}

// Each term that contains or ends with a text is found, and of the others only those that may have been cut.
func TestFindContaining(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawLetters(t)
		o := Options{Rows: int64(len(data[0])), Fields: len(data), Collation: rapid.SampledFrom([]analysis.Collation{analysis.CaseInsensitive, analysis.CasePreserving}).Draw(t, "collation")}
		x := open(t, write(t, data, o, rapid.SampledFrom([]int64{1, 1 << 30}).Draw(t, "limit"), rapid.IntRange(1, 3).Draw(t, "builders")), len(data[0]))
		for range 10 {
			text := []byte(rapid.SampledFrom([]string{"", "a", "ab", "aba", "äſı", "abcdef", "012", "bsa"}).Draw(t, "text"))
			if f := data[rapid.IntRange(0, len(data)-1).Draw(t, "field")]; len(f) > 0 {
				line := f[rapid.IntRange(0, len(f)-1).Draw(t, "row")]
				from := rapid.IntRange(0, len(line)).Draw(t, "from")
				text = append([]byte{}, line[from:rapid.IntRange(from, len(line)).Draw(t, "to")]...)
			}
			if o.Collation == analysis.CaseInsensitive {
				text = analysis.AppendUpper(nil, text)
			}
			requireContaining(t, x, text, rapid.Bool().Draw(t, "end"))
		}
	})
}

func requireContaining(t require.TestingT, x *Index, text []byte, end bool) {
	var want, got []string
	for e, err := range x.All(tctx) {
		require.NoError(t, err)
		if strings.Contains(string(e.Term), string(text)) && (!end || strings.HasSuffix(string(e.Term), string(text))) || mayBeCut(x.Collation, e.Term) {
			want = append(want, fmt.Sprintf("%d %s", e.Field, e.Term))
		}
	}
	for e, err := range x.FindContaining(tctx, text, end) {
		require.NoError(t, err)
		got = append(got, fmt.Sprintf("%d %s", e.Field, e.Term))
	}
	require.Equal(t, want, got, "%q %v", text, end)
	blocks, of, err := x.ContainingBlocks(tctx, text)
	require.NoError(t, err)
	require.LessOrEqual(t, blocks, of)
}
