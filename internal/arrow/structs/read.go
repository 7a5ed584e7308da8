package structs

import (
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Reader copies the rows of batches of one schema to values of T. It belongs to one goroutine.
type Reader[T any] struct {
	root   *structReader
	held   held
	buffer []T
}

// NewReader makes a reader. The error names a field of T and what is wrong with its column. Other columns are left out.
func (t *Type[T]) NewReader(s *arrow.Schema) (*Reader[T], error) {
	r := &Reader[T]{buffer: make([]T, someRows[T]())}
	var err error
	r.root, err = newStructReader(t.root, arrow.StructOf(s.Fields()...), &r.held)
	return r, err
}

// Each yields the rows of a batch, each with a nil error, and reports whether others should follow. Rows may be kept.
func (r *Reader[T]) Each(batch arrow.RecordBatch, yield func(T, error) bool) (more bool, err error) {
	defer r.held.release()
	if err := r.root.openFields(batch.Column); err != nil {
		return false, err
	}
	for from := 0; from < int(batch.NumRows()); {
		rows := r.buffer[:min(int(batch.NumRows())-from, len(r.buffer))]
		if err := r.root.readFields(from, spanOf(rows)); err != nil {
			return false, shift(err, from)
		}
		for i := range rows {
			if !yield(rows[i], nil) {
				return false, nil
			}
		}
		from += len(rows)
	}
	return true, nil
}

// reader copies the values of an Arrow array to Go memory.
type reader interface {
	// open begins an array, which must stay valid until the next.
	open(arr arrow.Array) error
	// read copies the values from one on to all of a span, from which the row of a RowError counts.
	read(from int, to span) error
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
			r = each(n, func(arr arrow.Array) func(int) (bool, error) {
				return func(i int) (bool, error) { return arr.(*array.Boolean).Value(i), nil }
			})
		}
	case shapeString:
		if kinds.IsText(plain) {
			r = &textReader[string]{n: n, scatter: scatter[string]}
		}
	case shapeBytes:
		if kinds.IsText(plain) || kinds.IsBinary(plain) {
			r = &textReader[[]byte]{n: n, scatter: scatterBytes}
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

// validOf is the validity of n values of an array.
func validOf(arr arrow.Array, from, n int) bitmap.Bits {
	return arrowutil.Validity(arr).Slice(from, from+n)
}

// newFixedReader is nil for types whose values do not become those of Go.
func newFixedReader(n *node, dt arrow.DataType) reader {
	switch n.goType {
	case timeType:
		return newTimeReader(n, dt)
	case durationType:
		return newDurationReader(n, dt)
	}
	if own, ok := n.dt.(arrow.DecimalType); ok {
		return newDecimalReader(n, dt, own)
	}
	same := dt.ID() == n.dt.ID() && n.dt.(arrow.FixedWidthDataType).Bytes() == int(n.goType.Size())
	switch kind := n.goType.Kind(); {
	case same:
		return newSameReader(n)
	case kind == reflect.Float64 && arrow.IsFloating(dt.ID()):
		return exact(n, arrowutil.Floats, func(x float64) float64 { return x })
	case kind == reflect.Float32 && dt.ID() == arrow.FLOAT16:
		return exact(n, arrowutil.Floats, func(x float64) float32 { return float32(x) })
	case kind == reflect.Float32 || kind == reflect.Float64 || !arrow.IsInteger(dt.ID()):
		return nil
	}
	switch n.goType.Size() {
	case 1:
		return integers[uint8](n)
	case 2:
		return integers[uint16](n)
	case 4:
		return integers[uint32](n)
	}
	return integers[uint64](n)
}

// sameReader copies values whose Arrow form is that of Go.
type sameReader[X any] struct {
	n      *node
	arr    arrow.Array
	values []X
}

// newSameReader copies bits: what they mean does not matter.
func newSameReader(n *node) reader {
	switch n.goType.Size() {
	case 1:
		return &sameReader[uint8]{n: n}
	case 2:
		return &sameReader[uint16]{n: n}
	case 4:
		return &sameReader[uint32]{n: n}
	case 16:
		return &sameReader[[2]uint64]{n: n}
	case 32:
		return &sameReader[[4]uint64]{n: n}
	}
	return &sameReader[uint64]{n: n}
}

func (r *sameReader[X]) open(arr arrow.Array) error {
	r.arr, r.values = arr, arrowutil.Values[X](arr)
	return nil
}

func (r *sameReader[X]) read(from int, to span) error {
	return scatter(r.n, to, r.values[from:from+to.n], validOf(r.arr, from, to.n))
}

// eachReader converts values one by one.
type eachReader[X any] struct {
	n     *node
	of    func(arr arrow.Array) func(i int) (X, error)
	arr   arrow.Array
	value func(i int) (X, error)
	loose []X
}

// each makes a reader by a function that gives the values of an array.
func each[X any](n *node, of func(arr arrow.Array) func(i int) (X, error)) reader {
	return &eachReader[X]{n: n, of: of}
}

func (r *eachReader[X]) open(arr arrow.Array) error {
	r.arr, r.value = arr, r.of(arr)
	return nil
}

func (r *eachReader[X]) read(from int, to span) error {
	valid := validOf(r.arr, from, to.n)
	r.loose = r.loose[:0]
	for i := range to.n {
		var x X
		if valid.At(i) {
			var err error
			if x, err = r.value(from + i); err != nil {
				return r.n.failed(i, "%w", err)
			}
		}
		r.loose = append(r.loose, x)
	}
	return scatter(r.n, to, r.loose, valid)
}

// exact makes a reader of values that all fit, by a function that converts those of an array.
func exact[S, X any](n *node, of func(arr arrow.Array) func(i int) S, convert func(S) X) reader {
	return each(n, func(arr arrow.Array) func(int) (X, error) {
		get := of(arr)
		return func(i int) (X, error) { return convert(get(i)), nil }
	})
}

// integers makes a reader of integers of another width into those that have the bits of a U.
func integers[U uint8 | uint16 | uint32 | uint64](n *node) reader {
	signed := n.goType.Kind() <= reflect.Int64
	unused := 64 - n.goType.Bits()
	return each(n, func(arr arrow.Array) func(int) (U, error) {
		get, large := arrowutil.Integers(arr), arr.DataType().ID() == arrow.UINT64
		return func(i int) (U, error) {
			v := get(i)
			switch {
			case large && v < 0:
				return 0, fmt.Errorf("%d does not fit %s", uint64(v), n.goType.Kind())
			case signed && v<<unused>>unused != v, !signed && (v < 0 || uint64(v)<<unused>>unused != uint64(v)):
				return 0, fmt.Errorf("%d does not fit %s", v, n.goType.Kind())
			}
			return U(v), nil
		}
	})
}

// newDecimalReader makes a reader of decimals that have the same scale and at most as many bits.
func newDecimalReader(n *node, dt arrow.DataType, own arrow.DecimalType) reader {
	d, ok := dt.(arrow.DecimalType)
	switch {
	case !ok || d.GetScale() != own.GetScale() || d.BitWidth() > own.BitWidth():
		return nil
	case d.ID() == n.dt.ID():
		return newSameReader(n)
	}
	switch {
	case n.goType == dec256Type && d.ID() == arrow.DECIMAL128:
		return exact(n, func(arr arrow.Array) func(int) decimal128.Num { return arr.(*array.Decimal128).Value }, decimal256.FromDecimal128)
	case n.goType == dec256Type:
		return exact(n, arrowutil.Integers, decimal256.FromI64)
	case n.goType == dec128Type:
		return exact(n, arrowutil.Integers, decimal128.FromI64)
	}
	return exact(n, arrowutil.Integers, func(x int64) decimal.Decimal64 { return decimal.Decimal64(x) })
}

func newTimeReader(n *node, dt arrow.DataType) reader {
	switch dt := dt.(type) {
	case *arrow.TimestampType:
		zone, err := dt.GetZone()
		if err != nil {
			zone = time.UTC // the time is the same
		}
		perSecond := int64(time.Second / dt.Unit.Multiplier())
		unit := int64(dt.Unit.Multiplier())
		return exact(n, arrowutil.Integers, func(x int64) time.Time { return time.Unix(x/perSecond, x%perSecond*unit).In(zone) })
	case *arrow.Date32Type:
		return exact(n, arrowutil.Integers, func(x int64) time.Time { return time.Unix(x*daySeconds, 0).UTC() })
	case *arrow.Date64Type:
		return exact(n, arrowutil.Integers, func(x int64) time.Time { return time.UnixMilli(x).UTC() })
	}
	return nil
}

func newDurationReader(n *node, dt arrow.DataType) reader {
	t, ok := dt.(arrow.TemporalWithUnit)
	if !ok || dt.ID() == arrow.TIMESTAMP {
		return nil
	}
	factor := int64(t.TimeUnit().Multiplier())
	if factor == 1 {
		return newSameReader(n)
	}
	return each(n, func(arr arrow.Array) func(int) (time.Duration, error) {
		get := arrowutil.Integers(arr)
		return func(i int) (time.Duration, error) {
			x := get(i)
			if d := x * factor; d/factor == x {
				return time.Duration(d), nil
			}
			return 0, fmt.Errorf("%d%s does not fit time.Duration", x, t.TimeUnit())
		}
	})
}

// arrayReader copies bytes of a fixed number.
type arrayReader struct {
	n   *node
	arr *array.FixedSizeBinary
}

func (r *arrayReader) open(arr arrow.Array) error {
	r.arr = arr.(*array.FixedSizeBinary)
	return nil
}

func (r *arrayReader) read(from int, to span) error {
	if valid := validOf(r.arr, from, to.n); valid.Nulls() > 0 {
		return nullError(r.n, valid)
	}
	for i := range to.n {
		copy(unsafe.Slice((*byte)(to.value(i)), r.n.goType.Len()), r.arr.Value(from+i))
	}
	return nil
}
