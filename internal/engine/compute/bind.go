package compute

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

// binder binds expressions to a schema.
type binder struct {
	schema  *arrow.Schema
	columns []predicate.Column
}

// bind binds an expression. A literal has no type yet; see typed.
func (b *binder) bind(n *ast.Node) *expr.Expr {
	switch n.Op {
	case ast.OpColumn:
		return b.column(n)
	case ast.OpLiteral:
		return literal(n)
	case ast.OpAdd, ast.OpSub, ast.OpMul, ast.OpDiv, ast.OpIntDiv, ast.OpMod:
		return b.arithmetic(n)
	case ast.OpNeg:
		return b.negative(n)
	case ast.OpCast:
		return b.castTo(n)
	case ast.OpIndex:
		return b.index(n)
	case ast.OpCase:
		return b.cases(n, n.Args)
	case ast.OpCall:
		return b.call(n)
	case ast.OpEq, ast.OpNe, ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe:
		if n.Args[0].Op != ast.OpLiteral && n.Args[1].Op != ast.OpLiteral {
			return b.compare(n)
		}
	case ast.OpContains:
		x := b.bind(n.Args[0])
		if x.Err != nil {
			return x
		}
		if isList(x.Type) {
			return b.contains(n, x)
		}
	}
	return b.condition(n)
}

// literal is a literal without a type.
func literal(n *ast.Node) *expr.Expr {
	return &expr.Expr{Node: n, Lit: n, Type: arrow.Null, Constant: true, Column: -1, Strict: true}
}

// null is a null in place of an expression.
func null(n *ast.Node) *expr.Expr {
	return &expr.Expr{Node: n, Lit: &ast.Node{Op: ast.OpLiteral}, Type: arrow.Null, Constant: true, Column: -1}
}

// column binds a column. Its arrays become plain. A value within JSON texts is a text.
func (b *binder) column(n *ast.Node) *expr.Expr {
	c, err := predicate.Resolve(n, b.schema)
	if err != nil {
		return expr.Mistake(err)
	}
	at := b.input(c)
	x := &expr.Expr{Node: n, Column: at, Strict: true, Type: plainType(c.Type)}
	if c.Inside != nil {
		x.Type = arrow.BinaryTypes.LargeString
	}
	read := x.Type
	if c.Inside == nil && len(c.Index) == 1 {
		x.Type = plainType(arrowutil.RecordedType(b.schema.Field(c.Index[0])))
	}
	eval := func(e *expr.Env) (arrow.Array, error) {
		plain, err := arrowutil.Plain(e.Mem, e.Columns[at])
		if err != nil {
			return nil, fmt.Errorf("filter: %s: %w", n.Path, err)
		}
		if got := plain.DataType(); !arrow.TypeEqual(got, read) && !(kinds.IsText(got) && kinds.IsText(read)) || plain.Len() != e.Rows {
			plain.Release()
			return nil, fmt.Errorf("filter: %s has %d values of type %s instead of %d of type %s", n.Path, plain.Len(), got, e.Rows, read)
		}
		return plain, nil
	}
	x.Eval = eval
	if !arrow.TypeEqual(x.Type, read) {
		x = expr.Narrowing(n, x.Type, nil, eval)
		x.Column, x.Constant = at, false
	}
	if _, name := extension.Unwrap(c.Type); name == extension.NameBool8 {
		truths := eachRow(n, x, booleans, func(arr arrow.Array, b array.Builder) (func(i int) error, error) {
			return func(i int) error {
				b.(*array.BooleanBuilder).Append(arr.(*array.Int8).Value(i) != 0)
				return nil
			}, nil
		})
		truths.Column = at
		return truths
	}
	return x
}

// input is the index of a column of the schema among those of the expression.
func (b *binder) input(c predicate.Column) int {
	if i := slices.IndexFunc(b.columns, c.Same); i >= 0 {
		return i
	}
	b.columns = append(b.columns, c)
	return len(b.columns) - 1
}

// plainType is the type of arrays that arrowutil.Plain makes.
func plainType(dt arrow.DataType) arrow.DataType {
	plain := kinds.Unwrapped(dt)
	if t, ok := plain.(*arrow.ListViewType); ok {
		return arrow.LargeListOfField(t.ElemField())
	}
	return arrowutil.WithoutView(plain)
}

// arguments binds the arguments of a call. The error is that of the first with a mistake.
func (b *binder) arguments(n *ast.Node) (args []*expr.Expr, err error) {
	for _, a := range n.Args {
		x := b.bind(a)
		args, err = append(args, x), cmp.Or(err, x.Err)
	}
	return args, err
}

// literalType is the type of a literal whose context wants none.
func literalType(l ast.Literal) arrow.DataType {
	switch l.Kind {
	case ast.LitBool:
		return arrow.FixedWidthTypes.Boolean
	case ast.LitString:
		return arrow.BinaryTypes.String
	case ast.LitBytes:
		return arrow.BinaryTypes.Binary
	case ast.LitNumber:
		return numberType(l)
	}
	return arrow.Null
}

