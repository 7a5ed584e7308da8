package pattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Regexp matches values in which a regular expression is found, in the syntax of package regexp. One that asks only for a
// text becomes a pattern without a regular expression.
func Regexp(expr string, fold bool) (*Pattern, error) {
	if fold {
		expr = "(?i:" + expr + ")"
	}
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("regular expression: %w", err)
	}
	re = re.Simplify()
	if s, ok := textOnly(re); ok {
		return fromSegments(s, false), nil
	}
	p := &Pattern{}
	if p.regex, err = regexp.Compile(expr); err != nil {
		return nil, fmt.Errorf("regular expression: %w", err)
	}
	p.states = newAutomaton(re)
	p.required = requiredOf(re)
	p.findParts(p.required)
	p.texts = onlyTexts(re, false) || onlyTexts(re, true)
	return p, nil
}

// IsRegexp reports whether values are matched by an automaton, which takes longer than a search of texts.
func (p *Pattern) IsRegexp() bool { return p.regex != nil && !p.texts }

// onlyTexts reports whether a regular expression stands for texts alone, all of which ignore case or none does.
func onlyTexts(re *syntax.Regexp, fold bool) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return fold == (re.Flags&syntax.FoldCase != 0)
	case syntax.OpCharClass:
		return !fold && textsOf(re) != nil
	case syntax.OpCapture, syntax.OpConcat, syntax.OpAlternate, syntax.OpQuest:
		return textsOf(re) != nil && !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !onlyTexts(sub, fold) })
	}
	return re.Op == syntax.OpEmptyMatch
}

// textOnly turns a regular expression that asks for one text, at an end or anywhere, into segments.
func textOnly(re *syntax.Regexp) (segments, bool) {
	s := segments{}
	for i, item := range concatenated(re) {
		switch {
		case item.Op == syntax.OpBeginText && i == 0:
			s.start = true
		case s.end || s.start && item.Op == syntax.OpBeginText:
			return s, false
		case item.Op == syntax.OpEndText:
			s.end = true
		case item.Op == syntax.OpEmptyMatch:
		default:
			text, ok := literalText(item)
			if !ok || len(s.list) > 0 {
				return s, false
			}
			s.list = []segment{{{text: []byte(text)}}}
		}
	}
	if len(s.list) == 0 {
		s.start = s.start && s.end // every value matches ^ alone
	}
	return s, true
}

// concatenated are the parts of a regular expression that must follow each other.
func concatenated(re *syntax.Regexp) []*syntax.Regexp {
	if re.Op == syntax.OpConcat {
		return re.Sub
	}
	return []*syntax.Regexp{re}
}

// literalText is the text that a part of a regular expression stands for. The character U+FFFD would also match bytes that
// are not UTF-8.
func literalText(re *syntax.Regexp) (string, bool) {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	if re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase != 0 {
		return "", false
	}
	text := string(re.Rune)
	return text, !strings.ContainsRune(text, utf8.RuneError)
}
