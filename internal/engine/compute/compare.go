package compute

import (
	"bytes"
	"cmp"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/calendar"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/numbers"
	"github.com/amudai/amudai-go/internal/text"
)

// compare binds a comparison of two expressions of which none is a literal. Numbers of all types are compared exactly, but decimals and
// floats as floats. NaN is not equal to, less than or greater than anything.
func (b *binder) compare(n *ast.Node) (*expr, error) {
	args, err := b.arguments(n)
	if err != nil {
		return nil, err
	}
	x, y := args[0], args[1]
	out := function(n, booleans, args, nil)
	if isNumber(x.dt) && isNumber(y.dt) {
		return b.compareNumbers(out, x, y)
	}
	order := orderOf(x.dt, y.dt)
	if order == nil {
		hint := ""
		if isInstant(x.dt) && isInstant(y.dt) {
			hint = ": cast one, so that both have a time zone or none"
		}
		return nil, fail(n, "%s is of type %s and %s of type %s: these are not compared%s", ast.Shorten(x.node.String()), text.Type(x.dt),
			ast.Shorten(y.node.String()), text.Type(y.dt), hint)
	}
	out.eval = func(e *env) (arrow.Array, error) {
		xs, ys, err := e.two(x, y)
		if err != nil {
			return nil, err
		}
		defer xs.Release()
		defer ys.Release()
		at := order(xs, ys)
		i, k := step(xs, e.rows), step(ys, e.rows)
		return e.booleans(xs, ys, func(row int, valid bool) bool { return valid && holds(n.Op, at(i*row, k*row)) }), nil
	}
	return out, nil
}

// step is how far the values of two rows are apart: those of a constant are the same.
func step(arr arrow.Array, rows int) int {
	if arr.Len() == 1 && rows != 1 {
		return 0
	}
	return 1
}

// two evaluates both operands.
func (e *env) two(x, y *expr) (xs, ys arrow.Array, err error) {
	if xs, err = e.array(x); err != nil {
		return nil, nil, err
	}
	if ys, err = e.array(y); err != nil {
		xs.Release()
		return nil, nil, err
	}
	return xs, ys, nil
}

// holds reports whether a comparison is true for an order; 2 stands for NaN.
func holds(o ast.Op, order int) bool {
	switch o {
	case ast.OpEq:
		return order == 0
	case ast.OpNe:
		return order != 0
	case ast.OpLt:
		return order == -1
	case ast.OpLe:
		return order == -1 || order == 0
	case ast.OpGt:
		return order == 1
	}
	return order == 1 || order == 0
}

// booleans is an array of a boolean for each row, null where one of the arrays is.
func (e *env) booleans(xs, ys arrow.Array, at func(row int, valid bool) bool) arrow.Array {
	valid, nulls := e.valid(xs, ys)
	out := arrowutil.NewZeroBuffer(e.mem, (e.rows+7)/8)
	for i := range e.rows {
		if at(i, valid == nil || valid.Bytes()[i>>3]>>(i&7)&1 != 0) {
			out.Bytes()[i>>3] |= 1 << (i & 7)
		}
	}
	return arrowutil.Make(booleans, e.rows, []*memory.Buffer{valid, out}, nil, nulls)
}

// compareNumbers compares numbers of any types.
func (b *binder) compareNumbers(out, x, y *expr) (_ *expr, err error) {
	o := out.node.Op
	switch dt := common(x.dt, y.dt); {
	case isFloat(dt) && isInteger(x.dt) && isFloat(y.dt):
		return b.compareFloat(out, x, y, func(order int) bool { return holds(o, order) })
	case isFloat(dt) && isInteger(y.dt) && isFloat(x.dt):
		return b.compareFloat(out, y, x, func(order int) bool {
			if order != 2 {
				order = -order
			}
			return holds(o, order)
		})
	case isDecimal(dt):
		return b.compareDecimals(out, x, y)
	default:
		if x, err = b.widened(x, dt); err != nil {
			return nil, err
		}
		if y, err = b.widened(y, dt); err != nil {
			return nil, err
		}
		switch dt {
		case int64s:
			out.eval = compared(x, y, o, cmp.Compare[int64])
		case uint64s:
			out.eval = compared(x, y, o, cmp.Compare[uint64])
		default:
			out.eval = compared(x, y, o, compareFloats[float64])
		}
		return out, nil
	}
}

