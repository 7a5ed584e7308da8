package compute

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/numbers"
	"github.com/amudai/amudai-go/internal/text"
)

// call binds a function.
func (b *binder) call(n *ast.Node) *expr.Expr {
	if err := n.CheckCall(); err != nil {
		return expr.Mistake(err)
	}
	switch n.Name {
	case "any", "all":
		return b.quantified(n)
	case "count", "sum", "avg", "min", "max":
		return b.reduce(n)
	case "if":
		return b.cases(n, n.Args)
	case "length", "len": // see IsLength
		return b.length(n)
	}
	args, err := b.arguments(n)
	if err != nil {
		return expr.Mistake(err)
	}
	x := args[0]
	switch n.Name {
	case "coalesce":
		return coalesce(n, args)
	case "concat":
		return concat(n, args)
	case "date":
		return dateOf(n, x)
	case "date_trunc":
		return truncate(n, x, args[1])
	case "hour", "minute", "second":
		return clockPart(n, x)
	case "epoch":
		return epoch(n, x)
	case "lower", "upper":
		return changeCase(n, x)
	case "regexp_replace":
		return regexpReplace(n, args)
	case "substr", "substring":
		return b.substr(n, args)
	case "abs", "round", "floor", "ceil":
		return b.rounding(n, args)
	}
	return datePart(n, x)
}

// cases binds case and if: pairs of a condition and a value, and maybe a value otherwise.
func (b *binder) cases(n *ast.Node, args []*ast.Node) *expr.Expr {
	var when, then []*expr.Expr
	for ; len(args) > 1; args = args[2:] {
		c := typed(b.bind(args[0]), booleans)
		if c.Err == nil && c.Type.ID() != arrow.BOOL {
			c = expr.Mistake(expr.Fail(args[0], "%s is of type %s: a condition is true or false", ast.Shorten(args[0].String()), text.Type(c.Type)))
		}
		if c.Err != nil {
			return c
		}
		v := b.bind(args[1])
		if v.Err != nil {
			return v
		}
		when, then = append(when, c), append(then, v)
	}
	other := null(n)
	if len(args) == 1 {
		other = b.bind(args[0])
	}
	then, dt, err := alike(n, append(then, other))
	if err != nil {
		return expr.Mistake(err)
	}
	out := expr.Narrowing(n, dt, append(then, when...), func(e *expr.Env) (arrow.Array, error) {
		pick := expr.NewChoice(e, dt)
		defer pick.Release()
		left := bitmap.All(e.Rows)
		for i, c := range when {
			taken, err := e.Among(left).Truth(c)
			if err != nil {
				return nil, err
			}
			if _, err := pick.Add(taken, then[i]); err != nil {
				return nil, err
			}
			left = expr.Without(left, taken)
		}
		if _, err := pick.Add(left, then[len(when)]); err != nil {
			return nil, err
		}
		return pick.Result()
	})
	out.Strict = false
	return out
}

// coalesce binds the first value that is not null.
func coalesce(n *ast.Node, args []*expr.Expr) *expr.Expr {
	args, dt, err := alike(n, args)
	if err != nil {
		return expr.Mistake(err)
	}
	out := expr.Narrowing(n, dt, args, func(e *expr.Env) (arrow.Array, error) {
		pick := expr.NewChoice(e, dt)
		defer pick.Release()
		left := bitmap.All(e.Rows)
		for _, a := range args {
			valid, err := pick.Add(left, a)
			if err != nil {
				return nil, err
			}
			left = expr.Without(left, valid)
		}
		return pick.Result()
	})
	out.Strict = false
	return out
}

// alike gives values a common type: that of numbers, or the same type.
func alike(n *ast.Node, args []*expr.Expr) ([]*expr.Expr, arrow.DataType, error) {
	dt := arrow.DataType(arrow.Null)
	mixed := false
	for _, a := range args { // literals other than numbers adapt
		next := a.Type
		switch {
		case a.Err != nil:
			return nil, nil, a.Err
		case a.Lit != nil:
			continue
		}
		switch {
		case isNull(dt), arrow.TypeEqual(dt, next):
			dt = next
		case isNull(next):
		case isNumber(dt) && isNumber(next):
			dt, mixed = common(dt, next), true
		case kinds.IsText(dt) && kinds.IsText(next):
			dt = utf8s
		default:
			return nil, nil, expr.Fail(a.Node, "%s is of type %s, and a value before it of type %s", a.Name(), text.Type(next), text.Type(dt))
		}
	}
	for _, a := range args {
		if a.Lit == nil || a.Lit.Lit.Kind == ast.LitNull {
			continue
		}
		own := literalType(a.Lit.Lit)
		switch {
		case isNull(dt):
			dt = own
		case isNumber(dt) && isNumber(own):
			dt, mixed = common(dt, own), true
		case kinds.IsText(dt):
			dt = utf8s
		}
	}
	if !castable(dt) && !hasBytes(dt) && !isNull(dt) {
		return nil, nil, expr.Fail(n, "values of type %s are not chosen from", text.Type(dt))
	}
	if mixed {
		dt = plainNumber(dt)
	} else if kinds.IsText(dt) {
		dt = utf8s
	}
	for i, a := range args {
		switch {
		case a.Lit != nil:
			args[i] = typed(a, dt)
		case isNull(a.Type):
			args[i] = typed(null(a.Node), dt)
		case mixed && dt.ID() == arrow.DECIMAL128:
			precision, scale := decimalOf(dt)
			args[i] = coefficients(a, precision, scale)
		case mixed:
			args[i] = widened(a, dt)
		case kinds.IsText(dt):
			args[i] = plainText(a)
		}
		if args[i].Err != nil {
			return nil, nil, args[i].Err
		}
	}
	return args, dt, nil
}

