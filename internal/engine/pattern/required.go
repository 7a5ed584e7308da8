package pattern

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Required is what every match of a pattern has: all of several requirements, or one of several, or a text.
type Required struct {
	All []*Required
	Any []*Required
	// Text is part of every match, if All and Any are empty.
	Text
}

// Text is a text in a value, and what is known about its place.
type Text struct {
	Bytes []byte
	Fold  bool // characters may differ in case, as Unicode's simple case folding says; then Bytes are UTF-8
	// Start and End tell that the value begins and ends with the text, WordStart and WordEnd that no letter or digit
	// stands before and behind it.
	Start, End         bool
	WordStart, WordEnd bool
}

// Narrower is a source of rows that may leave out those without one of the texts of a list, but for some before and behind each that has one, if no row was
// read yet. It may choose the list.
type Narrower interface {
	Narrow(lists [][]Text, before, after int64)
}

// Required returns what every match has, nil if nothing is known. That of words is in [Pattern.Words].
func (p *Pattern) Required() *Required {
	switch {
	case p.words != nil:
		return nil
	case p.regex != nil:
		return p.required
	}
	var r Required
	s := &p.segments
	for i, seg := range s.list {
		for k, part := range seg {
			if len(part.text) == 0 || p.fold && !utf8.Valid(part.text) {
				continue
			}
			start := s.start && i == 0 && k == 0
			end := s.end && i == len(s.list)-1 && k == len(seg)-1 && part.skip == 0
			r.All = append(r.All, &Required{Text: Text{Bytes: part.text, Fold: p.fold, Start: start, End: end, WordStart: start, WordEnd: end}})
		}
	}
	return r.simple()
}

// simple leaves out a list around a single requirement; it returns nil if there is none.
func (r *Required) simple() *Required {
	switch {
	case len(r.All) == 1:
		return r.All[0]
	case len(r.Any) == 1:
		return r.Any[0]
	case len(r.All) == 0 && len(r.Any) == 0 && len(r.Bytes) == 0:
		return nil
	}
	return r
}

// MaxTexts is how many texts are looked for at most. maxTextSize is the most bytes of one that a regular expression stands for.
const (
	MaxTexts    = 32
	maxTextSize = 256
)

// requiredBy collects what the matches of a regular expression have, which is read from the left to the right. It keeps the texts
// that can stand at the end of what was read:
//
//	blk_[12]\d+   {"blk_1", "blk_2"}, then nothing is known about what follows
type requiredBy struct {
	out  Required
	ends []Text // the texts; none of nothing read is {""}
}

var nothingRead = []Text{{}}

// requiredOf is what every match of a simplified regular expression has.
func requiredOf(re *syntax.Regexp) *Required {
	c := requiredBy{ends: nothingRead}
	c.read(re)
	c.cut(false)
	return c.out.simple()
}

// read goes on with a part of the expression.
func (c *requiredBy) read(re *syntax.Regexp) {
	if texts := textsOf(re); texts != nil {
		c.join(texts)
		return
	}
	switch re.Op {
	case syntax.OpCapture:
		c.read(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			c.read(sub)
		}
	case syntax.OpPlus: // the first time, any number of times, the last time
		if texts := textsOf(re.Sub[0]); texts != nil {
			c.join(texts)
			c.cut(false)
			c.join(texts)
			return
		}
		separates := separator(re.Sub[0])
		c.cut(separates)
		if r := requiredOf(re.Sub[0]); r != nil {
			c.out.All = append(c.out.All, r)
		}
		c.startsWord(separates)
	case syntax.OpAlternate:
		c.cut(false)
		var one Required
		for _, sub := range re.Sub {
			r := requiredOf(sub)
			if r == nil {
				return
			}
			one.Any = append(one.Any, r)
		}
		c.out.All = append(c.out.All, one.simple())
	default:
		separates := separator(re)
		c.cut(separates)
		c.startsWord(separates)
	}
}

// join puts each of some texts behind each of those so far.
func (c *requiredBy) join(texts []Text) {
	if len(c.ends)*len(texts) > MaxTexts {
		c.cut(false)
	}
	if c.ends = each(c.ends, texts); tooLong(c.ends) {
		c.cut(false)
	}
}

