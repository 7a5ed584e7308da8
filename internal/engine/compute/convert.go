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
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/numbers"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// convert converts numbers that the other type holds, or floats.
func convert[S, D number](n *ast.Node, x *expr, dt arrow.DataType) *expr {
	return unary(n, x, dt, func(dst []D, a []S) {
		for i, v := range a {
			dst[i] = D(v)
		}
	})
}

// fromIntegers converts integers to int64, uint64 or float64; nil for other numbers.
func fromIntegers[D number](n *ast.Node, x *expr, dt arrow.DataType) *expr {
	switch x.dt.ID() {
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
func (b *binder) widened(x *expr, dt arrow.DataType) (*expr, error) {
	if arrow.TypeEqual(x.dt, dt) {
		return x, nil
	}
	n := x.node
	var out *expr
	switch {
	case dt.ID() == arrow.INT64:
		out = fromIntegers[int64](n, x, dt)
	case dt.ID() == arrow.UINT64:
		out = fromIntegers[uint64](n, x, dt)
	case dt.ID() == arrow.FLOAT64:
		out = toFloats(n, x)
	case dt.ID() == arrow.DECIMAL128:
		out = toDecimals(n, x, dt)
	}
	if out == nil {
		return nil, fail(n, "%s is of type %s, which does not become %s", ast.Shorten(n.String()), text.Type(x.dt), text.Type(dt))
	}
	return out, nil
}

// toFloats converts numbers to float64.
func toFloats(n *ast.Node, x *expr) *expr {
	switch x.dt.ID() {
	case arrow.FLOAT16:
		return unary(n, x, float64s, func(dst []float64, a []float16.Num) {
			for i, v := range a {
				dst[i] = float64(v.Float32())
			}
		})
	case arrow.FLOAT32:
		return convert[float32, float64](n, x, float64s)
	case arrow.FLOAT64:
		return x
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256:
		precision, scale := decimalOf(x.dt)
		return unary(n, toDecimals(n, x, decimalType(max(precision, 38), scale)), float64s, func(dst []float64, a []int128) {
			for i, v := range a {
				dst[i] = numbers.ToFloat(v, scale)
			}
		})
	}
	return fromIntegers[float64](n, x, float64s)
}

// toDecimals converts integers and decimals to decimals of 128 bits.
func toDecimals(n *ast.Node, x *expr, dt arrow.DataType) *expr {
	precision, scale := decimalOf(dt)
	_, from := decimalOf(x.dt)
	by, most := scale-from, numbers.Limit(precision)
	one := func(v int128) (int128, bool) {
		r, ok := numbers.Rescale(v, by)
		return r, ok && numbers.Within(r, most)
	}
	why := func(v int128) string { return outOfRange(v.ToString(from), text.Type(dt)) }
	switch x.dt.ID() {
	case arrow.DECIMAL128:
		return checked(n, x, dt, one, why)
	case arrow.DECIMAL32:
		return checked(n, x, dt, func(v int32) (int128, bool) { return one(decimal128.FromI64(int64(v))) }, func(v int32) string { return why(decimal128.FromI64(int64(v))) })
	case arrow.DECIMAL64:
		return checked(n, x, dt, func(v int64) (int128, bool) { return one(decimal128.FromI64(v)) }, func(v int64) string { return why(decimal128.FromI64(v)) })
	case arrow.DECIMAL256:
		return checked(n, x, dt, func(v decimal256.Num) (int128, bool) {
			w := v.Array()
			if sign := uint64(int64(w[1]) >> 63); w[2] != sign || w[3] != sign {
				return int128{}, false
			}
			return one(decimal128.New(int64(w[1]), w[0]))
		}, func(v decimal256.Num) string { return outOfRange(v.ToString(from), text.Type(dt)) })
	case arrow.UINT64:
		return checked(n, x, dt, func(v uint64) (int128, bool) { return one(decimal128.FromU64(v)) }, func(v uint64) string { return why(decimal128.FromU64(v)) })
	}
	wide := fromIntegers[int64](n, x, int64s)
	if wide == nil {
		return nil
	}
	return checked(n, wide, dt, func(v int64) (int128, bool) { return one(decimal128.FromI64(v)) }, func(v int64) string { return why(decimal128.FromI64(v)) })
}

// castTo binds x::type.
func (b *binder) castTo(n *ast.Node) (*expr, error) {
	dt, err := text.ParseType(n.Name)
	if err != nil {
		return nil, fail(n, "%s", err)
	}
	x, err := b.bind(n.Args[0])
	if err != nil {
		return nil, err
	}
	if x.lit != nil {
		if out, err := b.typed(x, dt); err == nil {
			return out, nil
		}
	}
	if x, err = b.natural(x); err != nil {
		return nil, err
	}
	if isNull(x.dt) {
		return b.typed(&expr{node: n, lit: &ast.Node{Op: ast.OpLiteral}}, dt)
	}
	return b.cast(n, x, dt)
}

// cast converts values of any types with a text form.
func (b *binder) cast(n *ast.Node, x *expr, dt arrow.DataType) (*expr, error) {
	if plain, name := extension.Unwrap(dt); name != "" || !arrow.TypeEqual(plain, dt) {
		return nil, fail(n, "nothing is cast to %s", text.Type(dt))
	}
	switch {
	case arrow.TypeEqual(x.dt, dt):
		out := *x
		out.node, out.column = n, -1
		return &out, nil
	case isNumber(x.dt) && isNumber(dt):
		return b.castNumber(n, x, dt)
	case x.dt.ID() == arrow.BOOL && isNumber(dt):
		truth := function(n, int64s, []*expr{x}, func(e *env) (arrow.Array, error) { return e.eachRow(x, int64s, boolToInt) })
		return b.castNumber(n, truth, dt)
	case isInstant(x.dt) && isInstant(dt):
		return b.castInstant(n, x, dt)
	}
	if !castable(x.dt) || !castable(dt) || isInstant(x.dt) && isNumber(dt) || isNumber(x.dt) && isInstant(dt) {
		return nil, fail(n, "%s is of type %s, which is not cast to %s", ast.Shorten(x.node.String()), text.Type(x.dt), text.Type(dt))
	}
	return b.castText(n, x, dt), nil
}

// castable reports whether values of a type have a text form.
func castable(dt arrow.DataType) bool {
	switch {
	case isNumber(dt), isText(dt), isInstant(dt), dt.ID() == arrow.BOOL, dt.ID() == arrow.TIME32, dt.ID() == arrow.TIME64, dt.ID() == arrow.DURATION:
		return true
	}
	return false
}

// eachRow computes a value of each row that is not null.
func (e *env) eachRow(x *expr, dt arrow.DataType, one func(arr arrow.Array, i int, b array.Builder) error) (arrow.Array, error) {
	arr, err := e.array(x)
	if err != nil {
		return nil, err
	}
	defer arr.Release()
	b := array.NewBuilder(e.mem, dt)
	defer b.Release()
	b.Reserve(arr.Len())
	for i := range arr.Len() {
		if arr.IsNull(i) {
			b.AppendNull()
			continue
		}
		if err := one(arr, i, b); err != nil {
			if e.only.At(i) {
				return nil, err
			}
			b.AppendNull()
		}
	}
	return b.NewArray(), nil
}

func boolToInt(arr arrow.Array, i int, b array.Builder) error {
	v := int64(0)
	if arr.(*array.Boolean).Value(i) {
		v = 1
	}
	b.(*array.Int64Builder).Append(v)
	return nil
}

// castText converts values by their text.
func (b *binder) castText(n *ast.Node, x *expr, dt arrow.DataType) *expr {
	return function(n, dt, []*expr{x}, func(e *env) (arrow.Array, error) {
		var write values.Appender
		var set values.Setter
		var buf []byte
		return e.eachRow(x, dt, func(arr arrow.Array, i int, b array.Builder) (err error) {
			if write == nil {
				write = values.Text(arr)
				if set, err = values.NewSetter(b, text.Lenient); err != nil {
					return fail(n, "%s", err)
				}
			}
			buf = write(buf[:0], i)
			if err := set(buf); err != nil {
				return fail(n, "%s", err)
			}
			return nil
		})
	})
}

// castNumber converts numbers. Floats are rounded to the nearest integer, of two to the even one; decimals away from zero.
func (b *binder) castNumber(n *ast.Node, x *expr, dt arrow.DataType) (*expr, error) {
	switch {
	case isDecimal(dt):
		return b.castToDecimal(n, x, dt)
	case dt.ID() == arrow.FLOAT64:
		return toFloats(n, x), nil
	case dt.ID() == arrow.FLOAT32:
		return convert[float64, float32](n, toFloats(n, x), dt), nil
	case dt.ID() == arrow.FLOAT16:
		return unary(n, toFloats(n, x), dt, func(dst []float16.Num, a []float64) {
			for i, v := range a {
				dst[i] = float16.New(float32(v))
			}
		}), nil
	}
	switch dt.ID() {
	case arrow.INT8:
		return toInteger[int8](n, x, dt, math.MinInt8, math.MaxInt8), nil
	case arrow.INT16:
		return toInteger[int16](n, x, dt, math.MinInt16, math.MaxInt16), nil
	case arrow.INT32:
		return toInteger[int32](n, x, dt, math.MinInt32, math.MaxInt32), nil
	case arrow.INT64:
		return toInteger[int64](n, x, dt, math.MinInt64, math.MaxInt64), nil
	case arrow.UINT8:
		return toInteger[uint8](n, x, dt, 0, math.MaxUint8), nil
	case arrow.UINT16:
		return toInteger[uint16](n, x, dt, 0, math.MaxUint16), nil
	case arrow.UINT32:
		return toInteger[uint32](n, x, dt, 0, math.MaxUint32), nil
	}
	return toInteger[uint64](n, x, dt, 0, math.MaxUint64), nil
}

// toInteger converts numbers to integers from lo to hi.
func toInteger[D int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](n *ast.Node, x *expr, dt arrow.DataType, lo int64, hi uint64) *expr {
	name := text.Type(dt)
	switch {
	case isFloat(x.dt):
		return checked(n, toFloats(n, x), dt, func(v float64) (D, bool) {
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
	case isDecimal(x.dt):
		_, scale := decimalOf(x.dt)
		least, most := decimal128.FromI64(lo), decimal128.FromU64(hi)
		wide := toDecimals(n, x, decimalType(38, scale))
		return checked(n, wide, dt, func(v int128) (D, bool) {
			r, ok := numbers.Rescale(v, -scale)
			return D(r.LowBits()), ok && r.Cmp(least) >= 0 && r.Cmp(most) <= 0
		}, func(v int128) string { return outOfRange(v.ToString(scale), name) })
	case isUnsigned(x.dt):
		return checked(n, fromIntegers[uint64](n, x, uint64s), dt, func(v uint64) (D, bool) { return D(v), v <= hi },
			func(v uint64) string { return outOfRange(fmt.Sprint(v), name) })
	}
	return checked(n, fromIntegers[int64](n, x, int64s), dt, func(v int64) (D, bool) { return D(v), v >= lo && (v < 0 || uint64(v) <= hi) },
		func(v int64) string { return outOfRange(fmt.Sprint(v), name) })
}

func (b *binder) castToDecimal(n *ast.Node, x *expr, dt arrow.DataType) (*expr, error) {
	if dt.ID() != arrow.DECIMAL128 {
		return b.castText(n, x, dt), nil
	}
	precision, scale := decimalOf(dt)
	if !isFloat(x.dt) {
		return toDecimals(n, x, dt), nil
	}
	most := numbers.Limit(precision)
	return checked(n, toFloats(n, x), dt, func(v float64) (int128, bool) { return numbers.FromFloat(v, scale, most) },
		func(v float64) string { return outOfRange(fmt.Sprint(v), text.Type(dt)) }), nil
}