// plainText gives strings of any layout 32-bit offsets.
func plainText(x *expr.Expr) *expr.Expr {
	return texts(x.Node, []*expr.Expr{x}, func(arrays []arrow.Array) func([]byte, int) []byte {
		at := arrowutil.BytesOf(arrays[0])
		return func(dst []byte, row int) []byte { return append(dst, at(row)...) }
	})
}

// rounding binds abs, round, floor and ceil. Integers stay as they are, decimals get no digits behind the point.
func (b *binder) rounding(n *ast.Node, args []*expr.Expr) *expr.Expr {
	x := b.number(n, args[0], int64s)
	digits := int64(0)
	if len(args) > 1 && x.Err == nil {
		lit := args[1].Lit
		if lit == nil || lit.Lit.Kind != ast.LitNumber || !lit.Lit.Whole() || !lit.Lit.Rat().Num().IsInt64() {
			return args[1].Refuse("expected a number of digits, found %s", args[1].Name())
		}
		digits = max(min(lit.Lit.Rat().Num().Int64(), 400), -400)
	}
	switch {
	case x.Err != nil:
		return x
	case isFloat(x.Type):
		return roundFloats(n, toFloats(n, x), digits)
	case isDecimal(x.Type):
		return roundDecimals(n, x, digits)
	}
	x = widened(x, plainNumber(x.Type))
	switch {
	case n.Name == "abs" && isSigned(x.Type):
		return expr.Checked(n, x, int64s, func(v int64) (int64, bool) { return max(v, -v), v != math.MinInt64 },
			func(v int64) string { return "abs(-9223372036854775808) is out of the range of an int64" })
	case n.Name != "round" || digits >= 0:
		return expr.Unary(n, x, x.Type, func(dst, a []int64) { copy(dst, a) })
	}
	rounded := expr.Checked(n, widened(x, decimalType(38, 0)), decimalType(38, 0), func(v int128) (int128, bool) { return numbers.RoundAt(v, -digits) },
		func(v int128) string { return "" })
	return castNumber(n, rounded, x.Type)
}

func roundFloats(n *ast.Node, x *expr.Expr, digits int64) *expr.Expr {
	one := numbers.Roundings[n.Name]
	if n.Name == "round" && digits != 0 {
		one = func(v float64) float64 { return numbers.RoundFloat(v, int(digits)) }
	}
	return expr.Unary(n, x, float64s, func(dst, a []float64) {
		for i, v := range a {
			dst[i] = one(v)
		}
	})
}

// roundDecimals rounds away from zero for round. floor and ceil round down and up.
func roundDecimals(n *ast.Node, x *expr.Expr, digits int64) *expr.Expr {
	precision, scale := decimalOf(x.Type)
	wide := toDecimals(n, x, decimalType(precision, scale))
	if n.Name == "abs" {
		return expr.Unary(n, wide, wide.Type, func(dst, a []int128) {
			for i, v := range a {
				dst[i] = v.Abs()
			}
		})
	}
	keep := int32(max(min(digits, int64(scale)), 0)) // digits behind the point
	if scale <= 0 && digits >= int64(scale) || n.Name == "round" && digits >= int64(scale) {
		return expr.Unary(n, wide, wide.Type, func(dst, a []int128) { copy(dst, a) })
	}
	dt := decimalType(max(precision-scale+keep+1, 1), keep)
	return expr.Checked(n, wide, dt, func(v int128) (int128, bool) {
		if n.Name == "round" && digits < 0 {
			r, _ := numbers.Rescale(v, int32(max(digits, -39))-scale)
			return numbers.Rescale(r, int32(min(-digits, 39)))
		}
		if n.Name == "round" {
			return numbers.Rescale(v, keep-scale)
		}
		return numbers.Whole(v, scale, n.Name == "ceil"), true
	}, func(v int128) string { return outOfRange(v.ToString(scale), text.Type(dt)) })
}
