// Package searchtest makes questions about texts, and answers them without an index and without the packages that make one: by a tokenizer of its
// own, which follows docs/format.md §15.1 character by character, by search of byte strings, and by Go's regular expressions.
package searchtest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Question is a condition on the column "line" of strings.
type Question struct {
	Text string                  // for package filter
	True func(value string) bool // the answer for a value that is not null
}

// Maker makes random questions about texts.
type Maker struct {
	r     *rand.Rand
	texts []string
	valid bool // all texts are UTF-8
}

// NewMaker returns a maker of questions that some texts may meet.
func NewMaker(r *rand.Rand, texts []string) *Maker {
	m := &Maker{r: r, texts: texts, valid: true}
	for _, t := range texts {
		m.valid = m.valid && utf8.ValidString(t)
	}
	return m
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// Question is a question, or several joined by and, or, not.
func (m *Maker) Question() Question { return m.combined(2) }

func (m *Maker) combined(depth int) Question {
	if depth == 0 || m.r.IntN(2) == 0 {
		return m.Leaf()
	}
	a := m.combined(depth - 1)
	if m.r.IntN(3) == 0 {
		return Question{"not (" + a.Text + ")", func(v string) bool { return !a.True(v) }}
	}
	b := m.combined(depth - 1)
	if m.r.IntN(2) == 0 {
		return Question{"(" + a.Text + ") and (" + b.Text + ")", func(v string) bool { return a.True(v) && b.True(v) }}
	}
	return Question{"(" + a.Text + ") or (" + b.Text + ")", func(v string) bool { return a.True(v) || b.True(v) }}
}

// Leaf is a question without and, or, not.
func (m *Maker) Leaf() Question {
	switch m.r.IntN(8) {
	case 0:
		return m.several()
	case 1:
		return m.values()
	case 2, 3:
		return m.pattern()
	case 4, 5:
		return m.words()
	}
	return m.part()
}

// words asks for words.
func (m *Maker) words() Question {
	text := m.otherCase(m.cutOut())
	switch m.r.IntN(4) {
	case 0:
		return Has(text, true)
	case 1:
		return HasPhrase(text)
	case 2:
		if words := Words(text); len(words) > 0 && len(Upper(words[0])) <= 40 {
			return HasFuzzy(m.misspelt(words[0]), 1+m.r.IntN(2))
		}
	}
	return Has(text, false)
}

// misspelt edits a word, or not.
func (m *Maker) misspelt(word string) string {
	letters := []rune(word)
	for range m.r.IntN(3) {
		switch at := m.r.IntN(len(letters)); m.r.IntN(4) {
		case 0:
			letters = slices.Insert(letters, at, pick(m.r, 'a', 'é', '7'))
		case 1:
			letters[at] = pick(m.r, 'e', 'S', '0')
		case 2:
			letters[at], letters[0] = letters[0], letters[at]
		case 3:
			if len(letters) > 1 {
				letters = slices.Delete(letters, at, at+1)
			}
		}
	}
	return string(letters)
}

// HasFuzzy asks for a word with at most so many edits.
func HasFuzzy(word string, most int) Question {
	want := []rune(Upper(word))
	return Question{fmt.Sprintf("has_fuzzy(line, '%s~%d')", word, most), func(value string) bool {
		return slices.ContainsFunc(Words(Upper(value)), func(have string) bool { return IsLike([]rune(have), want, most) })
	}}
}

// IsLike reports whether one of two words can be made of the other by so many insertions, deletions and replacements of characters and swaps of neighbours, each
// character edited once, and both are longer than that.
func IsLike(a, b []rune, most int) bool {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch d := &rows[i][j]; {
			case i == 0 || j == 0:
				*d = max(i, j)
			default:
				*d = min(rows[i-1][j], rows[i][j-1]) + 1
				if a[i-1] == b[j-1] {
					*d = min(*d, rows[i-1][j-1])
				} else {
					*d = min(*d, rows[i-1][j-1]+1)
				}
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					*d = min(*d, rows[i-2][j-2]+1)
				}
			}
		}
	}
	d := rows[len(a)][len(b)]
	return d <= most && d < min(len(a), len(b))
}

// Has asks for a text that begins and ends where words do; with prefix, its last word may go on.
func Has(text string, prefix bool) Question {
	name, part := "has", Upper(text)
	if prefix {
		name = "has_prefix"
	}
	return Question{fmt.Sprintf("%s(line, %s)", name, quote(text)), func(value string) bool {
		value = Upper(value)
		for at := 0; at+len(part) <= len(value); at++ {
			if value[at:at+len(part)] == part && !inside(value, at) && (prefix || !inside(value, at+len(part))) {
				return true
			}
		}
		return false
	}}
}

// inside reports whether a word goes on from the byte before at to that at at.
func inside(value string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(value[:at])
	after, _ := utf8.DecodeRuneInString(value[at:])
	return inWord(before) && inWord(after)
}

// HasPhrase asks for words one behind the other.
func HasPhrase(text string) Question {
	words := Words(Upper(text))
	return Question{fmt.Sprintf("has_phrase(line, %s)", quote(text)), func(value string) bool {
		have := Words(Upper(value))
		for at := 0; at+len(words) <= len(have); at++ {
			if slices.Equal(have[at:at+len(words)], words) {
				return true
			}
		}
		return false
	}}
}

// several asks for any or all of several terms.
func (m *Maker) several() Question {
	var each []Question
	var list []string
	for range 1 + m.r.IntN(3) {
		text := m.otherCase(m.cutOut())
		each, list = append(each, Has(text, false)), append(list, quote(text))
	}
	name, all := "has_any", m.r.IntN(2) == 0
	if all {
		name = "has_all"
	}
	return Question{fmt.Sprintf("%s(line, %s)", name, strings.Join(list, ", ")), func(value string) bool {
		return slices.ContainsFunc(each, func(q Question) bool { return q.True(value) != all }) != all
	}}
}

