package structs

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// reader copies the values of an Arrow array to Go memory.
type reader interface {
	places
	// open begins an array, which must stay valid until the next.
	open(arr arrow.Array) error
	// read copies the values [from, to) to the places from at on. The row of a RowError is that of the array.
	read(from, to, at int) error
}

// newReader makes a reader of arrays of a type into values of a node.
func newReader(n *node, dt arrow.DataType, h *held) (reader, error) {
	plain, _ := extension.Unwrap(dt)
	if n.pointer && n.shape >= shapeArray {
		inner := *n
		inner.pointer = false
		child, err := newReader(&inner, plain, h)
		return &optionalReader{n: n, child: child}, err
	}
	var r reader
	switch n.shape {
	case shapeFixed:
		r = newFixedReader(n, plain)
	case shapeBool:
		if plain.ID() == arrow.BOOL {
			r = &boolReader{typedPlaces: placesOf[bool](n), n: n}
		}
	case shapeString:
		if isText(plain) {
			r = &textReader[string]{typedPlaces: placesOf[string](n), n: n}
		}
	case shapeBytes:
		if isText(plain) || isBinary(plain) {
			r = &textReader[[]byte]{typedPlaces: &slots{}, n: n}
		}
	case shapeArray:
		if f, ok := plain.(*arrow.FixedSizeBinaryType); ok && f.ByteWidth == n.goType.Len() {
			r = &arrayReader{n: n}
		}
	default:
		return newNestedReader(n, plain, h)
	}
	if r == nil {
		return nil, mismatch(n, dt)
	}
	return r, nil
}

func mismatch(n *node, dt arrow.DataType) error {
	return fmt.Errorf("field %s: the column %q is of the type %s, which does not become a %s", n.goName, n.name, dt, n.goType)
}

func isText(dt arrow.DataType) bool {
	return dt.ID() == arrow.STRING || dt.ID() == arrow.LARGE_STRING || dt.ID() == arrow.STRING_VIEW
}

func isBinary(dt arrow.DataType) bool {
	switch dt.ID() {
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return true
	}
	return false
}

// held are the arrays of a batch without dictionaries, runs, views and extension types.
type held []arrow.Array

// open begins an array of any layout.
func (h *held) open(r reader, arr arrow.Array) error {
	plain, err := arrowutil.Plain(memory.DefaultAllocator, arr)
	if err != nil {
		return err
	}
	*h = append(*h, plain)
	return r.open(plain)
}

func (h *held) release() {
	arrowutil.ReleaseAll(*h)
	*h = (*h)[:0]
}

// validOf is the validity of some values of an array.
func validOf(arr arrow.Array, from, to int) bitmap.Bits {
	return arrowutil.Validity(arr).Slice(from, to)
}

func newFixedReader(n *node, dt arrow.DataType) reader {
	switch n.goType {
	case timeType:
		return newTimeReader(n, dt)
	case durationType:
		return newDurationReader(n, dt)
	case dec32Type:
		return newDecimalReader(n, dt, func(x decimal256.Num) decimal.Decimal32 { return decimal.Decimal32(x.LowBits()) })
	case dec64Type:
		return newDecimalReader(n, dt, func(x decimal256.Num) decimal.Decimal64 { return decimal.Decimal64(x.LowBits()) })
	case dec128Type:
		return newDecimalReader(n, dt, func(x decimal256.Num) decimal128.Num { return decimal128.New(int64(x.Array()[1]), x.LowBits()) })
	case dec256Type:
		return newDecimalReader(n, dt, func(x decimal256.Num) decimal256.Num { return x })
	}
	switch n.goType.Kind() {
	case reflect.Int:
		return newIntReader[int](n, dt)
	case reflect.Int8:
		return newIntReader[int8](n, dt)
	case reflect.Int16:
		return newIntReader[int16](n, dt)
	case reflect.Int32:
		return newIntReader[int32](n, dt)
	case reflect.Int64:
		return newIntReader[int64](n, dt)
	case reflect.Uint:
		return newIntReader[uint](n, dt)
	case reflect.Uint8:
		return newIntReader[uint8](n, dt)
	case reflect.Uint16:
		return newIntReader[uint16](n, dt)
	case reflect.Uint32:
		return newIntReader[uint32](n, dt)
	case reflect.Uint64:
		return newIntReader[uint64](n, dt)
	}
	return newFloatReader(n, dt)
}

