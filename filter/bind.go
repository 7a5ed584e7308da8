package filter

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// Limits of [Parse].
const (
	MaxText  = ast.MaxText  // bytes of text
	MaxDepth = ast.MaxDepth // levels of nested parentheses and nots
)

// Error is a mistake in an expression, with its position in the text.
//
//	type Error struct {
//		Text    string // text given to Parse, or "" for an expression built in Go
//		Pos     int    // byte offset in Text, or -1 if it is not known
//		Message string // the mistake, and often its correction
//	}
type Error = ast.Error

// Parse parses the text of an expression; the package documentation has the grammar. Blank text is
// the empty condition, which every row meets. The error is an [*Error].
func Parse(text string) (Expr, error) {
	n, err := ast.Parse(text)
	return Expr{n}, err
}

// Bound is an expression that was checked against a schema. It is immutable, and may be used by many
// goroutines at once.
type Bound struct{ p *predicate.Bound }

// Bind checks an expression against a schema, and converts each literal to the type of the column
// that it is compared with. The error is an [*Error]: an unknown column, or a literal that does not
// suit its column.
func Bind(e Expr, s *arrow.Schema) (*Bound, error) {
	p, err := compute.Condition(e.n, s)
	if err != nil {
		return nil, err
	}
	return &Bound{p}, nil
}

// Columns are the paths of the columns that decide the condition, each once. Evaluation needs no
// others.
func (b *Bound) Columns() []string { return b.p.Columns() }

// Select evaluates the condition on a batch with the schema that was given to Bind. Bit i of the
// result, least significant bit first as in Arrow, is set if the condition is true for row i. The
// length of the result is a multiple of eight bytes. The result belongs to the caller, and refers to
// no memory of the batch.
func (b *Bound) Select(batch arrow.RecordBatch) ([]byte, error) {
	return b.p.Bits(batch)
}
