package searchtest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Expression is a regular expression that some text is likely to match: a part of one, pieces of which are replaced by more general ones. It may be
// wrong.
func (m *Maker) Expression() string {
	text := m.cutOut()
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, ".")
	}
	expr := m.generalize([]rune(text), 2)
	if m.r.IntN(4) == 0 {
		other := strings.ToValidUTF8(m.cutOut(), ".")
		expr += pick(m.r, "|", ".*", ".+?", `\s*`, `[^x]*`) + m.generalize([]rune(other), 1)
	}
	if m.r.IntN(8) == 0 {
		expr = pick(m.r, "^", `\A`, "(?m)^", `\b`, `\B`, "(?i)", "(?s)", "(?U)", "^.*") + expr
	}
	if m.r.IntN(10) == 0 {
		expr += pick(m.r, "$", `\z`, "(?m:$)", `\b`, "+", "*", "?", "{2}", "{0,1}", "{1,3}")
	}
	return expr
}

// generalize writes characters as a regular expression that matches them.
func (m *Maker) generalize(text []rune, depth int) string {
	var b strings.Builder
	for len(text) > 0 {
		n := 1
		lit := regexp.QuoteMeta(string(text[:1]))
		switch k := m.r.IntN(40); {
		case k == 0:
			b.WriteString(".")
		case k == 1:
			b.WriteString(class(text[0]))
		case k == 2: // all that are alike
			for n < len(text) && class(text[n]) == class(text[0]) {
				n++
			}
			b.WriteString(class(text[0]) + pick(m.r, "+", "*", "+?", "{1,200}"))
		case k == 3:
			b.WriteString(lit + pick(m.r, "+", "*", "?", "{1}", "{1,2}", "??"))
		case k == 4:
			b.WriteString("[" + strings.NewReplacer(`\`, `\\`, "]", `\]`, "^", `\^`, "-", `\-`, "[", `\[`).Replace(string(text[0])) + pick(m.r, "x", "é", "0-9", "A-Z") + "]")
		case k == 5:
			b.WriteString(pick(m.r, `\b`, `\B`, "(?:)", "x?", "(?:abc)*", "()"))
			n = 0
			if m.r.IntN(2) == 0 {
				n = 1
				b.WriteString(lit)
			}
		case k < 11 && depth > 0:
			n = min(1+m.r.IntN(8), len(text))
			b.WriteString(m.group(text[:n], depth))
		case k < 20:
			n = min(1+m.r.IntN(6), len(text))
			b.WriteString(regexp.QuoteMeta(string(text[:n])))
		default:
			b.WriteString(lit)
		}
		text = text[n:]
	}
	return b.String()
}

// group writes characters as a group: one of several alternatives, or one that may be there.
func (m *Maker) group(text []rune, depth int) string {
	in := m.generalize(text, depth-1)
	other := func() string {
		if m.r.IntN(3) == 0 {
			return ""
		}
		return m.generalize([]rune(strings.ToValidUTF8(m.cutOut(), ".")), depth-1)
	}
	switch m.r.IntN(7) {
	case 0:
		return "(" + in + ")"
	case 1:
		return "(?:" + in + ")" + pick(m.r, "?", "+", "*", "{1,2}", "{0,3}")
	case 2:
		return "(?i:" + in + ")"
	case 3:
		return "(?:" + in + "|" + other() + "|" + other() + ")"
	case 4: // alternatives that begin or end alike
		return "(" + in + "|" + in + other() + "|" + other() + in + ")"
	}
	return "(?:" + other() + "|" + in + ")"
}

// class is a class of characters that a character is in.
func class(r rune) string {
	switch {
	case '0' <= r && r <= '9':
		return `\d`
	case r < utf8.RuneSelf && unicode.IsLetter(r):
		return `[a-zA-Z]`
	case unicode.IsUpper(r):
		return `\p{Lu}`
	case unicode.IsLetter(r):
		return `\pL`
	case r == ' ':
		return `\s`
	}
	return `[^\w]`
}