// sameReader copies values whose Arrow form is that of Go.
type sameReader[X any] struct {
	typedPlaces[X]
	n      *node
	arr    arrow.Array
	values []X
}

func same[X any](n *node) reader { return &sameReader[X]{typedPlaces: placesOf[X](n), n: n} }

func (r *sameReader[X]) open(arr arrow.Array) error {
	r.arr, r.values = arr, arrowutil.Values[X](arr)
	return nil
}

func (r *sameReader[X]) read(from, to, at int) error {
	return shift(r.scatter(r.n, at, r.values[from:to], validOf(r.arr, from, to)), from)
}

// shift adds to the row of an error.
func shift(err error, by int) error {
	if e, ok := err.(*RowError); ok {
		return &RowError{e.Row + by, e.Field, e.Err}
	}
	return err
}

// convertReader copies values of type S as values of type X.
type convertReader[S, X any] struct {
	typedPlaces[X]
	n       *node
	arr     arrow.Array
	values  []S
	loose   []X
	convert func(S) (X, error)
}

func convert[S, X any](n *node, f func(S) (X, error)) reader {
	return &convertReader[S, X]{typedPlaces: placesOf[X](n), n: n, convert: f}
}

func (r *convertReader[S, X]) open(arr arrow.Array) error {
	r.arr, r.values = arr, arrowutil.Values[S](arr)
	return nil
}

func (r *convertReader[S, X]) read(from, to, at int) error {
	valid := validOf(r.arr, from, to)
	r.loose = r.loose[:0]
	for i, s := range r.values[from:to] {
		var x X
		if valid.At(i) {
			var err error
			if x, err = r.convert(s); err != nil {
				return r.n.failed(from+i, "%w", err)
			}
		}
		r.loose = append(r.loose, x)
	}
	return shift(r.scatter(r.n, at, r.loose, valid), from)
}

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// newIntReader makes a reader of integers of any width, or of none.
func newIntReader[X integer](n *node, dt arrow.DataType) reader {
	if dt.ID() == n.dt.ID() && (strconv.IntSize == 64 || n.goType.Kind() != reflect.Int && n.goType.Kind() != reflect.Uint) {
		return same[X](n)
	}
	switch dt.ID() {
	case arrow.INT8:
		return convert(n, narrow[int8, X])
	case arrow.INT16:
		return convert(n, narrow[int16, X])
	case arrow.INT32:
		return convert(n, narrow[int32, X])
	case arrow.INT64:
		return convert(n, narrow[int64, X])
	case arrow.UINT8:
		return convert(n, narrow[uint8, X])
	case arrow.UINT16:
		return convert(n, narrow[uint16, X])
	case arrow.UINT32:
		return convert(n, narrow[uint32, X])
	case arrow.UINT64:
		return convert(n, narrow[uint64, X])
	}
	return nil
}

func narrow[S, X integer](s S) (X, error) {
	x := X(s)
	if S(x) != s || (x < 0) != (s < 0) {
		return 0, fmt.Errorf("%d does not fit %T", s, x)
	}
	return x, nil
}

func newFloatReader(n *node, dt arrow.DataType) reader {
	double := n.goType.Kind() == reflect.Float64
	switch id := dt.ID(); {
	case id == arrow.FLOAT64 && double:
		return same[float64](n)
	case id == arrow.FLOAT32 && double:
		return convert(n, func(x float32) (float64, error) { return float64(x), nil })
	case id == arrow.FLOAT16 && double:
		return convert(n, func(x float16.Num) (float64, error) { return float64(x.Float32()), nil })
	case id == arrow.FLOAT32 && !double:
		return same[float32](n)
	case id == arrow.FLOAT16 && !double:
		return convert(n, func(x float16.Num) (float32, error) { return x.Float32(), nil })
	}
	return nil
}

