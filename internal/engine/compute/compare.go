package compute

import (
	"cmp"
	"fmt"

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
	seconds := isInstant(x.Type) && isInstant(y.Type) && (zoned(x.Type) == "") == (zoned(y.Type) == "") || isClock(x.Type) && isClock(y.Type) ||
		x.Type.ID() == arrow.DURATION && y.Type.ID() == arrow.DURATION
	switch {
	case seconds && (x.Type.ID() != y.Type.ID() || calendar.PerSecond(x.Type) != calendar.PerSecond(y.Type)):
		return compared(n, x, y, func(xs, ys arrow.Array) func(i int) int {
			a, b := secondsOf(xs), secondsOf(ys)
			return func(i int) int {
				s, f := a(i)
				t, g := b(i)
				return cmp.Or(cmp.Compare(s, t), cmp.Compare(f, g))
			}
		})
	case seconds, hasBytes(x.Type) && hasBytes(y.Type) && kinds.IsText(x.Type) == kinds.IsText(y.Type), x.Type.ID() == arrow.BOOL && y.Type.ID() == arrow.BOOL:
		return compareArrays(n, x, y)
	}
	hint := ""
	if isInstant(x.Type) && isInstant(y.Type) {
		hint = ": cast one, so that both have a time zone or none"
	}
	return expr.Mistake(expr.Fail(n, "%s is of type %s and %s of type %s: these are not compared%s", x.Name(), text.Type(x.Type), y.Name(), text.Type(y.Type), hint))
}

// compareArrays compares values of the same type.
func compareArrays(n *ast.Node, x, y *expr.Expr) *expr.Expr {
	return comparison(n, x, y, func(e *expr.Env, in []arrow.Array, dst []byte) bool {
		if in[0].DataType().ID() != in[1].DataType().ID() {
			expr.Widen(e, in, x.Type)
		}
		return predicate.Comparisons[n.Op].Arrays(in[0], in[1], false, dst)
	})
}

// compared compares values whose order a function tells.
func compared(n *ast.Node, x, y *expr.Expr, order func(x, y arrow.Array) func(i int) int) *expr.Expr {
	return comparison(n, x, y, func(e *expr.Env, in []arrow.Array, dst []byte) bool {
		expr.Widen(e, in, x.Type)
		predicate.Comparisons[n.Op].Each(dst, in[0].Len(), order(in[0], in[1]))
		return true
	})
}

// comparison is a boolean for each row, null where one of the arrays is.
func comparison(n *ast.Node, x, y *expr.Expr, eval func(e *expr.Env, in []arrow.Array, dst []byte) bool) *expr.Expr {
	return expr.OfNarrow(n, booleans, []*expr.Expr{x, y}, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		out := arrowutil.NewBuffer(e.Mem, predicate.BitmapLen(e.Rows))
		if !eval(e, in, out.Bytes()) {
			out.Release()
			return nil, fmt.Errorf("filter: arrays of types %s and %s are not compared", in[0].DataType(), in[1].DataType())
		}
		valid, nulls := e.Valid(in...)
		return arrowutil.Make(booleans, e.Rows, []*memory.Buffer{valid, out}, nil, nulls), nil
	})
}

// compareNumbers compares numbers of any types.
func compareNumbers(n *ast.Node, x, y *expr.Expr) *expr.Expr {
	switch dt := common(x.Type, y.Type); {
	case isFloat(dt) && isInteger(x.Type):
		return compareFloat(n, x, toFloats(y.Node, y), 1)
	case isFloat(dt) && isInteger(y.Type):
		return compareFloat(n, y, toFloats(x.Node, x), -1)
	case arrow.TypeEqual(x.Type, y.Type):
		return compareArrays(n, x, y)
	case isDecimal(dt):
		return compareDecimals(n, x, y)
	default:
		return compareArrays(n, widened(x, dt), widened(y, dt))
	}
}

// compareFloat compares an integer with a float, exactly. sign is -1 if the operands have changed places.
func compareFloat(n *ast.Node, x, y *expr.Expr, sign int) *expr.Expr {
	if x.Type.ID() == arrow.UINT64 {
		return compareMixed(n, x, y, sign, numbers.CompareUint)
	}
	return compareMixed(n, widened(x, int64s), y, sign, numbers.CompareMixed)
}

func compareMixed[T int64 | uint64](n *ast.Node, x, y *expr.Expr, sign int, order func(T, float64) int) *expr.Expr {
	return compared(n, x, y, func(xs, ys arrow.Array) func(i int) int {
		a, b := arrowutil.Values[T](xs), arrowutil.Values[float64](ys)
		return func(i int) int {
			if o := order(a[i], b[i]); o != predicate.Unordered {
				return sign * o
			}
			return predicate.Unordered
		}
	})
}

// compareDecimals compares decimals of any scales.
func compareDecimals(n *ast.Node, x, y *expr.Expr) *expr.Expr {
	_, as := decimalOf(x.Type)
	_, bs := decimalOf(y.Type)
	x, y = coefficients(x, 38, as), coefficients(y, 38, bs)
	if as == bs {
		return compareArrays(n, x, y)
	}
	return compared(n, x, y, func(xs, ys arrow.Array) func(i int) int {
		v, w := arrowutil.Values[int128](xs), arrowutil.Values[int128](ys)
		return func(i int) int {
			a, okA := numbers.Rescale(v[i], max(bs-as, 0))
			b, okB := numbers.Rescale(w[i], max(as-bs, 0))
			switch { // a number that does not fit is beyond the other
			case !okA:
				return v[i].Sign()
			case !okB:
				return -w[i].Sign()
			}
			return a.Cmp(b)
		}
	})
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
