package compute

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/numbers"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

type anyNumber interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// convert converts numbers that the other type holds, or floats.
func convert[S, D anyNumber](n *ast.Node, x *expr.Expr, dt arrow.DataType) *expr.Expr {
	return expr.Unary(n, x, dt, func(dst []D, a []S) {
		for i, v := range a {
			dst[i] = D(v)
		}
	})
}

// fromIntegers converts integers to int64, uint64 or float64; nil for other numbers.
func fromIntegers[D anyNumber](n *ast.Node, x *expr.Expr, dt arrow.DataType) *expr.Expr {
	switch x.Type.ID() {
	case arrow.INT8:
		return convert[int8, D](n, x, dt)
	case arrow.INT16:
		return convert[int16, D](n, x, dt)
	case arrow.INT32:
		return convert[int32, D](n, x, dt)
	case arrow.INT64:
		return convert[int64, D](n, x, dt)
	case arrow.UINT8:
		return convert[uint8, D](n, x, dt)
	case arrow.UINT16:
		return convert[uint16, D](n, x, dt)
	case arrow.UINT32:
		return convert[uint32, D](n, x, dt)
	case arrow.UINT64:
		return convert[uint64, D](n, x, dt)
	}
	return nil
}

// widened converts numbers to int64, uint64, float64 or decimal128, as package compute works with them. Values that do not fit are
// errors.
func widened(x *expr.Expr, dt arrow.DataType) *expr.Expr {
	if arrow.TypeEqual(x.Type, dt) {
		return x
	}
	var out *expr.Expr
	switch {
	case dt.ID() == arrow.INT64:
		out = fromIntegers[int64](x.Node, x, dt)
	case dt.ID() == arrow.UINT64:
		out = fromIntegers[uint64](x.Node, x, dt)
	case dt.ID() == arrow.FLOAT64:
		out = toFloats(x.Node, x)
	case dt.ID() == arrow.DECIMAL128:
		out = toDecimals(x.Node, x, dt)
	}
	if out == nil {
		return x.Refuse("%s is of type %s, which does not become %s", x.Name(), text.Type(x.Type), text.Type(dt))
	}
	return out
}

// toFloats converts numbers to float64.
func toFloats(n *ast.Node, x *expr.Expr) *expr.Expr {
	switch x.Type.ID() {
	case arrow.FLOAT16:
		return expr.Unary(n, x, float64s, func(dst []float64, a []float16.Num) {
			for i, v := range a {
				dst[i] = float64(v.Float32())
			}
		})
	case arrow.FLOAT32:
		return convert[float32, float64](n, x, float64s)
	case arrow.FLOAT64:
		return x
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256:
		_, scale := decimalOf(x.Type)
		return expr.Unary(n, coefficients(x, 38, scale), float64s, func(dst []float64, a []int128) {
			for i, v := range a {
				dst[i] = numbers.ToFloat(v, scale)
			}
		})
	}
	return fromIntegers[float64](n, x, float64s)
}

// toDecimals converts integers and decimals to decimals of 128 bits.
func toDecimals(n *ast.Node, x *expr.Expr, dt arrow.DataType) *expr.Expr {
	precision, scale := decimalOf(dt)
	_, from := decimalOf(x.Type)
	by, most := scale-from, numbers.Limit(precision)
	one := func(v int128) (int128, bool) {
		r, ok := numbers.Rescale(v, by)
		return r, ok && numbers.Within(r, most)
	}
	why := func(v int128) string { return outOfRange(v.ToString(from), text.Type(dt)) }
	switch x.Type.ID() {
	case arrow.DECIMAL128:
		return expr.Checked(n, x, dt, one, why)
	case arrow.DECIMAL256:
		return expr.Checked(n, x, dt, func(v decimal256.Num) (int128, bool) {
			w := v.Array()
			if sign := uint64(int64(w[1]) >> 63); w[2] != sign || w[3] != sign {
				return int128{}, false
			}
			return one(decimal128.New(int64(w[1]), w[0]))
		}, func(v decimal256.Num) string { return outOfRange(v.ToString(from), text.Type(dt)) })
	case arrow.UINT64:
		return expr.Checked(n, x, dt, func(v uint64) (int128, bool) { return one(decimal128.FromU64(v)) }, func(v uint64) string { return why(decimal128.FromU64(v)) })
	case arrow.DECIMAL32:
		x = convert[int32, int64](n, x, int64s)
	case arrow.DECIMAL64: // stored as int64
	default:
		if x = fromIntegers[int64](n, x, int64s); x == nil {
			return nil
		}
	}
	return expr.Checked(n, x, dt, func(v int64) (int128, bool) { return one(decimal128.FromI64(v)) }, func(v int64) string { return why(decimal128.FromI64(v)) })
}

