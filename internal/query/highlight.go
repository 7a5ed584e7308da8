package query

import (
	"regexp"
	"slices"

	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Span is a range of bytes of a line.
type Span struct{ From, To int }

// Highlighter finds the texts in a line that a query asks for.
type Highlighter struct{ terms []highlightTerm }

type highlightTerm struct {
	expression    *regexp.Regexp
	bounded, open bool // the match begins and ends where words do; its end may be anywhere
}

// Highlighter returns the highlighter of the terms that are not negated.
func (q *Query) Highlighter() *Highlighter {
	h := &Highlighter{}
	h.add(q.root, false)
	return h
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
