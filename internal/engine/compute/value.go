// Package compute gives value expressions a meaning: year(date), price * 2. It binds them to a schema ([Bind]) and
// evaluates them on record batches ([Value.Eval]).
package compute

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// Value is a value expression bound to a schema. It does not change and may be used by many goroutines.
type Value struct {
	column predicate.Column
}

// Bind checks an expression against a schema. The error is an [*ast.Error] with the position of the mistake.
func Bind(n *ast.Node, s *arrow.Schema) (*Value, error) {
	c, err := predicate.Resolve(n, s)
	if err != nil {
		return nil, err
	}
	return &Value{c}, nil
}

// Type is the type of the values.
func (v *Value) Type() arrow.DataType { return v.column.Type }

// Column reports whether the expression is just a column, and its path.
func (v *Value) Column() (path string, ok bool) { return v.column.Path, true }

// Columns are the paths of the columns that the expression needs, each once: those of a projection for it.
func (v *Value) Columns() []string { return []string{v.column.Path} }

// Eval returns the values of the expression for the rows of a batch with the schema given to [Bind]. A plain column
// comes back as it is, dictionaries and runs included. The caller releases the array.
func (v *Value) Eval(mem memory.Allocator, batch arrow.RecordBatch) (arrow.Array, error) {
	return v.column.Of(batch)
}
