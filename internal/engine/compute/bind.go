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
func (b *binder) bind(n *ast.Node) *expr {
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
		if x.err != nil {
			return x
		}
		if isList(x.dt) {
			return b.contains(n, x)
		}
	}
	return b.condition(n)
}

// literal is a literal without a type.
func literal(n *ast.Node) *expr {
	return &expr{node: n, lit: n, dt: arrow.Null, constant: true, column: -1, strict: true}
}

// null is a null in place of an expression.
func null(n *ast.Node) *expr {
	return &expr{node: n, lit: &ast.Node{Op: ast.OpLiteral}, dt: arrow.Null, constant: true, column: -1}
}

// column binds a column. Its arrays become plain. A value within JSON texts is a text.
func (b *binder) column(n *ast.Node) *expr {
	c, err := predicate.Resolve(n, b.schema)
	if err != nil {
		return mistake(err)
	}
	at := b.input(c)
	x := &expr{node: n, column: at, strict: true, dt: plainType(c.Type)}
	if c.Inside != nil {
		x.dt = arrow.BinaryTypes.LargeString
	}
	x.eval = func(e *env) (arrow.Array, error) {
		plain, err := arrowutil.Plain(e.mem, e.columns[at])
		if err != nil {
			return nil, fmt.Errorf("filter: %s: %w", n.Path, err)
		}
		if got := plain.DataType(); !arrow.TypeEqual(got, x.dt) && !(isText(got) && isText(x.dt)) || plain.Len() != e.rows {
			plain.Release()
			return nil, fmt.Errorf("filter: %s has %d values of type %s instead of %d of type %s", n.Path, plain.Len(), got, e.rows, x.dt)
		}
		return plain, nil
	}
	if _, name := extension.Unwrap(c.Type); name == extension.NameBool8 {
		truths := eachRow(n, x, booleans, func(arr arrow.Array, b array.Builder) (func(i int) error, error) {
			return func(i int) error {
				b.(*array.BooleanBuilder).Append(arr.(*array.Int8).Value(i) != 0)
				return nil
			}, nil
		})
		truths.column = at
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
func (b *binder) arguments(n *ast.Node) (args []*expr, err error) {
	for _, a := range n.Args {
		x := b.bind(a)
		args, err = append(args, x), cmp.Or(err, x.err)
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
func typed(x *expr, dt arrow.DataType) *expr {
	if x.lit == nil {
		return x
	}
	one, err := constant(x.lit.Lit, dt)
	if err != nil {
		return x.refuse("%s", err)
	}
	return &expr{node: x.node, dt: dt, constant: true, column: -1, strict: x.lit.Lit.Kind != ast.LitNull, eval: func(*env) (arrow.Array, error) {
		one.Retain()
		return one, nil
	}}
}

// natural gives a literal the type that it has without a context.
func natural(x *expr) *expr {
	if x.lit == nil {
		return x
	}
	return typed(x, literalType(x.lit.Lit))
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
		if isText(dt) != (l.Kind == ast.LitString) && (isText(dt) || l.Kind == ast.LitString && isNumber(dt)) {
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
func (b *binder) condition(n *ast.Node) *expr {
	yes, no, err := bothWays(n, b.schema)
	if err != nil {
		return mistake(err)
	}
	of := func(p *predicate.Bound) []int {
		at := make([]int, p.NumColumns())
		for i := range at {
			at[i] = b.input(p.Column(i))
		}
		return at
	}
	yesAt, noAt := of(yes), of(no)
	return &expr{node: n, dt: booleans, column: -1, eval: func(e *env) (arrow.Array, error) {
		isTrue, err := e.bits(yes, yesAt)
		if err != nil {
			return nil, err
		}
		isFalse, err := e.bits(no, noAt)
		if err != nil {
			return nil, err
		}
		return e.truths(isTrue, isFalse), nil
	}}
}

// bothWays binds a condition, and its negation.
func bothWays(n *ast.Node, s *arrow.Schema) (yes, no *predicate.Bound, err error) {
	if yes, err = predicate.BindWith(n, s, false, bindValue); err == nil {
		no, err = predicate.BindWith(n, s, true, bindValue)
	}
	return yes, no, err
}

// bits are the rows for which a condition is true.
func (e *env) bits(p *predicate.Bound, at []int) ([]byte, error) {
	columns := make([]arrow.Array, len(at))
	for i, k := range at {
		columns[i] = e.columns[k]
	}
	return p.EvalOnly(columns, e.rows, e.only)
}

// truths is an array of booleans that are true or false where a bit is set, and null elsewhere.
func (e *env) truths(isTrue, isFalse []byte) arrow.Array {
	n := (e.rows + 7) / 8
	data, valid := arrowutil.NewBuffer(e.mem, n), arrowutil.NewBuffer(e.mem, n)
	copy(data.Bytes(), isTrue)
	for i := range n {
		valid.Bytes()[i] = isTrue[i] | isFalse[i]
	}
	nulls := bitmap.Bits{Data: valid.Bytes(), Len: e.rows}.Nulls()
	return arrowutil.Make(arrow.FixedWidthTypes.Boolean, e.rows, []*memory.Buffer{valid, data}, nil, nulls)
}