func compareFloats[F float32 | float64](a, b F) int {
	if a != a || b != b {
		return 2
	}
	return cmp.Compare(a, b)
}

// compared evaluates a comparison of values that may be of two types.
func compared[T, U any](x, y *expr, o ast.Op, order func(T, U) int) func(e *env) (arrow.Array, error) {
	return func(e *env) (arrow.Array, error) {
		xs, ys, err := e.two(x, y)
		if err != nil {
			return nil, err
		}
		defer xs.Release()
		defer ys.Release()
		a, b := operand[T]{v: arrowutil.Values[T](xs)}, operand[U]{v: arrowutil.Values[U](ys)}
		a.spread(e.rows)
		b.spread(e.rows)
		return e.booleans(xs, ys, func(i int, _ bool) bool { return holds(o, order(a.at(i), b.at(i))) }), nil
	}
}

// compareFloat compares an integer with a float, exactly.
func (b *binder) compareFloat(out, x, y *expr, holds func(order int) bool) (*expr, error) {
	y = toFloats(y.node, y)
	truth := func(order int) int {
		if holds(order) {
			return 0
		}
		return 1
	}
	if x.dt.ID() == arrow.UINT64 {
		out.eval = compared(x, y, ast.OpEq, func(i uint64, f float64) int { return truth(numbers.CompareUint(i, f)) })
		return out, nil
	}
	x, err := b.widened(x, int64s)
	if err != nil {
		return nil, err
	}
	out.eval = compared(x, y, ast.OpEq, func(i int64, f float64) int { return truth(numbers.CompareMixed(i, f)) })
	return out, nil
}

// compareDecimals compares decimals of any scales.
func (b *binder) compareDecimals(out, x, y *expr) (*expr, error) {
	ap, as := decimalOf(x.dt)
	bp, bs := decimalOf(y.dt)
	x, y = toDecimals(x.node, x, decimalType(max(ap, 38), as)), toDecimals(y.node, y, decimalType(max(bp, 38), bs))
	out.eval = compared(x, y, out.node.Op, func(v, w int128) int {
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
	return out, nil
}

// orderOf compares the values of arrays of two types, nil if these are not compared.
func orderOf(x, y arrow.DataType) func(xs, ys arrow.Array) func(i, k int) int {
	switch {
	case hasBytes(x) && hasBytes(y) && isText(x) == isText(y):
		return func(xs, ys arrow.Array) func(i, k int) int {
			a, b := arrowutil.BytesOf(xs), arrowutil.BytesOf(ys)
			return func(i, k int) int { return bytes.Compare(a(i), b(k)) }
		}
	case x.ID() == arrow.BOOL && y.ID() == arrow.BOOL:
		return func(xs, ys arrow.Array) func(i, k int) int {
			a, b := xs.(*array.Boolean), ys.(*array.Boolean)
			return func(i, k int) int {
				switch p, q := a.Value(i), b.Value(k); {
				case p == q:
					return 0
				case q:
					return -1
				}
				return 1
			}
		}
	case isInstant(x) && isInstant(y) && (zoned(x) == "") == (zoned(y) == ""), isClock(x) && isClock(y), x.ID() == arrow.DURATION && y.ID() == arrow.DURATION:
		return func(xs, ys arrow.Array) func(i, k int) int {
			a, b := secondsOf(xs), secondsOf(ys)
			return func(i, k int) int {
				s, f := a(i)
				t, g := b(k)
				if s != t {
					return cmp.Compare(s, t)
				}
				return cmp.Compare(f, g)
			}
		}
	}
	return nil
}

// secondsOf gives times as seconds and nanoseconds.
func secondsOf(arr arrow.Array) func(i int) (seconds, nanos int64) {
	per := calendar.PerSecond(arr.DataType())
	split := func(v int64) (int64, int64) {
		if per == 0 {
			return v * calendar.DaySeconds, 0
		}
		s, rest := text.FloorDiv(v, per)
		return s, rest * (1e9 / per)
	}
	if arr.DataType().(arrow.FixedWidthDataType).BitWidth() == 32 {
		v := arrowutil.Values[int32](arr)
		return func(i int) (int64, int64) { return split(int64(v[i])) }
	}
	v := arrowutil.Values[int64](arr)
	return func(i int) (int64, int64) { return split(v[i]) }
}
