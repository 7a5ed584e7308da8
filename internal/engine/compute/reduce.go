package compute

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/text"
)

// reduce binds count, sum, avg, min and max of a value that is computed of the elements of a list in each row. Nulls among them count as missing. It is null
// where there is no list, and all but count and sum where it has no elements.
func (b *binder) reduce(n *ast.Node) *expr.Expr {
	x, inner, err := b.within(n, n.Args[0])
	if err == nil && len(x.lists) == 0 {
		err = expr.Fail(n, "%s needs a list, and there is none in %s", n.Name, ast.Shorten(n.Args[0].String()))
	}
	if err != nil {
		return expr.Mistake(err)
	}
	in := &binder{schema: inner}
	value := natural(in.bind(n.Args[0]))
	dt := arrow.DataType(int64s)
	if n.Name != "count" {
		if value = in.number(n, value, int64s); value.Err == nil {
			dt = plainNumber(value.Type)
		}
		if isDecimal(dt) {
			return value.Refuse("%s takes integers or floats, and %s is of type %s: cast it", n.Name, value.Name(), text.Type(value.Type))
		}
		if n.Name == "avg" {
			dt = float64s
		}
		value = widened(value, dt)
	}
	if value.Err != nil {
		return value
	}
	for _, c := range in.columns {
		x.inputs = append(x.inputs, b.elementInput(x, c))
	}
	return &expr.Expr{Node: n, Type: dt, Column: -1, Eval: func(e *expr.Env) (arrow.Array, error) {
		f, err := x.open(e)
		if err != nil {
			return nil, err
		}
		defer f.release()
		values, err := (&expr.Env{Mem: e.Mem, Columns: f.inputs, Rows: f.only.Len, Only: f.only}).Full(value)
		if err != nil {
			return nil, err
		}
		defer values.Release()
		if out := f.Reduce(e.Mem, n.Name, dt, values, f.only); out != nil {
			return out, nil
		}
		return nil, expr.Fail(n, "%s of the elements of a row is out of the range of %s", n.Name, text.Type(dt))
	}}
}
