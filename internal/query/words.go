package query

import (
	"slices"

	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Words are the words of the terms that are not negated, as a tokenizer finds them, each once. Regular expressions have none.
func (q *Query) Words(t analysis.Tokenizer) (words []ranking.Word) {
	q.root.words(t, false, &words)
	return words
}

func (n *node) words(t analysis.Tokenizer, negate bool, out *[]ranking.Word) {
	for _, arg := range n.args {
		arg.words(t, negate != (n.op == opNot), out)
	}
	if negate || n.op != opTerm && n.op != opPrefix {
		return
	}
	for _, s := range t.AppendTerms(nil, []byte(n.text)) {
		w := ranking.Word{Text: string(analysis.AppendUpper(nil, []byte(n.text[s.From:s.To]))), Prefix: n.op == opPrefix && int(s.To) == len(n.text)}
		if !slices.Contains(*out, w) {
			*out = append(*out, w)
		}
	}
}

// AnyWord reports whether a row matches if and only if it has one of the words.
func (q *Query) AnyWord() bool { return q.root.anyWord() }

func (n *node) anyWord() bool {
	switch n.op {
	case opOr:
		return !slices.ContainsFunc(n.args, func(arg *node) bool { return !arg.anyWord() })
	case opTerm, opPrefix:
		words := analysis.AppendWords(nil, []byte(n.text))
		return len(words) == 1 && int(words[0].To-words[0].From) == len(n.text)
	}
	return false
}
