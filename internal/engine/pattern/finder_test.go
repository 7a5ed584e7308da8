package pattern

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/text/analysis"
)

// A finder finds all values that match, and no others if it says so, among values that lie back to back.
func TestFinder(t *testing.T) {
	word := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "B", "é", "É", "s", "K", "i", "I", "ı", "1", " ", "-", "\ufffd"}), 1, 5)
	pieces := rapid.SampledFrom([]string{"a", "b", "A", "B", "ab", "é", "É", "s", "S", "ſ", "k", "K", "K", "i", "I", "ı", "İ", " ", "_", "1", "\n", ",", "\xff", "\xc3", "\xa9", "\xef\xbf", "\ufffd", ""})
	rapid.Check(t, func(t *rapid.T) {
		var p *Pattern
		text, fold := strings.Join(word.Draw(t, "text"), ""), rapid.Bool().Draw(t, "fold")
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			p = Term(text, fold)
		case 1:
			p = Phrase(text)
		case 2:
			p = Contains(text, fold)
		case 3:
			p = Like(strings.ReplaceAll(text, "1", "%"), fold)
		case 4:
			p = EndsWith(text, fold)
		default:
			var err error
			p, err = Regexp(expression(t), fold)
			require.NoError(t, err)
		}
		f := NewFinder(p)
		if f == nil {
			return
		}
		data := []byte(rapid.SampledFrom([]string{"", "ab"}).Draw(t, "before"))
		low := len(data)
		var ends []int32
		var s Scratch
		var want []bool
		for range rapid.IntRange(1, 60).Draw(t, "values") {
			value := []byte(strings.Join(rapid.SliceOfN(pieces, 0, 6).Draw(t, "value"), ""))
			data = append(data, value...)
			ends = append(ends, int32(len(data)))
			want = append(want, p.Match(value, &s))
		}
		found := make([]byte, 8)
		Containing(found, data, low, ends, f)
		for i, match := range want {
			if has := found[i/8]>>(i%8)&1 != 0; match != has && (match || f.Exact) {
				t.Fatalf("value %d: a match %t, found %t", i, match, has)
			}
		}
	})
}

// Characters that folding or upper case makes the same are spellings of each other.
func TestSpellings(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for _, same := range []rune{analysis.Upper(r), foldRune(r)} {
			if same != r {
				require.Contains(t, Text{WordStart: true}.same(same), r)
			}
		}
	}
}

// Of what all matches have, the rarest is looked for, by the rarest of its bytes.
func TestRarest(t *testing.T) {
	for expr, want := range map[string]string{
		`took \d{4,}ms`:         "took ",
		`e \d+ jq \d+ the`:      " jq ",
		`(fatal|panic) \d+ e`:   "fatal |panic ",
		`(?i)connection reset`:  "CONNECTION RESET",
		`(e|panic) \d+ refused`: " refused",
	} {
		p, err := Regexp(expr, false)
		require.NoError(t, err)
		var texts [][]byte
		for _, text := range p.Texts() {
			texts = append(texts, text.Bytes)
		}
		require.Equal(t, want, string(bytes.Join(texts, []byte("|"))), expr)
	}
}
