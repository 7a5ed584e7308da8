// Package query has questions about lines, as people ask them of a search: words, phrases and regular expressions. They become conditions
// on columns of text, and show where a line has what was asked for.
package query

import (
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Query is a question about lines. Its text is
//
//	query  = all { "OR" all } .
//	all    = not { [ "AND" ] not } .
//	not    = "NOT" not | "(" query ")" | term .
//	term   = ( word | '"' { any | '\"' | '\\' } '"' ) [ "*" ] | letters "~" [ "1" | "2" ] .
//
// A word ends at a space, a quote, a parenthesis or a star. Letters and digits alone may have a tilde, and the distance of words like them, behind them. The operators are in upper case; quotes make words of them.
type Query struct{ root *node }

// node is a part of a query.
type node struct {
	op       op
	text     string // of a term, or a regular expression
	distance int    // of words like the term
	fold     bool   // the regular expression ignores case
	args     []*node
}

type op int

const (
	opTerm   op = iota // the text, with words that begin and end where it does
	opPrefix           // the same, except that its last word may go on
	opFuzzy            // a word like the text
	opRegexp
	opAnd
	opOr
	opNot
)

// Error is a mistake in a query.
type Error struct {
	Text    string
	Pos     int // byte of Text, or -1 for the whole
	Message string
}

func (e *Error) Error() string {
	if e.Pos < 0 {
		return "query: " + e.Message
	}
	return fmt.Sprintf("query: %s, at character %d", e.Message, 1+utf8.RuneCountInString(e.Text[:e.Pos]))
}

// New is the query for words, or for matches of a regular expression.
func New(text string, isRegexp, ignoreCase bool) (*Query, error) {
	if isRegexp {
		return Regexp(text, ignoreCase)
	}
	return Parse(text)
}

// Regexp is the query for matches of a regular expression, in the syntax of package regexp.
func Regexp(text string, ignoreCase bool) (*Query, error) {
	if _, err := pattern.Regexp(text, ignoreCase); err != nil {
		return nil, &Error{Text: text, Pos: -1, Message: err.Error()}
	}
	return &Query{&node{op: opRegexp, text: text, fold: ignoreCase}}, nil
}

// Condition is the query about a row: each of its terms may be in any of the columns at paths. A null has no words.
func (q *Query) Condition(paths []string) filter.Expr { return q.root.condition(paths, false) }

// condition of a node is never unknown where it is negated, so that a null in one column does not hide a row.
func (n *node) condition(paths []string, negate bool) filter.Expr {
	if n.op == opNot {
		return n.args[0].condition(paths, !negate)
	}
	var parts []filter.Expr
	for _, arg := range n.args {
		parts = append(parts, arg.condition(paths, negate))
	}
	if n.args == nil { // it may be in any column
		for _, path := range paths {
			part := n.leaf(filter.Col(path))
			if negate {
				part = filter.Or(filter.IsNull(filter.Col(path)), filter.Not(part))
			}
			parts = append(parts, part)
		}
	}
	if (n.op == opAnd) != negate {
		return filter.And(parts...)
	}
	return filter.Or(parts...)
}

// leaf is the condition of a term on one column.
func (n *node) leaf(column filter.Expr) filter.Expr {
	switch {
	case n.op == opTerm:
		return filter.Has(column, n.text)
	case n.op == opPrefix:
		return filter.HasPrefix(column, n.text)
	case n.op == opFuzzy:
		return filter.HasFuzzy(column, n.text, n.distance)
	case n.fold:
		return filter.MatchesFold(column, n.text)
	}
	return filter.Matches(column, n.text)
}

// TextColumns are the paths of the columns that are searched by default: "line", or all columns of strings.
func TextColumns(s *arrow.Schema) (columns []string) {
	columns = StringColumns(s)
	if slices.Contains(columns, "line") {
		return []string{"line"}
	}
	return columns
}

// StringColumns are the paths of all columns of strings, and of "line".
func StringColumns(s *arrow.Schema) (columns []string) {
	for i, name := range arrowmap.UniqueNames(s.Fields()) {
		dt := kinds.Unwrapped(s.Field(i).Type)
		isText := kinds.IsText(dt) || dt.ID() == arrow.BINARY && name == "line"
		if isText {
			columns = append(columns, schema.Escape(name))
		}
	}
	return columns
}

// TimeColumn is the path of the first column of times or dates, or "".
func TimeColumn(s *arrow.Schema) string {
	for i, name := range arrowmap.UniqueNames(s.Fields()) {
		switch s.Field(i).Type.ID() {
		case arrow.TIMESTAMP, arrow.DATE32, arrow.DATE64:
			return schema.Escape(name)
		}
	}
	return ""
}

// Span is a range of bytes of a line.
type Span struct{ From, To int }

// Highlighter finds the texts in a line that a query asks for. It is used by one goroutine at a time.
type Highlighter struct {
	terms []highlightTerm
	words []highlightWords
	found analysis.Terms
}

type highlightTerm struct {
	expression    *regexp.Regexp
	bounded, open bool // the match begins and ends where words do; its end may be anywhere
}

// highlightWords are words of a query as a tokenizer finds them.
type highlightWords struct {
	tokenizer analysis.Tokenizer
	are       []func(term []byte) bool
}

// Highlighter returns the highlighter of the terms that are not negated, and of words that tokenizers make the same as theirs.
func (q *Query) Highlighter(tokenizers ...analysis.Tokenizer) *Highlighter {
	h := &Highlighter{}
	h.add(q.root, false)
	for _, z := range append(tokenizers, analysis.Word) {
		words := highlightWords{tokenizer: z}
		for _, w := range q.Words(z) {
			if z.Rewrites() || w.Distance > 0 {
				words.are = append(words.are, w.Matcher())
			}
		}
		if words.are != nil {
			h.words = append(h.words, words)
		}
	}
	return h
}

// appendWords appends the words of a line that are those of the query for a tokenizer. Of a run of characters whose pairs are words, these are looked at.
func (h *Highlighter) appendWords(all []Span, line []byte, words highlightWords) []Span {
	is := func(from, to int) bool {
		h.found.Find(words.tokenizer, line[from:to])
		for term := range h.found.All {
			if len(h.found.Spans) == 1 && slices.ContainsFunc(words.are, func(is func([]byte) bool) bool { return is(analysis.AppendUpper(nil, term)) }) {
				return true
			}
		}
		return false
	}
	for _, s := range analysis.AppendWords(nil, line) {
		from, end := int(s.From), int(s.To)
		if is(from, end) {
			all = append(all, Span{from, end})
		}
		for several := len(h.found.Spans) > 1; several && from < end; {
			_, first := utf8.DecodeRune(line[from:end])
			_, second := utf8.DecodeRune(line[from+first : end])
			if is(from, from+first+second) {
				all = append(all, Span{from, from + first + second})
			}
			from += first
		}
	}
	return all
}

func (h *Highlighter) add(n *node, negate bool) {
	for _, arg := range n.args {
		h.add(arg, negate != (n.op == opNot))
	}
	if len(n.args) > 0 || negate {
		return
	}
	t := highlightTerm{bounded: n.op != opRegexp, open: n.op == opPrefix}
	expression := n.text
	if t.bounded {
		expression = regexp.QuoteMeta(n.text)
	}
	if t.bounded || n.fold {
		expression = "(?i:" + expression + ")"
	}
	var err error
	if t.expression, err = regexp.Compile(expression); err == nil { // without a color, the line is right still
		h.terms = append(h.terms, t)
	}
}

// Spans returns the texts in the line, in order, without overlaps.
func (h *Highlighter) Spans(line []byte) []Span {
	var all []Span
	for _, t := range h.terms {
		for at := 0; at <= len(line); {
			m := t.expression.FindIndex(line[at:])
			if m == nil {
				break
			}
			s := Span{at + m[0], at + m[1]}
			at = s.From + 1
			if s.From < s.To && (!t.bounded || !analysis.InsideWord(line, s.From) && (t.open || !analysis.InsideWord(line, s.To))) {
				all = append(all, s)
				at = s.To
			}
		}
	}
	for _, words := range h.words {
		all = h.appendWords(all, line, words)
	}
	slices.SortFunc(all, func(a, b Span) int { return a.From - b.From })
	merged := all[:0]
	for _, s := range all {
		if last := len(merged) - 1; last >= 0 && s.From <= merged[last].To {
			merged[last].To = max(merged[last].To, s.To)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}