// numberType is the type of a number: an integer, a decimal with the digits behind the point, or a float with an exponent.
func numberType(l ast.Literal) arrow.DataType {
	digits := strings.TrimLeft(l.Text, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if strings.ContainsAny(digits, "eE") || len(strings.TrimLeft(whole, "0"))+len(fraction) > 38 {
		return arrow.PrimitiveTypes.Float64
	}
	r := l.Rat()
	switch {
	case point:
		return &arrow.Decimal128Type{Precision: int32(max(len(strings.TrimLeft(whole, "0"))+len(fraction), 1)), Scale: int32(len(fraction))}
	case r.Num().IsInt64():
		return arrow.PrimitiveTypes.Int64
	case r.Num().IsUint64():
		return arrow.PrimitiveTypes.Uint64
	}
	return &arrow.Decimal128Type{Precision: 38}
}

// typed gives a literal a type; other expressions stay as they are.
func typed(x *expr.Expr, dt arrow.DataType) *expr.Expr {
	if x.Lit == nil {
		return x
	}
	one, err := constant(x.Lit.Lit, dt)
	if err != nil {
		return x.Refuse("%s", err)
	}
	return &expr.Expr{Node: x.Node, Type: dt, Constant: true, Column: -1, Strict: x.Lit.Lit.Kind != ast.LitNull, Eval: func(*expr.Env) (arrow.Array, error) {
		one.Retain()
		return one, nil
	}}
}

// natural gives a literal the type that it has without a context.
func natural(x *expr.Expr) *expr.Expr {
	if x.Lit == nil {
		return x
	}
	return typed(x, literalType(x.Lit.Lit))
}

// constant is an array of the value of a literal.
func constant(l ast.Literal, dt arrow.DataType) (arrow.Array, error) {
	mem := memory.DefaultAllocator
	if !castable(dt) && !hasBytes(dt) && !isNull(dt) {
		return nil, fmt.Errorf("%s is no value of type %s", l.Describe(), text.Type(dt))
	}
	builder := array.NewBuilder(mem, dt)
	defer builder.Release()
	if l.Kind == ast.LitNull {
		builder.AppendNull()
		return builder.NewArray(), nil
	}
	switch l.Kind {
	case ast.LitBad:
		return nil, fmt.Errorf("%s", l.Text)
	case ast.LitBytes:
		if a, ok := builder.(*array.BinaryBuilder); ok {
			a.Append([]byte(l.Text))
			return builder.NewArray(), nil
		}
	default:
		if kinds.IsText(dt) != (l.Kind == ast.LitString) && (kinds.IsText(dt) || l.Kind == ast.LitString && isNumber(dt)) {
			break
		}
		set, err := values.NewSetter(builder, text.Lenient)
		if err == nil {
			err = set([]byte(l.Text))
		}
		if err == nil {
			return builder.NewArray(), nil
		}
	}
	return nil, fmt.Errorf("%s is no value of type %s", l.Describe(), text.Type(dt))
}

// condition binds a condition as a boolean: true, false or null.
func (b *binder) condition(n *ast.Node) *expr.Expr {
	yes, no, err := bothWays(n, b.schema)
	if err != nil {
		return expr.Mistake(err)
	}
	of := func(p *predicate.Bound) []int {
		at := make([]int, p.NumColumns())
		for i := range at {
			at[i] = b.input(*p.Column(i))
		}
		return at
	}
	yesAt, noAt := of(yes), of(no)
	isTrue := func(e *expr.Env) ([]byte, error) { return bitsOf(e, yes, yesAt) }
	return &expr.Expr{Node: n, Type: booleans, Column: -1, True: isTrue, Eval: func(e *expr.Env) (arrow.Array, error) {
		isTrue, err := isTrue(e)
		if err != nil {
			return nil, err
		}
		isFalse, err := bitsOf(e, no, noAt)
		if err != nil {
			return nil, err
		}
		return truths(e, isTrue, isFalse), nil
	}}
}

// bothWays binds a condition, and its negation.
func bothWays(n *ast.Node, s *arrow.Schema) (yes, no *predicate.Bound, err error) {
	if yes, err = predicate.BindWith(n, s, false, bindValue); err == nil {
		no, err = predicate.BindWith(n, s, true, bindValue)
	}
	return yes, no, err
}

// bitsOf are the rows for which a condition is true.
func bitsOf(e *expr.Env, p *predicate.Bound, at []int) ([]byte, error) {
	columns := make([]arrow.Array, len(at))
	for i, k := range at {
		columns[i] = e.Columns[k]
	}
	return p.EvalOnly(columns, e.Rows, e.Only)
}

// truths is an array of booleans that are true or false where a bit is set, and null elsewhere.
func truths(e *expr.Env, isTrue, isFalse []byte) arrow.Array {
	n := (e.Rows + 7) / 8
	data, valid := arrowutil.NewBuffer(e.Mem, n), arrowutil.NewBuffer(e.Mem, n)
	copy(data.Bytes(), isTrue)
	for i := range n {
		valid.Bytes()[i] = isTrue[i] | isFalse[i]
	}
	nulls := bitmap.Bits{Data: valid.Bytes(), Len: e.Rows}.Nulls()
	return arrowutil.Make(arrow.FixedWidthTypes.Boolean, e.Rows, []*memory.Buffer{valid, data}, nil, nulls)
}
