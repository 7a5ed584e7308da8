package compute

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/calendar"
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
func isText(dt arrow.DataType) bool {
	return dt.ID() == arrow.STRING || dt.ID() == arrow.LARGE_STRING || dt.ID() == arrow.STRING_VIEW
}
func isNull(dt arrow.DataType) bool { return dt.ID() == arrow.NULL }

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

func decimalType(precision, scale int32) arrow.DataType {
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
func (b *binder) arithmetic(n *ast.Node) (*expr, error) {
	args, err := b.arguments(n)
	if err != nil {
		return nil, err
	}
	x, y := args[0], args[1]
	if out, err := b.moments(n, x, y); out != nil || err != nil {
		return out, err
	}
	for i, a := range []*expr{x, y} {
		if args[i], err = b.number(n, a, args[1-i].dt); err != nil {
			return nil, err
		}
	}
	return b.operate(n, args[0], args[1])
}

// operate computes with two numbers.
func (b *binder) operate(n *ast.Node, x, y *expr) (*expr, error) {
	dt, given := common(x.dt, y.dt), []*expr{x, y}
	var err error
	switch {
	case n.Op == ast.OpDiv:
		dt = float64s
	case n.Op == ast.OpIntDiv && !(isInteger(x.dt) && isInteger(y.dt)):
		return nil, fail(n, "// is for integers, not for %s and %s", text.Type(x.dt), text.Type(y.dt))
	case isDecimal(dt):
		return b.decimals(n, x, y, dt)
	}
	if x, err = b.widened(x, dt); err != nil {
		return nil, err
	}
	if y, err = b.widened(y, dt); err != nil {
		return nil, err
	}
	out := function(n, dt, []*expr{x, y}, nil)
	switch dt {
	case int64s:
		out.eval = func(e *env) (arrow.Array, error) {
			return binary(e, out, x, y, numbers.Int64Loops[n.Op], numbers.Int64Fails(n.Op))
		}
		linear(out, given[0], given[1])
	case uint64s:
		out.eval = func(e *env) (arrow.Array, error) {
			return binary(e, out, x, y, numbers.Uint64Loops[n.Op], numbers.Uint64Fails(n.Op))
		}
	default:
		out.eval = func(e *env) (arrow.Array, error) {
			return binary(e, out, x, y, numbers.Float64Loops[n.Op], func(x, y float64) string { return "" })
		}
	}
	return out, nil
}

// number checks that an operand is a number, and gives a literal a type. other is the type of the other operand.
func (b *binder) number(n *ast.Node, x *expr, other arrow.DataType) (*expr, error) {
	if x.lit != nil {
		switch {
		case x.lit.Lit.Kind == ast.LitNull && isNumber(other):
			return b.typed(x, plainNumber(other))
		case x.lit.Lit.Kind == ast.LitNull:
			return b.typed(x, int64s)
		case x.lit.Lit.Kind != ast.LitNumber:
			return nil, fail(x.node, "%s takes numbers, not %s", operator(n), x.lit.Lit.Describe())
		case other.ID() == arrow.UINT64 && x.lit.Lit.Rat().Sign() >= 0 && numberType(x.lit.Lit) == int64s:
			return b.typed(x, uint64s)
		}
		return b.natural(x)
	}
	if !isNumber(x.dt) {
		hint := ""
		if x.column >= 0 && b.columns[x.column].Inside != nil {
			hint = ": write " + x.node.String() + "::float64 for the number"
		}
		return nil, fail(x.node, "%s is of type %s, and %s takes numbers%s", ast.Shorten(x.node.String()), text.Type(x.dt), operator(n), hint)
	}
	return x, nil
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
func (b *binder) negative(n *ast.Node) (*expr, error) {
	x, err := b.bind(n.Args[0])
	if err == nil {
		x, err = b.number(n, x, int64s)
	}
	if err != nil {
		return nil, err
	}
	if isFloat(x.dt) { // 0 - 0.0 is not -0.0
		if x, err = b.widened(x, float64s); err != nil {
			return nil, err
		}
		return unary(n, x, float64s, func(dst, a []float64) {
			for i, v := range a {
				dst[i] = -v
			}
		}), nil
	}
	zero := &ast.Node{Op: ast.OpLiteral, Text: n.Text, Pos: n.Pos, Lit: ast.Literal{Kind: ast.LitNumber, Text: "0"}}
	none, err := b.typed(&expr{node: zero, lit: zero}, int64s)
	if err != nil {
		return nil, err
	}
	return b.operate(&ast.Node{Op: ast.OpSub, Text: n.Text, Pos: n.Pos, Args: []*ast.Node{zero, n.Args[0]}}, none, x)
}

// linear records that x ± constant and constant + x never fall as x rises.
func linear(out, x, y *expr) {
	n := out.node
	if n.Op == ast.OpAdd && x.constant && !y.constant {
		x, y = y, x
	}
	if !y.constant || x.constant || !isInteger(x.dt) || y.node.Op != ast.OpLiteral || y.node.Lit.Kind != ast.LitNumber {
		return
	}
	c := y.node.Lit.Rat().Num()
	one := big.NewInt(1)
	switch {
	case n.Op == ast.OpAdd:
		out.least = func(v *big.Int) *big.Int { return new(big.Int).Sub(v, c) }
	case n.Op == ast.OpSub:
		out.least = func(v *big.Int) *big.Int { return new(big.Int).Add(v, c) }
	case n.Op == ast.OpMul && c.Sign() > 0:
		out.least = func(v *big.Int) *big.Int { return calendar.CeilDiv(v, c) }
	case n.Op == ast.OpIntDiv && c.Sign() > 0:
		out.least = func(v *big.Int) *big.Int {
			least := new(big.Int).Mul(v, c)
			if v.Sign() <= 0 {
				least.Sub(least, c).Add(least, one)
			}
			return least
		}
	default:
		return
	}
	out.arg = x.node
}

// chunk is the number of values that a loop works on at a time.
const chunk = 1024

// binary evaluates a function of two values of the same type. fails says why it has no value, or "".
func binary[T comparable](e *env, of, x, y *expr, loop numbers.Loop[T], fails func(x, y T) string) (arrow.Array, error) {
	xs, err := e.array(x)
	if err != nil {
		return nil, err
	}
	defer xs.Release()
	ys, err := e.array(y)
	if err != nil {
		return nil, err
	}
	defer ys.Release()
	a, b := operand[T]{v: arrowutil.Values[T](xs)}, operand[T]{v: arrowutil.Values[T](ys)}
	a.spread(e.rows)
	b.spread(e.rows)
	var zero T
	out := arrowutil.NewBuffer(e.mem, e.rows*sizeOf[T]())
	dst := arrowutil.As[T](out.Bytes())
	valid, nulls := e.valid(xs, ys)
	ok := true
	for from := 0; from < e.rows; from += chunk {
		to := min(from+chunk, e.rows)
		ok = loop(dst[from:to], a.part(from, to), b.part(from, to)) && ok
	}
	if op := of.node.Op; op == ast.OpDiv || op == ast.OpIntDiv || op == ast.OpMod {
		valid, nulls = e.withoutZero(valid, nulls, func(i int) bool { return b.at(i) == zero }, &b.constant)
	}
	if !ok {
		for i := range e.rows {
			if why := fails(a.at(i), b.at(i)); why != "" && e.counts(valid, i) {
				arrowutil.Make(of.dt, e.rows, []*memory.Buffer{valid, out}, nil, nulls).Release()
				return nil, fail(of.node, "%s", why)
			}
		}
	}
	return arrowutil.Make(of.dt, e.rows, []*memory.Buffer{valid, out}, nil, nulls), nil
}

// withoutZero clears the validity of the rows that divide by zero.
func (e *env) withoutZero(valid *memory.Buffer, nulls int, isZero func(i int) bool, constant *bool) (*memory.Buffer, int) {
	if *constant && e.rows > 0 && !isZero(0) {
		return valid, nulls
	}
	for i := range e.rows {
		if !isZero(i) {
			continue
		}
		if valid == nil {
			valid = arrowutil.NewBuffer(e.mem, (e.rows+7)/8)
			for k := range valid.Bytes() {
				valid.Bytes()[k] = 0xff
			}
		}
		if b := &valid.Bytes()[i>>3]; *b>>(i&7)&1 != 0 {
			*b &^= 1 << (i & 7)
			nulls++
		}
	}
	return valid, nulls
}

func sizeOf[T any]() int { return len(arrowutil.Bytes(make([]T, 1))) }

// operand is the values of an operand, of which a constant has one.
type operand[T any] struct {
	v        []T
	constant bool
}

// spread repeats a constant to the length of a part.
func (o *operand[T]) spread(rows int) {
	if len(o.v) != 1 || rows == 1 {
		return
	}
	one := o.v[0]
	o.v, o.constant = make([]T, min(rows, chunk)), true
	for i := range o.v {
		o.v[i] = one
	}
}

func (o *operand[T]) part(from, to int) []T {
	if o.constant {
		return o.v[:to-from]
	}
	return o.v[from:to]
}

func (o *operand[T]) at(i int) T {
	if o.constant {
		return o.v[0]
	}
	return o.v[i]
}

// unary is a function of one value that always has a value.
func unary[T, R any](n *ast.Node, x *expr, dt arrow.DataType, loop func(dst []R, a []T)) *expr {
	return function(n, dt, []*expr{x}, func(e *env) (arrow.Array, error) {
		xs, err := e.array(x)
		if err != nil {
			return nil, err
		}
		defer xs.Release()
		out := arrowutil.NewBuffer(e.mem, e.rows*sizeOf[R]())
		if e.rows > 0 {
			loop(arrowutil.As[R](out.Bytes()), arrowutil.Values[T](xs))
		}
		valid, nulls := e.valid(xs)
		return arrowutil.Make(dt, e.rows, []*memory.Buffer{valid, out}, nil, nulls), nil
	})
}

// checked is unary for functions that fail for some values.
func checked[T, R any](n *ast.Node, x *expr, dt arrow.DataType, one func(v T) (R, bool), why func(v T) string) *expr {
	return function(n, dt, []*expr{x}, func(e *env) (arrow.Array, error) {
		xs, err := e.array(x)
		if err != nil {
			return nil, err
		}
		defer xs.Release()
		out := arrowutil.NewBuffer(e.mem, e.rows*sizeOf[R]())
		dst, a := arrowutil.As[R](out.Bytes()), arrowutil.Values[T](xs)
		valid, nulls := e.valid(xs)
		for i, v := range a {
			r, ok := one(v)
			if dst[i] = r; !ok && e.counts(valid, i) {
				arrowutil.Make(dt, e.rows, []*memory.Buffer{valid, out}, nil, nulls).Release()
				return nil, fail(n, "%s", why(v))
			}
		}
		return arrowutil.Make(dt, e.rows, []*memory.Buffer{valid, out}, nil, nulls), nil
	})
}