// newDecimalReader makes a reader of decimals that have the same scale and at most as many bits.
func newDecimalReader[X any](n *node, dt arrow.DataType, from func(decimal256.Num) X) reader {
	d, ok := dt.(arrow.DecimalType)
	own := n.dt.(arrow.DecimalType)
	if !ok || d.GetScale() != own.GetScale() || d.BitWidth() > own.BitWidth() {
		return nil
	}
	switch d.ID() {
	case n.dt.ID():
		return same[X](n)
	case arrow.DECIMAL32:
		return convert(n, func(x decimal.Decimal32) (X, error) { return from(decimal256.FromI64(int64(x))), nil })
	case arrow.DECIMAL64:
		return convert(n, func(x decimal.Decimal64) (X, error) { return from(decimal256.FromI64(int64(x))), nil })
	}
	return convert(n, func(x decimal128.Num) (X, error) { return from(decimal256.FromDecimal128(x)), nil })
}

func newTimeReader(n *node, dt arrow.DataType) reader {
	switch dt := dt.(type) {
	case *arrow.TimestampType:
		zone := time.UTC
		if dt.TimeZone != "" {
			var err error
			if zone, err = dt.GetZone(); err != nil {
				zone = time.UTC // the time is the same
			}
		}
		perSecond := int64(time.Second / dt.Unit.Multiplier())
		unit := int64(dt.Unit.Multiplier())
		return convert(n, func(x int64) (time.Time, error) {
			return time.Unix(x/perSecond, x%perSecond*unit).In(zone), nil
		})
	case *arrow.Date32Type:
		return convert(n, func(x int32) (time.Time, error) { return time.Unix(int64(x)*daySeconds, 0).UTC(), nil })
	case *arrow.Date64Type:
		return convert(n, func(x int64) (time.Time, error) { return time.UnixMilli(x).UTC(), nil })
	}
	return nil
}

func newDurationReader(n *node, dt arrow.DataType) reader {
	unit, small := arrow.Nanosecond, false
	switch dt := dt.(type) {
	case *arrow.DurationType:
		unit = dt.Unit
	case *arrow.Time32Type:
		unit, small = dt.Unit, true
	case *arrow.Time64Type:
		unit = dt.Unit
	default:
		return nil
	}
	factor := int64(unit.Multiplier())
	scale := func(x int64) (time.Duration, error) {
		if d := x * factor; d/factor == x {
			return time.Duration(d), nil
		}
		return 0, fmt.Errorf("%d%s does not fit time.Duration", x, unit)
	}
	switch {
	case small:
		return convert(n, func(x int32) (time.Duration, error) { return scale(int64(x)) })
	case unit == arrow.Nanosecond:
		return same[time.Duration](n)
	}
	return convert(n, scale)
}

// boolReader copies bits.
type boolReader struct {
	typedPlaces[bool]
	n     *node
	arr   *array.Boolean
	loose []bool
}

func (r *boolReader) open(arr arrow.Array) error {
	r.arr = arr.(*array.Boolean)
	return nil
}

func (r *boolReader) read(from, to, at int) error {
	r.loose = r.loose[:0]
	for i := from; i < to; i++ {
		r.loose = append(r.loose, r.arr.Value(i))
	}
	return shift(r.scatter(r.n, at, r.loose, validOf(r.arr, from, to)), from)
}

// arrayReader copies bytes of a fixed number.
type arrayReader struct {
	views
	n   *node
	arr *array.FixedSizeBinary
}

func (r *arrayReader) open(arr arrow.Array) error {
	r.arr = arr.(*array.FixedSizeBinary)
	return nil
}

func (r *arrayReader) read(from, to, at int) error {
	if valid := validOf(r.arr, from, to); valid.Nulls() > 0 {
		return shift(nullError(r.n, valid), from)
	}
	for i, v := range r.at[at : at+to-from] {
		copy(v, r.arr.Value(from+i))
	}
	return nil
}
