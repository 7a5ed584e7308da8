package analysis

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// terms are the terms of a text.
func terms(z Tokenizer, text string) (out []string) {
	var x Terms
	x.Find(z, []byte(text))
	for term := range x.All {
		out = append(out, string(term))
	}
	return out
}

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		z    Tokenizer
		text string
		want []string
	}{
		{Word, "", nil},
		{Word, " \t.,_-", nil},
		{Word, "a", []string{"a"}},
		{Word, "Hello, world!", []string{"Hello", "world"}},
		{Word, "snake_case kebab-case", []string{"snake", "case", "kebab", "case"}},
		{Word, "blk_-1608999687919862906", []string{"blk", "1608999687919862906"}},
		{Word, "10.250.19.102:54106", []string{"10", "250", "19", "102", "54106"}},
		{Word, "straße ΑΒΓ ελ", []string{"straße", "ΑΒΓ", "ελ"}},
		{Word, "日本語テキスト", []string{"日本語テキスト"}},
		{Word, "x² ½ Ⅷ ٣", []string{"x²", "½", "Ⅷ", "٣"}},
		{Word, "cafe\u0301s", []string{"cafe", "s"}}, // a combining accent is not alphabetic
		{Word, "क\u093fताब", []string{"क\u093fताब"}}, // a vowel sign is
		{Word, "Ⓐⓐ", []string{"Ⓐⓐ"}},                 // Other_Alphabetic
		{Word, "a\xffb", []string{"a", "b"}},         // not UTF-8
		{Word, "a\xe2\x82b\xe2", []string{"a", "b"}}, // characters that are not complete
		{Word, "a\u00a0b\u2028c", []string{"a", "b", "c"}},
		{Log, "from 10.1.2.3 port 80", []string{"10.1.2.3", "from", "10", "1", "2", "3", "port", "80"}},
		{Log, "10.1.2.3", []string{"10.1.2.3", "10", "1", "2", "3"}},
		{Log, "/10.1.2.3:80", []string{"10.1.2.3", "10", "1", "2", "3", "80"}},
		{Log, "1.2.3.4,5.6.7.8", []string{"1.2.3.4", "5.6.7.8", "1", "2", "3", "4", "5", "6", "7", "8"}},
		{Log, "1.2.3.4.5.6", []string{"1.2.3.4", "2.3.4.5", "3.4.5.6", "1", "2", "3", "4", "5", "6"}},
		{Log, "1.10.1.2.3 300.1.2.3.4", []string{"1.10.1.2", "10.1.2.3", "1.2.3.4", "1", "10", "1", "2", "3", "300", "1", "2", "3", "4"}},
		{Log, "001.02.3.255", []string{"001.02.3.255", "001", "02", "3", "255"}},
		{Log, "256.1.2.3", []string{"256", "1", "2", "3"}},
		{Log, "256.1.2.3.4", []string{"1.2.3.4", "256", "1", "2", "3", "4"}},
		{Log, "1.2.3.0004", []string{"1", "2", "3", "0004"}},
		{Log, "v1.2.3.4", []string{"v1", "2", "3", "4"}},
		{Log, "1.2.3.4x", []string{"1", "2", "3", "4x"}},
		{Log, "1.2.3.", []string{"1", "2", "3"}},
		{Log, "1..2.3.4", []string{"1", "2", "3", "4"}},
		{Log, "é1.2.3.4é", []string{"1.2.3.4", "é1", "2", "3", "4é"}}, // only letters of ASCII count beside addresses
		{Log, "no address", []string{"no", "address"}},
		{Trivial, "", nil},
		{Trivial, " a b ", []string{" a b "}},
		{Trivial, "\xff", []string{"\xff"}},
	} {
		require.Equal(t, c.want, terms(c.z, c.text), "%v of %q", c.z, c.text)
	}
}

