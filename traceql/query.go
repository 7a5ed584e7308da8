package traceql

import (
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/lower"
)

// Query is a TraceQL query that was parsed and checked. It is immutable, and may be used by many goroutines at once.
type Query struct {
	tree       *lang.Query
	program    *eval.Program
	candidates *lower.Candidates
}

// Parse parses a query. The error is an [*Error] with a position.
func Parse(text string) (*Query, error) {
	tree, err := lang.Parse(text)
	if err != nil {
		return nil, err
	}
	return newQuery(tree), nil
}

func newQuery(tree *lang.Query) *Query {
	return &Query{tree, eval.NewProgram(tree), lower.Of(tree.Pipeline)}
}

// String is the query as text, which Parse turns into an equal one.
func (q *Query) String() string { return q.tree.String() }

// Error is a mistake in a query.
//
//	type Error struct {
//		Text    string // given to Parse
//		Pos     int    // byte offset in Text, or -1 if it is not known
//		Message string // the mistake, and often its correction
//	}
type Error = lang.Error