// castTo binds x::type.
func (b *binder) castTo(n *ast.Node) *expr.Expr {
	dt, err := text.ParseType(n.Name)
	if err != nil {
		return expr.Mistake(expr.Fail(n, "%s", err))
	}
	x := b.bind(n.Args[0])
	if x.Lit != nil {
		if out := typed(x, dt); out.Err == nil {
			return out
		}
	}
	if x = natural(x); isNull(x.Type) && x.Err == nil {
		return typed(null(n), dt)
	}
	return cast(n, x, dt)
}

// cast converts values of any types with a text form.
func cast(n *ast.Node, x *expr.Expr, dt arrow.DataType) *expr.Expr {
	if x.Err != nil {
		return x
	}
	if plain, name := extension.Unwrap(dt); name != "" || !arrow.TypeEqual(plain, dt) {
		return expr.Mistake(expr.Fail(n, "nothing is cast to %s", text.Type(dt)))
	}
	switch {
	case arrow.TypeEqual(x.Type, dt):
		out := *x
		out.Node, out.Column = n, -1
		return &out
	case isNumber(x.Type) && isNumber(dt):
		return castNumber(n, x, dt)
	case x.Type.ID() == arrow.BOOL && isNumber(dt):
		return castNumber(n, castBool(n, x), dt)
	case isInstant(x.Type) && isInstant(dt):
		return castInstant(n, x, dt)
	}
	if !castable(x.Type) || !castable(dt) || isInstant(x.Type) && isNumber(dt) || isNumber(x.Type) && isInstant(dt) {
		return expr.Mistake(expr.Fail(n, "%s is of type %s, which is not cast to %s", x.Name(), text.Type(x.Type), text.Type(dt)))
	}
	return castText(n, x, dt)
}

// castable reports whether values of a type have a text form.
func castable(dt arrow.DataType) bool {
	switch {
	case isNumber(dt), kinds.IsText(dt), isInstant(dt), dt.ID() == arrow.BOOL, dt.ID() == arrow.TIME32, dt.ID() == arrow.TIME64, dt.ID() == arrow.DURATION:
		return true
	}
	return false
}

// eachRow computes a value of each row that is not null: begin returns a function that appends it.
func eachRow(n *ast.Node, x *expr.Expr, dt arrow.DataType, begin func(arr arrow.Array, b array.Builder) (func(i int) error, error)) *expr.Expr {
	return expr.Function(n, dt, []*expr.Expr{x}, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		b := array.NewBuilder(e.Mem, dt)
		defer b.Release()
		b.Reserve(in[0].Len())
		one, err := begin(in[0], b)
		for i := 0; i < in[0].Len() && err == nil; i++ {
			if in[0].IsNull(i) {
				b.AppendNull()
			} else if err = one(i); err != nil && !e.Only.At(i) {
				b.AppendNull()
				err = nil
			}
		}
		if err != nil {
			return nil, expr.Fail(n, "%s", err)
		}
		return b.NewArray(), nil
	})
}

// castBool makes 0 and 1 of booleans.
func castBool(n *ast.Node, x *expr.Expr) *expr.Expr {
	return eachRow(n, x, int64s, func(arr arrow.Array, b array.Builder) (func(i int) error, error) {
		return func(i int) error {
			b.(*array.Int64Builder).Append(int64(bitmap.Bit(arr.(*array.Boolean).Value(i))))
			return nil
		}, nil
	})
}

// castText converts values by their text.
func castText(n *ast.Node, x *expr.Expr, dt arrow.DataType) *expr.Expr {
	return eachRow(n, x, dt, func(arr arrow.Array, b array.Builder) (func(i int) error, error) {
		var buf []byte
		write := values.Text(arr)
		set, err := values.NewSetter(b, text.Lenient)
		return func(i int) error {
			buf = write(buf[:0], i)
			return set(buf)
		}, err
	})
}

