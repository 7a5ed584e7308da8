package searchtest

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// Lines are lines of all logs of the corpus: from each of them n, spread over it. Without the corpus the test is skipped.
func Lines(t testing.TB, n int) (out []string) {
	logs, err := filepath.Glob(filepath.Join(testdata.Shared(t), "corpus", "logs", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no logs in the corpus: %v", err)
	}
	for _, path := range logs {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
		step := max(len(lines)/n, 1)
		for i := 0; i < len(lines); i += step {
			out = append(out, string(bytes.TrimRight(lines[i], "\r")))
		}
	}
	return out
}

// odd are texts that are special in some way: their case, their length in another case, where words end, addresses.
var odd = []string{
	"straße", "STRASSE", "STRAẞE", "ſtraſse", "Kelvin", "kelvin", "\u212a", "Å", "\u212b", "å", "İstanbul", "istanbul", "ıstanbul", "ISTANBUL", "ﬁle", "FILE", "ﬀ",
	"ǅ", "ǆ", "Ǆ", "ΑΣ", "ας", "ασ", "ᾳ", "ᾼ", "ᾀ", "ᾈ", "ῳ", "ͅ", "ι", "ⱥ", "Ⱥ", "ɐ", "Ɐ", "ÿ", "Ÿ", "µ", "μ", "Μ", "Ꭰ", "ꭰ", "ა", "Ა",
	"cafe\u0301", "café", "क\u093fताब", "สวัสดีครับ", "กำ", "日本語テキスト", "中文搜索", "한국어", "x²", "½", "Ⅷ", "ⅷ", "٣٤", "Ⓐⓐ", "𐐀", "𐐨", "🙂", "\ufffd", "\ufeff", "\u2028",
	"10.1.2.3", "1.10.1.2.3", "255.255.255.255", "256.1.2.3", "001.02.3.4", "1.2.3.4x", "é1.2.3.4", "1.2.3", "1.2.3.4.5.6.7.8", "blk_-123", "a_b", "user=bob", "/var/log", "C:\\x",
}

var between = []string{" ", " ", ", ", ".", "-", "_", "", "\u0301", "\t", ":", "%", "'", "\x00", "ー"}

// Texts are n random texts of any characters. With invalid, some have bytes that are not UTF-8, surrogates among them.
func Texts(r *rand.Rand, n int, invalid bool) []string {
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString(word(r, invalid))
			b.WriteString(between[r.IntN(len(between))])
		}
		out[i] = b.String()
	}
	return out
}

func word(r *rand.Rand, invalid bool) string {
	w := odd[r.IntN(len(odd))]
	switch k := r.IntN(24); {
	case k < 3:
		w += odd[r.IntN(len(odd))]
	case k == 3: // longer than a term, or nearly
		w = strings.Repeat(w, 1+(maxTerm-8+r.IntN(16))/len(w))
	case k == 4: // an end that depends on the size of characters
		w = strings.Repeat("a", r.IntN(130)) + strings.Repeat("ɐ", r.IntN(64)) + w
	case k == 5:
		w = strings.ToUpper(w)
	case k == 6:
		w = strings.ToLower(w)
	case k == 7:
		w = string(rune(r.IntN(0x2fff)))
	case k < 10 && invalid:
		bad := []string{"\xff", "\xed\xa0\x80", "\xed\xbf\xbf", "\xc3", "\xe2\x82", "\x80", "\xf0\x9f\x99", "\xc0\x80"}
		at := r.IntN(len(w) + 1)
		w = w[:at] + bad[r.IntN(len(bad))] + w[at:]
	}
	return w
}

// inWord reports whether a character belongs to words (docs/format.md §15.1). U+FFFD, which stands for bytes that are not UTF-8, does not.
func inWord(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Lm, unicode.Lo, unicode.Nd, unicode.Nl, unicode.No, unicode.Other_Alphabetic)
}

// Words are the longest runs of letters and digits in a text.
func Words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !inWord(r) })
}

// maxTerm is the most bytes of a term.
const maxTerm = 128

// number is a number of an address.
const number = `(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})`

var address = regexp.MustCompile(`^(` + number + `(?:\.` + number + `){3})(?:[^0-9A-Za-z]|$)`)

// Addresses are the IPv4 addresses in a text, those that overlap too.
func Addresses(text string) (out []string) {
	for i := range len(text) {
		if i > 0 && regexp.MustCompile(`[0-9A-Za-z]`).MatchString(text[i-1:i]) {
			continue
		}
		if m := address.FindStringSubmatch(text[i:]); m != nil {
			out = append(out, m[1])
		}
	}
	return out
}

// Upper is a text in upper case, as collations and filters about words see it. Bytes that are not UTF-8 stay.
func Upper(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError:
			b.WriteString(text[i : i+n])
		case r == 'ß':
			b.WriteRune('ẞ')
		case strings.ContainsRune("ᾀᾁᾂᾃᾄᾅᾆᾇᾐᾑᾒᾓᾔᾕᾖᾗᾠᾡᾢᾣᾤᾥᾦᾧᾳῃῳ", r):
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
		i += n
	}
	return b.String()
}