// values asks for whole values.
func (m *Maker) values() Question {
	text := func() string {
		t := pick(m.r, m.texts...)
		if m.r.IntN(4) == 0 {
			t = m.cutOut()
		}
		return t
	}
	a, b := text(), text()
	switch m.r.IntN(5) {
	case 0:
		return Question{fmt.Sprintf("line in (%s, %s)", quote(a), quote(b)), func(v string) bool { return v == a || v == b }}
	case 1:
		return Question{fmt.Sprintf("line not in (%s, %s)", quote(a), quote(b)), func(v string) bool { return v != a && v != b }}
	case 2:
		return Question{fmt.Sprintf("line between %s and %s", quote(a), quote(b)), func(v string) bool { return v >= a && v <= b }}
	case 3:
		return Question{fmt.Sprintf("line < %s", quote(a)), func(v string) bool { return v < a }}
	}
	return Question{"line = " + quote(a), func(v string) bool { return v == a }}
}

// part asks for a text at a place of values.
func (m *Maker) part() Question {
	text := m.cutOut()
	name := pick(m.r, "contains", "contains", "starts with", "ends with")
	if name == "starts with" && m.r.IntN(2) == 0 {
		t := pick(m.r, m.texts...)
		text = t[:m.border(t, m.r.IntN(len(t)+1))]
	}
	if !m.valid || m.r.IntN(3) > 0 {
		lit := quote(text)
		if m.r.IntN(4) == 0 { // a part of a character
			text = text[min(m.r.IntN(3), len(text)):max(len(text)-m.r.IntN(3), min(2, len(text)))]
			lit = fmt.Sprintf("x'%x'", text)
		}
		return Question{"line " + name + " " + lit, func(v string) bool {
			switch name {
			case "contains":
				return strings.Contains(v, text)
			case "starts with":
				return strings.HasPrefix(v, text)
			}
			return strings.HasSuffix(v, text)
		}}
	}
	text = m.otherCase(text)
	expr := map[string]string{"contains": "(?is:%s)", "starts with": `(?is:\A%s)`, "ends with": `(?is:%s\z)`}[name]
	re := regexp.MustCompile(fmt.Sprintf(expr, regexp.QuoteMeta(text)))
	return Question{"line i" + name + " " + quote(text), re.MatchString}
}

// pattern asks for a pattern of LIKE, or a regular expression.
func (m *Maker) pattern() Question {
	fold := pick(m.r, "", "", "i")
	if m.valid && m.r.IntN(3) == 0 {
		return m.like(fold)
	}
	expr := m.Expression()
	if _, err := regexp.Compile(expr); err != nil {
		return m.pattern()
	}
	re := regexp.MustCompile("(?:" + expr + ")")
	if fold != "" {
		re = regexp.MustCompile("(?i:" + expr + ")")
	}
	return Question{fmt.Sprintf("line %smatches %s", fold, quote(expr)), re.MatchString}
}

func (m *Maker) like(fold string) Question {
	text := m.cutOut()
	if m.r.IntN(3) == 0 {
		text = pick(m.r, m.texts...)
	}
	like, expr := Like(m.r, text)
	if m.r.IntN(3) > 0 {
		like, expr = "%"+like, ".*"+expr
	}
	if m.r.IntN(3) > 0 {
		like, expr = like+"%", expr+".*"
	}
	flags := "s"
	if fold != "" {
		flags = "is"
	}
	re := regexp.MustCompile(`\A(?` + flags + `:` + expr + `)\z`)
	return Question{fmt.Sprintf("line %slike %s", fold, quote(like)), re.MatchString}
}

// Like puts wildcards in the place of some characters of a text, or between them. It returns the pattern, and its meaning as a regular
// expression.
func Like(r *rand.Rand, text string) (pattern, meaning string) {
	for _, c := range text {
		switch r.IntN(12) {
		case 0:
			pattern, meaning = pattern+"_", meaning+"."
			continue
		case 1:
			pattern, meaning = pattern+"%", meaning+".*"
			continue
		case 2:
			pattern, meaning = pattern+"%", meaning+".*"
		}
		if strings.ContainsRune(`%_\`, c) {
			pattern += `\`
		}
		pattern, meaning = pattern+string(c), meaning+regexp.QuoteMeta(string(c))
	}
	return pattern, meaning
}

// cutOut is a part of a text: words, or whatever lies between two characters. Sometimes it is of no text.
func (m *Maker) cutOut() string {
	text := pick(m.r, m.texts...)
	from := m.border(text, m.r.IntN(len(text)+1))
	to := m.border(text, min(from+1+m.r.IntN(pick(m.r, 3, 8, 20, 200)), len(text)))
	switch part := text[from:to]; m.r.IntN(8) {
	case 0, 1, 2: // whole words
		for from > 0 && inside(text, from) {
			from = m.border(text, from-1)
		}
		for to < len(text) && inside(text, to) {
			_, n := utf8.DecodeRuneInString(text[to:])
			to += n
		}
		return text[from:to]
	case 3:
		return part + pick(m.r, "x", " ", ".", "ß", "")
	default:
		return part
	}
}

// border is the place of a character that is not behind at.
func (m *Maker) border(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// otherCase changes the case of some texts.
func (m *Maker) otherCase(text string) string {
	switch m.r.IntN(6) {
	case 0:
		return strings.ToUpper(text)
	case 1:
		return strings.ToLower(text)
	case 2:
		return Upper(text)
	}
	return text
}