// castNumber converts numbers. Floats are rounded to the nearest integer, of two to the even one; decimals away from zero.
func castNumber(n *ast.Node, x *expr.Expr, dt arrow.DataType) *expr.Expr {
	switch {
	case isDecimal(dt):
		return castToDecimal(n, x, dt)
	case dt.ID() == arrow.FLOAT64:
		return toFloats(n, x)
	case dt.ID() == arrow.FLOAT32:
		return convert[float64, float32](n, toFloats(n, x), dt)
	case dt.ID() == arrow.FLOAT16:
		return expr.Unary(n, toFloats(n, x), dt, func(dst []float16.Num, a []float64) {
			for i, v := range a {
				dst[i] = float16.New(float32(v))
			}
		})
	}
	switch dt.ID() {
	case arrow.INT8:
		return toInteger[int8](n, x, dt, math.MinInt8, math.MaxInt8)
	case arrow.INT16:
		return toInteger[int16](n, x, dt, math.MinInt16, math.MaxInt16)
	case arrow.INT32:
		return toInteger[int32](n, x, dt, math.MinInt32, math.MaxInt32)
	case arrow.INT64:
		return toInteger[int64](n, x, dt, math.MinInt64, math.MaxInt64)
	case arrow.UINT8:
		return toInteger[uint8](n, x, dt, 0, math.MaxUint8)
	case arrow.UINT16:
		return toInteger[uint16](n, x, dt, 0, math.MaxUint16)
	case arrow.UINT32:
		return toInteger[uint32](n, x, dt, 0, math.MaxUint32)
	}
	return toInteger[uint64](n, x, dt, 0, math.MaxUint64)
}

// toInteger converts numbers to integers from lo to hi.
func toInteger[D int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](n *ast.Node, x *expr.Expr, dt arrow.DataType, lo int64, hi uint64) *expr.Expr {
	name := text.Type(dt)
	switch {
	case isFloat(x.Type):
		return expr.Checked(n, toFloats(n, x), dt, func(v float64) (D, bool) {
			r := math.RoundToEven(v)
			ok := r >= float64(lo) && r < float64(hi)+1
			if float64(hi) >= 1<<63 {
				ok = r >= float64(lo) && r < float64(hi) // the float above the greatest integer
			}
			if !ok {
				return 0, false
			}
			return D(r), true
		}, func(v float64) string { return outOfRange(fmt.Sprint(v), name) })
	case isDecimal(x.Type):
		_, scale := decimalOf(x.Type)
		least, most := decimal128.FromI64(lo), decimal128.FromU64(hi)
		wide := toDecimals(n, x, decimalType(38, scale))
		return expr.Checked(n, wide, dt, func(v int128) (D, bool) {
			r, ok := numbers.Rescale(v, -scale)
			return D(r.LowBits()), ok && r.Cmp(least) >= 0 && r.Cmp(most) <= 0
		}, func(v int128) string { return outOfRange(v.ToString(scale), name) })
	case isUnsigned(x.Type):
		return expr.Checked(n, fromIntegers[uint64](n, x, uint64s), dt, func(v uint64) (D, bool) { return D(v), v <= hi },
			func(v uint64) string { return outOfRange(fmt.Sprint(v), name) })
	}
	return expr.Checked(n, fromIntegers[int64](n, x, int64s), dt, func(v int64) (D, bool) { return D(v), v >= lo && (v < 0 || uint64(v) <= hi) },
		func(v int64) string { return outOfRange(fmt.Sprint(v), name) })
}

func castToDecimal(n *ast.Node, x *expr.Expr, dt arrow.DataType) *expr.Expr {
	if dt.ID() != arrow.DECIMAL128 {
		return castText(n, x, dt)
	}
	precision, scale := decimalOf(dt)
	if !isFloat(x.Type) {
		return toDecimals(n, x, dt)
	}
	most := numbers.Limit(precision)
	return expr.Checked(n, toFloats(n, x), dt, func(v float64) (int128, bool) { return numbers.FromFloat(v, scale, most) },
		func(v float64) string { return outOfRange(fmt.Sprint(v), text.Type(dt)) })
}
