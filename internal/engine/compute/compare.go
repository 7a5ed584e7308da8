package compute

import (
	"cmp"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/calendar"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/numbers"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/text"
)

// compare binds a comparison of two expressions of which none is a literal. Numbers of all types are compared exactly, but decimals and
// floats as floats. NaN is not equal to, less than or greater than anything.
func (b *binder) compare(n *ast.Node) *expr.Expr {
	args, err := b.arguments(n)
	if err != nil {
		return expr.Mistake(err)
	}
	x, y := args[0], args[1]
	if isNumber(x.Type) && isNumber(y.Type) {
		return compareNumbers(n, x, y)
	}
	order := orderOf(x.Type, y.Type)
	if order == nil {
		hint := ""
		if isInstant(x.Type) && isInstant(y.Type) {
			hint = ": cast one, so that both have a time zone or none"
		}
		return expr.Mistake(expr.Fail(n, "%s is of type %s and %s of type %s: these are not compared%s", x.Name(), text.Type(x.Type), y.Name(), text.Type(y.Type), hint))
	}
	c := predicate.Comparisons[n.Op]
	return expr.OfRows(n, booleans, args, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		at := order(in[0], in[1])
		return eachTruth(e, in, func(row int, valid bool) bool { return valid && c.Holds(at(row)) }), nil
	})
}

// eachTruth is an array of a boolean for each row, null where one of the arrays is.
func eachTruth(e *expr.Env, in []arrow.Array, at func(row int, valid bool) bool) arrow.Array {
	valid, nulls := e.Valid(in...)
	out := arrowutil.NewZeroBuffer(e.Mem, (e.Rows+7)/8)
	for i := range e.Rows {
		if at(i, expr.IsSet(valid, i)) {
			out.Bytes()[i>>3] |= 1 << (i & 7)
		}
	}
	return arrowutil.Make(booleans, e.Rows, []*memory.Buffer{valid, out}, nil, nulls)
}

// compareNumbers compares numbers of any types.
func compareNumbers(n *ast.Node, x, y *expr.Expr) *expr.Expr {
	c := predicate.Comparisons[n.Op]
	switch dt := common(x.Type, y.Type); {
	case isFloat(dt) && isInteger(x.Type) && isFloat(y.Type):
		return compareFloat(n, x, y, c)
	case isFloat(dt) && isInteger(y.Type) && isFloat(x.Type):
		c[0], c[2] = c[2], c[0] // the operands change places
		return compareFloat(n, y, x, c)
	case isDecimal(dt):
		return compareDecimals(n, x, y)
	case dt == int64s:
		return compared(n, widened(x, dt), widened(y, dt), c, cmp.Compare[int64])
	case dt == uint64s:
		return compared(n, widened(x, dt), widened(y, dt), c, cmp.Compare[uint64])
	default:
		return compared(n, widened(x, dt), widened(y, dt), c, predicate.CompareFloats)
	}
}

// compared is a comparison of values that may be of two types.
func compared[T, U any](n *ast.Node, x, y *expr.Expr, c predicate.Comparison, order func(T, U) int) *expr.Expr {
	return expr.Function(n, booleans, []*expr.Expr{x, y}, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		a, b := expr.OperandOf[T](e, in[0]), expr.OperandOf[U](e, in[1])
		return eachTruth(e, in, func(i int, _ bool) bool { return c.Holds(order(a.At(i), b.At(i))) }), nil
	})
}

// compareFloat compares an integer with a float, exactly.
func compareFloat(n *ast.Node, x, y *expr.Expr, c predicate.Comparison) *expr.Expr {
	y = toFloats(y.Node, y)
	if x.Type.ID() == arrow.UINT64 {
		return compared(n, x, y, c, numbers.CompareUint)
	}
	return compared(n, widened(x, int64s), y, c, numbers.CompareMixed)
}

// compareDecimals compares decimals of any scales.
func compareDecimals(n *ast.Node, x, y *expr.Expr) *expr.Expr {
	_, as := decimalOf(x.Type)
	_, bs := decimalOf(y.Type)
	x, y = coefficients(x, 38, as), coefficients(y, 38, bs)
	return compared(n, x, y, predicate.Comparisons[n.Op], func(v, w int128) int {
		a, okA := numbers.Rescale(v, max(bs-as, 0))
		b, okB := numbers.Rescale(w, max(as-bs, 0))
		switch { // a number that does not fit is beyond the other
		case !okA:
			return v.Sign()
		case !okB:
			return -w.Sign()
		}
		return a.Cmp(b)
	})
}

// orderOf compares the values of arrays of two types, nil if these are not compared.
func orderOf(x, y arrow.DataType) func(xs, ys arrow.Array) func(i int) int {
	switch {
	case hasBytes(x) && hasBytes(y) && kinds.IsText(x) == kinds.IsText(y), x.ID() == arrow.BOOL && y.ID() == arrow.BOOL:
		return func(xs, ys arrow.Array) func(i int) int { return predicate.OrderOf(xs, ys, false) }
	case isInstant(x) && isInstant(y) && (zoned(x) == "") == (zoned(y) == ""), isClock(x) && isClock(y), x.ID() == arrow.DURATION && y.ID() == arrow.DURATION:
		return func(xs, ys arrow.Array) func(i int) int {
			a, b := secondsOf(xs), secondsOf(ys)
			return func(i int) int {
				s, f := a(i)
				t, g := b(i)
				return cmp.Or(cmp.Compare(s, t), cmp.Compare(f, g))
			}
		}
	}
	return nil
}

// secondsOf gives times as seconds and nanoseconds.
func secondsOf(arr arrow.Array) func(i int) (seconds, nanos int64) {
	per, at := calendar.PerSecond(arr.DataType()), arrowutil.Integers(arr)
	return func(i int) (int64, int64) {
		if per == 0 {
			return at(i) * calendar.DaySeconds, 0
		}
		s, rest := text.FloorDiv(at(i), per)
		return s, rest * (1e9 / per)
	}
}
