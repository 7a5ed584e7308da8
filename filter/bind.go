package filter

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// Limits of [Parse].
const (
	MaxText  = ast.MaxText  // bytes
	MaxDepth = ast.MaxDepth // nested parentheses and nots
)

// Error says which part of an expression is wrong, and where that is.
type Error = ast.Error

// Parse reads an expression as text; the package documentation has the grammar.
// Text of nothing but blanks is the empty condition. The error is an [*Error].
func Parse(text string) (Expr, error) {
	n, err := ast.Parse(text)
	return Expr{n}, err
}

// Bound is an expression that was checked against a schema. It never changes, and
// may be used by many goroutines.
type Bound struct{ p *predicate.Bound }

// Bind checks an expression against a schema and converts its literals to the
// types of the columns that they are compared with. The error is an [*Error].
func Bind(e Expr, s *arrow.Schema) (*Bound, error) {
	p, err := predicate.Bind(e.n, s)
	if err != nil {
		return nil, err
	}
	return &Bound{p}, nil
}

// Columns are the paths of all columns that decide the condition: a projection
// needs no others.
func (b *Bound) Columns() []string { return b.p.Columns() }

// Select evaluates the condition on a batch of the schema. Bit i of the result, least
// significant bit first as in Arrow, tells whether row i is known to meet it. The
// result has a length that is a multiple of eight bytes, and belongs to the caller.
func (b *Bound) Select(batch arrow.RecordBatch) ([]byte, error) {
	return b.p.Bits(batch)
}
