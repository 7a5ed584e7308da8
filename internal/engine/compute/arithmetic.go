package compute

import (
	"cmp"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/calendar"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/numbers"
	"github.com/amudai/amudai-go/internal/text"
)

// Types of results.
var (
	int64s   = arrow.PrimitiveTypes.Int64
	uint64s  = arrow.PrimitiveTypes.Uint64
	float64s = arrow.PrimitiveTypes.Float64
	booleans = arrow.FixedWidthTypes.Boolean
	utf8s    = arrow.BinaryTypes.String
)

func isSigned(dt arrow.DataType) bool   { return arrow.IsSignedInteger(dt.ID()) }
func isUnsigned(dt arrow.DataType) bool { return arrow.IsUnsignedInteger(dt.ID()) }
func isInteger(dt arrow.DataType) bool  { return arrow.IsInteger(dt.ID()) }
func isFloat(dt arrow.DataType) bool    { return arrow.IsFloating(dt.ID()) }
func isDecimal(dt arrow.DataType) bool  { return arrow.IsDecimal(dt.ID()) }
func isNumber(dt arrow.DataType) bool   { return isInteger(dt) || isFloat(dt) || isDecimal(dt) }
func isNull(dt arrow.DataType) bool     { return dt.ID() == arrow.NULL }

// decimalOf is the type of decimals that holds all values of a type of integers or decimals.
func decimalOf(dt arrow.DataType) (precision, scale int32) {
	switch {
	case isDecimal(dt):
		d := dt.(arrow.DecimalType)
		return d.GetPrecision(), d.GetScale()
	case dt.ID() == arrow.UINT64:
		return 20, 0
	case dt.ID() == arrow.INT64:
		return 19, 0
	}
	return map[int]int32{8: 3, 16: 5, 32: 10}[dt.(arrow.FixedWidthDataType).BitWidth()], 0
}

func decimalType(precision, scale int32) *arrow.Decimal128Type {
	return &arrow.Decimal128Type{Precision: max(min(precision, 38), 1), Scale: scale}
}

// common is the type of numbers that two types of numbers are computed as.
func common(a, b arrow.DataType) arrow.DataType {
	switch {
	case isFloat(a) || isFloat(b):
		return float64s
	case isDecimal(a) || isDecimal(b) || isSigned(a) && b.ID() == arrow.UINT64 || isSigned(b) && a.ID() == arrow.UINT64:
		ap, as := decimalOf(a)
		bp, bs := decimalOf(b)
		scale := max(as, bs)
		return decimalType(max(ap-as, bp-bs)+scale, scale)
	case a.ID() == arrow.UINT64 || b.ID() == arrow.UINT64:
		return uint64s
	}
	return int64s
}

// arithmetic binds + - * / // %.
func (b *binder) arithmetic(n *ast.Node) *expr.Expr {
	args, err := b.arguments(n)
	if err != nil {
		return expr.Mistake(err)
	}
	x, y := args[0], args[1]
	if out := moments(n, x, y); out != nil {
		return out
	}
	x = b.number(n, x, y.Type)
	return operate(n, x, b.number(n, y, x.Type))
}

// operate computes with two numbers.
func operate(n *ast.Node, x, y *expr.Expr) *expr.Expr {
	if x.Err != nil || y.Err != nil {
		return expr.Mistake(cmp.Or(x.Err, y.Err))
	}
	dt, given := common(x.Type, y.Type), [2]*expr.Expr{x, y}
	switch {
	case n.Op == ast.OpDiv:
		dt = float64s
	case n.Op == ast.OpIntDiv && !(isInteger(x.Type) && isInteger(y.Type)):
		return expr.Mistake(expr.Fail(n, "// is for integers, not for %s and %s", text.Type(x.Type), text.Type(y.Type)))
	case isDecimal(dt):
		return decimals(n, x, y, dt)
	}
	x, y = widened(x, dt), widened(y, dt)
	switch dt {
	case int64s:
		return linear(expr.Binary(n, dt, x, y, numbers.Int64Loops[n.Op], numbers.Int64Fails(n.Op)), given[0], given[1])
	case uint64s:
		return expr.Binary(n, dt, x, y, numbers.Uint64Loops[n.Op], numbers.Uint64Fails(n.Op))
	}
	return expr.Binary(n, dt, x, y, numbers.Float64Loops[n.Op], func(x, y float64) string { return "" })
}

