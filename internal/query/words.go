package query

import (
	"slices"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Words are the words of the terms that are not negated, as a tokenizer finds them, each once. Regular expressions have none.
func (q *Query) Words(t analysis.Tokenizer) (words []ranking.Word) {
	q.root.words(t, false, &words)
	return words
}

// AllWords are the words of all terms, each once.
func (q *Query) AllWords(t analysis.Tokenizer) (words []ranking.Word) {
	for _, term := range q.Terms() {
		term.n.appendWords(t, &words)
	}
	return words
}

func (n *node) words(t analysis.Tokenizer, negate bool, out *[]ranking.Word) {
	for _, arg := range n.args {
		arg.words(t, negate != (n.op == opNot), out)
	}
	if !negate {
		n.appendWords(t, out)
	}
}

// appendWords appends the words of a term that are not there yet. What begins words, or is like them, is not a word that has a stem.
func (n *node) appendWords(t analysis.Tokenizer, out *[]ranking.Word) {
	if n.op > opFuzzy {
		return
	}
	if n.op != opTerm {
		t = t.Unstemmed()
	}
	var found analysis.Terms
	found.Find(t, []byte(n.text))
	for _, s := range found.Spans {
		term := analysis.AppendUpper(nil, found.Text[s.From:s.To])
		w := ranking.Word{
			Text:   string(term),
			Prefix: n.op == opPrefix && int(s.To) == len(found.Text),
			Inside: n.op == opTerm && t.Rewrites() && analysis.IsPaired(term),
		}
		if len(found.Spans) == 1 { // pairs of characters are looked for as they are
			w.Distance = n.distance
		}
		if !slices.Contains(*out, w) {
			*out = append(*out, w)
		}
	}
}

// AnyWord reports whether a row matches if and only if it has one of the words, whatever the tokenizer.
func (q *Query) AnyWord() bool { return q.root.anyWord() }

func (n *node) anyWord() bool {
	if n.op == opOr {
		return !slices.ContainsFunc(n.args, func(arg *node) bool { return !arg.anyWord() })
	}
	t := Term{n}
	return t.IsWord() && len(t.Words(analysis.Folded)) == 1
}

// Term is a word or a phrase of a query, or its regular expression.
type Term struct{ n *node }

// Terms are those of the query, in their order.
func (q *Query) Terms() (all []Term) {
	q.root.terms(&all)
	return all
}

func (n *node) terms(all *[]Term) {
	if n.args == nil {
		*all = append(*all, Term{n})
	}
	for _, arg := range n.args {
		arg.terms(all)
	}
}

// IsWord reports whether the term is a single word, its beginning or like it, which tokenizers find.
func (t Term) IsWord() bool {
	return t.n.op <= opFuzzy && analysis.IsWord([]byte(t.n.text))
}

// Words are what a tokenizer finds in the term, all of which a row has that has the term.
func (t Term) Words(z analysis.Tokenizer) (words []ranking.Word) {
	t.n.appendWords(z, &words)
	return words
}

// Condition is the term about a row, as [Query.Condition].
func (t Term) Condition(paths []string) filter.Expr { return t.n.condition(paths, false) }

// Rows are those of all rows that match, given those that have each of the terms.
func (q *Query) Rows(all rowset.Set, terms []rowset.Set) rowset.Set { return q.root.rows(all, &terms) }

func (n *node) rows(all rowset.Set, terms *[]rowset.Set) rowset.Set {
	if n.args == nil {
		rows := (*terms)[0]
		*terms = (*terms)[1:]
		return rows
	}
	rows := n.args[0].rows(all, terms)
	for _, arg := range n.args[1:] {
		if more := arg.rows(all, terms); n.op == opAnd {
			rows = rows.And(more)
		} else {
			rows = rows.Or(more)
		}
	}
	if n.op == opNot {
		rows = all.Minus(rows)
	}
	return rows
}
