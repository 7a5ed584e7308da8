package pattern_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amudai/amudai-go/internal/base/search"
	"github.com/amudai/amudai-go/internal/engine/pattern"
)

func constant(text string) search.Part { return search.Part{Text: []byte(text)} }

func digits(least, most int) search.Part {
	return search.Part{Kind: search.Digits, Min: least, Max: most}
}

var anything = search.Part{Kind: search.Anything}

func regex(t *testing.T, expr string) *pattern.Pattern {
	t.Helper()
	p, err := pattern.Regexp(expr, false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDecide(t *testing.T) {
	took := search.Shape{constant("job took "), digits(1, 20), constant(" ms on "), anything}
	for _, c := range []struct {
		name      string
		pattern   *pattern.Pattern
		shape     search.Shape
		some, all bool
	}{
		{"words of a text", pattern.Term("TOOK", false), took, true, true},
		{"a word that may go on", pattern.Term("on", false), search.Shape{constant("on"), anything}, true, false},
		{"a word that goes on with the value's end", pattern.Term("on", false), search.Shape{anything, constant(" on")}, true, true},
		{"a beginning of a word", pattern.Term("o", true), search.Shape{constant("a o"), anything}, true, true},
		{"a phrase", pattern.Phrase("job TOOK"), took, true, true},
		{"a phrase up to a field", pattern.Phrase("ms on"), search.Shape{anything, constant(" ms on"), digits(1, 1)}, true, false},
		{"a part", pattern.Contains("ook", false), took, true, true},
		{"a part in another case", pattern.Contains("OOK", true), took, true, true},
		{"a beginning", pattern.StartsWith("job", false), took, true, true},
		{"a beginning behind a field", pattern.StartsWith("job", false), search.Shape{anything, constant("job")}, true, false},
		{"digits of a field", regex(t, `took \d+ ms`), took, true, true},
		{"more digits than a field may have", regex(t, `took \d{4,} ms`), took, true, false},
		{"digits of a width", regex(t, `took \d{4,} ms`), search.Shape{constant("took "), digits(4, 4), constant(" ms")}, true, true},
		{"too few digits of a width", regex(t, `took \d{4,} ms`), search.Shape{constant("took "), digits(3, 3), constant(" ms")}, false, false},
		{"letters where there are digits", regex(t, `took [a-z]+ ms`), took, true, false}, // the last field may have them
		{"letters, without another field", regex(t, `took [a-z]+ ms`), took[:3], false, false},
		{"the end", regex(t, `m.$`), took[:3], false, false},
		{"behind a field", regex(t, `\bms\b.*on $`), took[:3], true, true},
		{"a character in two parts", pattern.Contains("ook", false), search.Shape{constant("took\xc3"), anything}, true, false},
	} {
		if some, all := c.pattern.Decide(c.shape, &pattern.Scratch{}); some != c.some || all != c.all {
			t.Errorf("%s: some %v, all %v", c.name, some, all)
		}
	}
}

// TestDecideHoldsForValues makes values of shapes, and compares what was decided about them with matching each.
func TestDecideHoldsForValues(t *testing.T) {
	var patterns []*pattern.Pattern
	for _, text := range []string{"a", "a1", "1", "a b", "ſ", "ß", " ", "a-", "é", "k"} {
		patterns = append(patterns, pattern.Term(text, false), pattern.Term(text, true), pattern.Phrase(text), pattern.Contains(text, false), pattern.Contains(text, true),
			pattern.StartsWith(text, true), pattern.EndsWith(text, false), pattern.Equal(text, true), pattern.Like("%"+text+"_b%", true))
	}
	for _, expr := range []string{`a.*b`, `\d{2,3}`, `^a`, `b$`, `\ba\b`, `a\B`, `(?i)k\d+s`, `[^a]1`, `^\d+$`, `é|1b`, `a(1|b)*$`, `(?m)^b`, `\xff`, `[[:^ascii:]]`, `(a|b)[ab]{5}1`} {
		patterns = append(patterns, regex(t, expr))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	texts := strings.Split("a|b|1|a1|a b|-|k|K|ſ|ß|é|ı| |\n|K|ab ab|\xc3|\xa9|", "|")
	text := func() (b []byte) {
		for range rnd.IntN(4) {
			b = append(b, texts[rnd.IntN(len(texts))]...)
		}
		return b
	}
	const alphabet = "0123456789abcdef0123456789ABCDEF"
	decided := map[string]int{}
	var scratch pattern.Scratch
	for range 2000 {
		var shape search.Shape
		for range 1 + rnd.IntN(4) {
			part := search.Part{Kind: search.PartKind(rnd.IntN(5)), Min: 1 + rnd.IntN(2)}
			if part.Max = part.Min + rnd.IntN(3); part.Kind == search.Constant {
				part = search.Part{Text: text()}
			}
			shape = append(shape, part)
		}
		values := make([][]byte, 20)
		for i := range values {
			for _, part := range shape {
				n := part.Min + rnd.IntN(part.Max-part.Min+1)
				switch part.Kind {
				case search.Constant:
					values[i] = append(values[i], part.Text...)
				case search.Anything:
					values[i] = append(values[i], text()...)
				default:
					of := map[search.PartKind]string{search.Digits: alphabet[:10], search.HexLower: alphabet[:16], search.HexUpper: alphabet[16:]}[part.Kind]
					for range n {
						values[i] = append(values[i], of[rnd.IntN(len(of))])
					}
				}
			}
		}
		for i, p := range patterns {
			some, all := p.Decide(shape, &scratch)
			decided[fmt.Sprint(some, all)]++
			for _, v := range values {
				if is := p.Match(v, &scratch); is && !some || !is && all {
					t.Fatalf("pattern %d, shape %v: %q matches: %v, but some: %v, all: %v", i, shape, v, is, some, all)
				}
			}
		}
	}
	if decided["false false"] < 1000 || decided["true true"] < 1000 || decided["true false"] < 1000 {
		t.Errorf("decisions %v", decided)
	}
}
