package pattern

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/text/analysis"
)

// describe writes a requirement as text: quoted texts, with ^ and $ at ends of values, < and > at those of words, and i for any case.
func describe(r *Required) string {
	if r == nil {
		return "-"
	}
	list := func(sep string, all []*Required) string {
		var out []string
		for _, r := range all {
			out = append(out, describe(r))
		}
		return "(" + strings.Join(out, sep) + ")"
	}
	switch {
	case len(r.All) > 0:
		return list(" ", r.All)
	case len(r.Any) > 0:
		return list("|", r.Any)
	}
	mark := func(ok bool, s string) string {
		if ok {
			return s
		}
		return ""
	}
	t := r.Text
	return mark(t.Start, "^") + mark(t.WordStart && !t.Start, "<") + string(t.Bytes) + mark(t.WordEnd && !t.End, ">") + mark(t.End, "$") + mark(t.Fold, "/i")
}

func TestRequired(t *testing.T) {
	for expr, want := range map[string]string{
		`foo`:            "foo",
		`foo.*bar`:       "(foo bar)",
		`^foo\d+bar$`:    "(^foo bar$)",
		`(foo|bar)baz`:   "(foobaz|barbaz)",
		`(foo|b+)baz`:    "((foo|(b b)) baz)",
		`(foo|\d)baz`:    "baz",
		`(?i)failed`:     "FAILED/i",
		`(?i:ab)cd`:      "ABcd/i",
		`port \d+ ssh2`:  "(port   ssh2)",
		`user\s+root`:    "(user> <root)",
		`user\s*root`:    "(user root)",
		`blk_-?1608`:     "(blk_1608|blk_-1608)",
		`x{2,3}y`:        "(xxy|xxxy)",
		`(ab)+c`:         "(ab abc)",
		`a[bc]d`:         "(abd|acd)",
		`\bfoo\b`:        "foo",
		`.*`:             "-",
		`a?`:             "-",
		`(a|)`:           "-",
		`\d+|foo`:        "-",
		`a[^b]c`:         "(a c)",
		"a\xef\xbf\xbdc": "-",
		`(^|,)foo(,|$)`:  "(^foo,|^foo$|,foo,|,foo$)",
		`(?m)^foo$`:      "foo",
	} {
		p, err := Regexp(expr, false)
		require.NoError(t, err, expr)
		require.Equal(t, want, describe(p.Required()), expr)
	}
	many, err := Regexp(strings.Repeat("[ab]", 6), false)
	require.NoError(t, err)
	require.Len(t, many.Required().All, 2)
	require.Len(t, many.Required().All[0].Any, MaxTexts)
	require.Equal(t, "(^ab c d$)", describe(Like("ab%c%d", false).Required()))
	require.Equal(t, "(^ab cd)", describe(Like("ab_cd_", false).Required()))
	require.Equal(t, "AB/i", describe(Contains("ab", true).Required()))
	require.Equal(t, "^ab$", describe(Equal("ab", false).Required()))
	require.Equal(t, "-", describe(Contains("", false).Required()))
	require.Equal(t, "-", describe(Contains("a\xc3", true).Required()))
}

// has reports whether a value has what is required.
func has(r *Required, value []byte) bool {
	switch {
	case r == nil:
		return true
	case len(r.All) > 0:
		for _, one := range r.All {
			if !has(one, value) {
				return false
			}
		}
		return true
	case len(r.Any) > 0:
		for _, one := range r.Any {
			if has(one, value) {
				return true
			}
		}
		return false
	}
	t := r.Text
	text := t.Bytes
	if t.Fold { // folding keeps the length of the characters of this test
		text, value = appendFolded(nil, text), appendFolded(nil, value)
	}
	for at := 0; at+len(text) <= len(value); at++ {
		end := at + len(text)
		if bytes.Equal(value[at:end], text) && (!t.Start || at == 0) && (!t.End || end == len(value)) &&
			(!t.WordStart || wordEndsBefore(value[:at])) && (!t.WordEnd || wordStartsBehind(value[end:])) {
			return true
		}
	}
	return false
}

func wordEndsBefore(v []byte) bool {
	r := []rune(string(v))
	return len(r) == 0 || !analysis.IsWordRune(r[len(r)-1])
}

func wordStartsBehind(v []byte) bool {
	r := []rune(string(v))
	return len(r) == 0 || !analysis.IsWordRune(r[0])
}

// expression draws a regular expression.
func expression(t *rapid.T) string {
	atoms := []string{"a", "b", "B", "ab", "é", " ", "_", `\s`, `\d`, `\w`, `\W`, `\b`, `\B`, "^", "$", ".", "[ab]", "[^a]", "[a-f]", `[ ,]`, "(?i:a)", "(?i:é)", `(?m:^)`, `(?m:$)`, `\x{FFFD}`, "(?i:ski)", ""}
	var expr func(depth int) string
	expr = func(depth int) string {
		if depth == 0 {
			return rapid.SampledFrom(atoms).Draw(t, "atom")
		}
		switch rapid.IntRange(0, 6).Draw(t, "form") {
		case 0:
			return "(?:" + expr(depth-1) + "|" + expr(depth-1) + ")"
		case 1:
			return "(" + expr(depth-1) + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2}", "{1,3}"}).Draw(t, "repeat")
		default:
			return expr(depth-1) + expr(depth-1)
		}
	}
	return expr(rapid.IntRange(1, 4).Draw(t, "depth"))
}

// Whatever a regular expression matches has what is required.
func TestRequiredOfMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := expression(t)
		re := regexp.MustCompile(text)
		parsed, err := syntax.Parse(text, syntax.Perl)
		require.NoError(t, err)
		required := requiredOf(parsed.Simplify())
		pieces := rapid.SampledFrom([]string{"a", "b", "A", "B", "é", "É", " ", "_", "1", "\n", ",", "\xff", "c"})
		for range 20 {
			value := strings.Join(rapid.SliceOfN(pieces, 0, 10).Draw(t, "value"), "")
			if re.MatchString(value) {
				require.True(t, has(required, []byte(value)), "%s in %q needs %s", text, value, describe(required))
			}
		}
	})
}