// number checks that an operand is a number, and gives a literal a type. other is the type of the other operand.
func (b *binder) number(n *ast.Node, x *expr.Expr, other arrow.DataType) *expr.Expr {
	if x.Lit != nil {
		switch {
		case x.Lit.Lit.Kind == ast.LitNull && isNumber(other):
			return typed(x, plainNumber(other))
		case x.Lit.Lit.Kind == ast.LitNull:
			return typed(x, int64s)
		case x.Lit.Lit.Kind != ast.LitNumber:
			return x.Refuse("%s takes numbers, not %s", operator(n), x.Lit.Lit.Describe())
		case other.ID() == arrow.UINT64 && x.Lit.Lit.Rat().Sign() >= 0 && numberType(x.Lit.Lit) == int64s:
			return typed(x, uint64s)
		}
		return natural(x)
	}
	if !isNumber(x.Type) {
		hint := ""
		if x.Column >= 0 && b.columns[x.Column].Inside != nil {
			hint = ": write " + x.Node.String() + "::float64 for the number"
		}
		return x.Refuse("%s is of type %s, and %s takes numbers%s", x.Name(), text.Type(x.Type), operator(n), hint)
	}
	return x
}

// plainNumber is the type that values of a type of numbers are computed as.
func plainNumber(dt arrow.DataType) arrow.DataType { return common(dt, dt) }

// operator is the name of an operation or function.
func operator(n *ast.Node) string {
	if n.Op == ast.OpCall {
		return n.Name
	}
	if n.Op == ast.OpNeg {
		return "-"
	}
	return ast.Words[n.Op]
}

// negative binds -x as 0 - x.
func (b *binder) negative(n *ast.Node) *expr.Expr {
	x := b.number(n, b.bind(n.Args[0]), int64s)
	if isFloat(x.Type) { // 0 - 0.0 is not -0.0
		return expr.Unary(n, widened(x, float64s), float64s, func(dst, a []float64) {
			for i, v := range a {
				dst[i] = -v
			}
		})
	}
	zero := &ast.Node{Op: ast.OpLiteral, Text: n.Text, Pos: n.Pos, Lit: ast.Literal{Kind: ast.LitNumber, Text: "0"}}
	return operate(&ast.Node{Op: ast.OpSub, Text: n.Text, Pos: n.Pos, Args: []*ast.Node{zero, n.Args[0]}}, typed(literal(zero), int64s), x)
}

// linear records that x ± constant and constant + x never fall as x rises.
func linear(out, x, y *expr.Expr) *expr.Expr {
	n := out.Node
	if out.Err != nil {
		return out
	}
	if n.Op == ast.OpAdd && x.Constant && !y.Constant {
		x, y = y, x
	}
	if !y.Constant || x.Constant || !isInteger(x.Type) || y.Node.Op != ast.OpLiteral || y.Node.Lit.Kind != ast.LitNumber {
		return out
	}
	c := y.Node.Lit.Rat().Num()
	one := big.NewInt(1)
	switch {
	case n.Op == ast.OpAdd:
		out.Least = func(v *big.Int) *big.Int { return new(big.Int).Sub(v, c) }
	case n.Op == ast.OpSub:
		out.Least = func(v *big.Int) *big.Int { return new(big.Int).Add(v, c) }
	case n.Op == ast.OpMul && c.Sign() > 0:
		out.Least = func(v *big.Int) *big.Int { return calendar.CeilDiv(v, c) }
	case n.Op == ast.OpIntDiv && c.Sign() > 0:
		out.Least = func(v *big.Int) *big.Int {
			least := new(big.Int).Mul(v, c)
			if v.Sign() <= 0 {
				least.Sub(least, c).Add(least, one)
			}
			return least
		}
	default:
		return out
	}
	out.Arg = x.Node
	return out
}