// Terms have at most 128 bytes, of whole characters.
func TestLongTerms(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{strings.Repeat("a", 127), 127}, {strings.Repeat("a", 128), 128}, {strings.Repeat("a", 129), 128},
		{strings.Repeat("é", 64), 128}, {strings.Repeat("é", 65), 128}, {"a" + strings.Repeat("é", 65), 127},
		{strings.Repeat("日", 43), 126}, {"ab" + strings.Repeat("日", 43), 128},
		{"abc" + strings.Repeat("𝒳", 40), 127}, {strings.Repeat("a", 1000), 128},
	} {
		for _, z := range []Tokenizer{Word, Log, Trivial} {
			require.Equal(t, []string{c.text[:c.want]}, terms(z, c.text), "%v", z)
		}
	}
	require.Equal(t, []string{strings.Repeat("\x80", 128)}, terms(Trivial, strings.Repeat("\x80", 200)))
}

func TestTokenizerNames(t *testing.T) {
	for _, z := range []Tokenizer{Word, Log, Trivial} {
		got, ok := TokenizerByName(z.String())
		require.True(t, ok)
		require.Equal(t, z, got)
	}
	for _, name := range []string{"", "Trivial", "unicode"} {
		_, ok := TokenizerByName(name)
		require.False(t, ok)
	}
}

// oracle finds the terms of a text character by character.
func oracle(z Tokenizer, text string) (out []string) {
	cutTerm := func(s string) string {
		for len(s) > MaxTermLen || !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
		return s
	}
	switch {
	case z == Trivial && text == "":
		return nil
	case z == Trivial:
		return []string{cutTerm(text)}
	case z == Log:
		out = oracleAddresses(text)
	}
	word := ""
	for _, r := range text + " " {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r) {
			word += string(r)
			continue
		}
		if word != "" {
			out = append(out, cutTerm(word))
		}
		word = ""
	}
	return out
}

const octet = `(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})`

var addressPattern = regexp.MustCompile(`^(` + octet + `(?:\.` + octet + `){3})(?:[^0-9A-Za-z]|$)`)

func oracleAddresses(text string) (out []string) {
	for i := 0; i < len(text); i++ {
		if i > 0 && strings.ContainsAny(text[i-1:i], "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			continue
		}
		if m := addressPattern.FindStringSubmatch(text[i:]); m != nil {
			out = append(out, m[1])
		}
	}
	return out
}

// drawText is text of any characters, and of what is between terms, in words that may be longer than a term.
func drawText(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(0, 12).Draw(t, "parts") {
		switch rapid.IntRange(0, 6).Draw(t, "part") {
		case 0:
			b.WriteString(rapid.String().Draw(t, "text"))
		case 1:
			b.WriteString(rapid.StringMatching(`[0-9]{1,3}(\.[0-9]{1,3}){2,8}`).Draw(t, "address"))
		case 2:
			b.WriteString(rapid.StringOfN(rapid.RuneFrom([]rune("aZé日𝒳")), 0, 140, -1).Draw(t, "long"))
		case 3:
			b.WriteString(rapid.SampledFrom([]string{" ", ".", "_", "\u0301", "\u093f", "é", "x", "0", "\ufffd"}).Draw(t, "sign"))
		case 4:
			b.WriteRune(rapid.RuneFrom(nil, unicode.Other_Alphabetic, unicode.Mn, unicode.N, unicode.Lm, unicode.So).Draw(t, "rune"))
		default:
			b.WriteString(rapid.StringMatching(`[a-zA-Z0-9 .:/_-]{0,20}`).Draw(t, "ascii"))
		}
	}
	return b.String()
}

func TestTermsOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		for _, z := range []Tokenizer{Word, Log, Trivial} {
			require.Equal(t, oracle(z, text), terms(z, text), "%v of %q", z, text)
		}
	})
}

// Every character is, or is not, part of words.
func TestWordRunes(t *testing.T) {
	for r := rune(-1); r <= utf8.MaxRune+1; r++ {
		want := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r)
		if IsWordRune(r) != want {
			t.Fatalf("%U: %v", r, !want)
		}
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("from 10.1.2.3.4 to /straße:日本\xff 001.2.3.255x")
	f.Fuzz(func(t *testing.T, text string) {
		for _, z := range []Tokenizer{Word, Log, Trivial} {
			for _, term := range terms(z, text) {
				require.True(t, term != "" && len(term) <= MaxTermLen && strings.Contains(text, term))
				require.True(t, !utf8.ValidString(text) || utf8.ValidString(term))
			}
			if utf8.ValidString(text) {
				require.Equal(t, oracle(z, text), terms(z, text))
			}
		}
	})
}