// each is each of some texts with each of others behind it.
func each(first, next []Text) []Text {
	joined := make([]Text, 0, len(first)*len(next))
	for _, a := range first {
		for _, b := range next {
			joined = append(joined, a.then(b))
		}
	}
	return joined
}

func tooLong(texts []Text) bool {
	return slices.ContainsFunc(texts, func(t Text) bool { return len(t.Bytes) > maxTextSize })
}

// then is a text with another one behind it.
func (t Text) then(next Text) Text {
	if len(t.Bytes) == 0 {
		next.Start, next.WordStart, next.Fold = t.Start || next.Start, t.WordStart || next.WordStart, t.Fold || next.Fold
		return next
	}
	t.Bytes = slices.Concat(t.Bytes, next.Bytes)
	t.End, t.WordEnd, t.Fold = next.End, next.WordEnd, t.Fold || next.Fold
	return t
}

// cut requires one of the texts so far, and forgets them. wordEnd tells that a word ends behind them.
func (c *requiredBy) cut(wordEnd bool) {
	var one Required
	for _, t := range c.ends {
		if len(t.Bytes) == 0 {
			c.ends = nothingRead
			return
		}
		t.WordEnd = t.WordEnd || wordEnd
		one.Any = append(one.Any, &Required{Text: t})
	}
	c.out.All = append(c.out.All, one.simple())
	c.ends = nothingRead
}

// startsWord tells whether what follows stands behind something that is no part of a word.
func (c *requiredBy) startsWord(yes bool) {
	if yes {
		c.ends = []Text{{WordStart: true}}
	}
}

// textsOf returns the texts that a part of an expression stands for, nil if it stands for others, too.
func textsOf(re *syntax.Regexp) []Text {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary: // \b looks at letters of ASCII only
		return nothingRead
	case syntax.OpBeginText:
		return []Text{{Start: true, WordStart: true}}
	case syntax.OpEndText:
		return []Text{{End: true, WordEnd: true}}
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, utf8.RuneError) { // any byte that is not UTF-8, too
			return nil
		}
		return []Text{{Bytes: []byte(string(re.Rune)), Fold: re.Flags&syntax.FoldCase != 0}}
	case syntax.OpCharClass:
		return textsOfClass(re.Rune)
	case syntax.OpCapture:
		return textsOf(re.Sub[0])
	case syntax.OpQuest:
		if texts := textsOf(re.Sub[0]); texts != nil && len(texts) < MaxTexts {
			return slices.Concat(nothingRead, texts)
		}
	case syntax.OpAlternate:
		var all []Text
		for _, sub := range re.Sub {
			texts := textsOf(sub)
			if texts == nil || len(all)+len(texts) > MaxTexts {
				return nil
			}
			all = append(all, texts...)
		}
		return all
	case syntax.OpConcat:
		all := nothingRead
		for _, sub := range re.Sub {
			texts := textsOf(sub)
			if texts == nil || len(all)*len(texts) > MaxTexts {
				return nil
			}
			if all = each(all, texts); tooLong(all) {
				return nil
			}
		}
		return all
	}
	return nil
}

// maxClass is how many characters of a class are looked at one by one.
const maxClass = 4

func textsOfClass(ranges []rune) (texts []Text) {
	for i := 0; i < len(ranges); i += 2 {
		if int(ranges[i+1]-ranges[i]) >= maxClass-len(texts) || ranges[i] <= utf8.RuneError && utf8.RuneError <= ranges[i+1] {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			texts = append(texts, Text{Bytes: utf8.AppendRune(nil, r)})
		}
	}
	return texts
}

// separator reports whether a part of an expression stands for a character that is no part of a word.
func separator(re *syntax.Regexp) bool {
	if re.Op != syntax.OpCharClass || len(re.Rune) == 0 {
		return false
	}
	const most = 64
	n := rune(0)
	for i := 0; i < len(re.Rune); i += 2 {
		if n += re.Rune[i+1] - re.Rune[i] + 1; n > most {
			return false
		}
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if analysis.IsWordRune(r) {
				return false
			}
		}
	}
	return true
}
