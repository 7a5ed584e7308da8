// Package sortkeys has the values that rows are sorted by: parsed, bound to a schema, and evaluated on batches.
package sortkeys

import (
	"errors"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/order"
)

// Key is a value to sort by.
type Key struct {
	Node       *ast.Node
	Descending bool
}

// Parse parses value expressions separated by commas, each perhaps behind a minus, which makes its order descending.
func Parse(text string) ([]Key, error) {
	var keys []Key
	for _, part := range Split(text) {
		value, descending := strings.CutPrefix(strings.TrimSpace(part), "-")
		nodes, err := ast.ParseValues(value)
		if err == nil && len(nodes) != 1 {
			err = errors.New("a value is missing")
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, Key{nodes[0], descending})
	}
	return keys, nil
}

// Split splits a text at commas that are not within quotes or brackets.
func Split(text string) (parts []string) {
	depth, begin := 0, 0
	quote := rune(0)
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"' || r == '`':
			quote = r
		case r == '(' || r == '[':
			depth++
		case r == ')' || r == ']':
			depth--
		case r == ',' && depth <= 0:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:])
}

// With adds the columns of keys to others. Nil means all columns. Names with a number, such as a#2, have a meaning only among all columns.
func With(columns []string, keys []Key) []string {
	if columns == nil {
		return nil
	}
	columns = slices.Clone(columns)
	for _, k := range keys {
		columns = append(columns, k.Node.Columns()...)
	}
	if slices.ContainsFunc(columns, func(path string) bool { return strings.Contains(path, "#") }) {
		return nil
	}
	return columns
}

// Bound are keys that are bound to a schema. They are used by one goroutine.
type Bound struct {
	Values []*compute.Value
	Keys   []order.Key
}

// Bind binds keys to a schema. It fails for values that have no order.
func Bind(keys []Key, s *arrow.Schema, nullsFirst bool) (*Bound, error) {
	b := &Bound{}
	for _, k := range keys {
		v, err := compute.Bind(k.Node, s)
		if err == nil {
			err = order.Check(v.Type())
		}
		if err != nil {
			return nil, err
		}
		b.Values = append(b.Values, v)
		b.Keys = append(b.Keys, order.Key{Type: v.Type(), Descending: k.Descending, NullsFirst: nullsFirst})
	}
	return b, nil
}

// Eval are the values of the rows of a batch, which the caller releases.
func (b *Bound) Eval(batch arrow.RecordBatch) ([]arrow.Array, error) {
	out := make([]arrow.Array, len(b.Values))
	for i, v := range b.Values {
		var err error
		if out[i], err = v.Eval(memory.DefaultAllocator, batch); err != nil {
			arrowutil.ReleaseAll(out)
			return nil, err
		}
	}
	return out, nil
}
