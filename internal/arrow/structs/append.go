package structs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// appender collects values of a node for an Arrow array.
type appender interface {
	places
	// append takes the values at the places [from, to). After an error only reset may follow, and after errFull array
	// of the values before.
	append(from, to int) error
	// skip appends n values that do not count, because they are parts of a null.
	skip(n int)
	// array is the first n values. It shares memory with the appender until reset.
	array(n int) arrow.Array
	reset()
	// bytes is the size of the values so far.
	bytes() int
}

// errFull means that an array cannot hold more bytes or items with 32-bit offsets.
var errFull = errors.New("a row has more than 2 GiB of bytes or 2³¹ items")

// maxOffset is smaller in tests.
var maxOffset = math.MaxInt32

func (n *node) full() error { return fmt.Errorf("field %s: %w", n.goName, errFull) }

func newAppender(n *node) appender {
	if n.pointer && n.shape >= shapeArray {
		inner := *n
		inner.pointer = false
		return &optionalAppender{n: n, child: newAppender(&inner)}
	}
	switch n.shape {
	case shapeFixed:
		return newFixedAppender(n)
	case shapeBool:
		return &boolAppender{typedPlaces: placesOf[bool](n), n: n}
	case shapeString:
		return &textAppender[string]{typedPlaces: placesOf[string](n), n: n, offsets: make([]int32, 1)}
	case shapeBytes:
		return &textAppender[[]byte]{typedPlaces: &slots{}, n: n, offsets: make([]int32, 1)}
	case shapeArray:
		return &arrayAppender{n: n}
	case shapeStruct:
		return newStructAppender(n)
	case shapeList:
		return &listAppender{n: n, child: newAppender(n.kids[0]), offsets: make([]int32, 1)}
	case shapeTuple:
		return &tupleAppender{n: n, child: newAppender(n.kids[0])}
	}
	return newMapAppender(n)
}

func newFixedAppender(n *node) appender {
	switch n.goType {
	case timeType, durationType:
		return newTimeAppender(n)
	case dec128Type:
		return fixed[decimal128.Num](n)
	case dec256Type:
		return fixed[decimal256.Num](n)
	case dec32Type:
		return fixed[decimal.Decimal32](n)
	case dec64Type:
		return fixed[decimal.Decimal64](n)
	}
	switch n.goType.Kind() {
	case reflect.Int8:
		return fixed[int8](n)
	case reflect.Int16:
		return fixed[int16](n)
	case reflect.Int32:
		return fixed[int32](n)
	case reflect.Int64:
		return fixed[int64](n)
	case reflect.Uint8:
		return fixed[uint8](n)
	case reflect.Uint16:
		return fixed[uint16](n)
	case reflect.Uint32:
		return fixed[uint32](n)
	case reflect.Uint64:
		return fixed[uint64](n)
	case reflect.Float32:
		return fixed[float32](n)
	case reflect.Float64:
		return fixed[float64](n)
	case reflect.Int:
		return wordAppender[int, int64](n)
	}
	return wordAppender[uint, uint64](n)
}

// fixedAppender collects values whose Arrow form is that of Go.
type fixedAppender[X any] struct {
	typedPlaces[X]
	n      *node
	values []X
	valid  validity
}

func fixed[X any](n *node) appender { return &fixedAppender[X]{typedPlaces: placesOf[X](n), n: n} }

func (a *fixedAppender[X]) append(from, to int) error {
	a.values = a.gather(a.values, &a.valid, from, to)
	return nil
}

func (a *fixedAppender[X]) skip(n int) {
	var x X
	for range n {
		a.values = append(a.values, x)
		a.valid.addIf(a.n.nullable, false)
	}
}

func (a *fixedAppender[X]) array(n int) arrow.Array {
	return makeArray(a.n, n, &a.valid, arrowutil.Bytes(a.values[:n]))
}

func (a *fixedAppender[X]) reset() { a.values = a.values[:0]; a.valid.reset() }

func (a *fixedAppender[X]) bytes() int { return len(arrowutil.Bytes(a.values)) }

// makeArray is an array of n values in buffers.
func makeArray(of *node, n int, valid *validity, buffers ...[]byte) arrow.Array {
	all := []*memory.Buffer{valid.buffer()}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	nulls := -1
	if all[0] == nil {
		nulls = 0
	}
	return arrowutil.Make(of.dt, n, all, nil, nulls)
}

// convertAppender collects values of type X whose Arrow form is of type S.
type convertAppender[X, S any] struct {
	fixedAppender[S] // its places are not used
	places           typedPlaces[X]
	loose            []X
	convert          func(X) (S, error)
}

func converted[X, S any](n *node, convert func(X) (S, error)) appender {
	return &convertAppender[X, S]{fixedAppender: fixedAppender[S]{n: n}, places: placesOf[X](n), convert: convert}
}

func (a *convertAppender[X, S]) bind(v reflect.Value) { a.places.bind(v) }
func (a *convertAppender[X, S]) unbind()              { a.places.unbind() }

func (a *convertAppender[X, S]) bindItems(items reflect.Value) bool { return a.places.bindItems(items) }

func (a *convertAppender[X, S]) append(from, to int) error {
	at := a.valid.n
	a.loose = a.places.gather(a.loose[:0], &a.valid, from, to)
	for i, x := range a.loose {
		var s S
		if !a.n.pointer || a.valid.at(at+i) {
			var err error
			if s, err = a.convert(x); err != nil {
				return a.n.failed(from+i, "%w", err)
			}
		}
		a.values = append(a.values, s)
	}
	return nil
}

// wordAppender collects int or uint, which are stored with 64 bits.
func wordAppender[X int | uint, S int64 | uint64](n *node) appender {
	if strconv.IntSize == 64 {
		return fixed[X](n)
	}
	return converted(n, func(x X) (S, error) { return S(x), nil })
}

// boolAppender collects booleans as bits.
type boolAppender struct {
	typedPlaces[bool]
	n      *node
	loose  []bool
	values validity
	valid  validity
}

func (a *boolAppender) append(from, to int) error {
	a.loose = a.gather(a.loose[:0], &a.valid, from, to)
	for _, b := range a.loose {
		a.values.add(b)
	}
	return nil
}

func (a *boolAppender) skip(n int) {
	for range n {
		a.values.add(false)
		a.valid.addIf(a.n.nullable, false)
	}
}

func (a *boolAppender) array(n int) arrow.Array { return makeArray(a.n, n, &a.valid, a.values.bits) }
func (a *boolAppender) reset()                  { a.values.reset(); a.valid.reset() }
func (a *boolAppender) bytes() int              { return len(a.values.bits) }

// textAppender collects strings or slices of bytes.
type textAppender[B string | []byte] struct {
	typedPlaces[B]
	n       *node
	loose   []B
	offsets []int32
	data    []byte
	valid   validity
}

func (a *textAppender[B]) append(from, to int) error {
	a.loose = a.gather(a.loose[:0], &a.valid, from, to)
	defer clear(a.loose) // so that it keeps no text in memory
	for _, b := range a.loose {
		if len(b) > maxOffset-len(a.data) {
			return a.n.full()
		}
		a.data = append(a.data, b...)
		a.offsets = append(a.offsets, int32(len(a.data)))
	}
	return nil
}

func (a *textAppender[B]) skip(n int) {
	for range n {
		a.offsets = append(a.offsets, int32(len(a.data)))
		a.valid.addIf(a.n.nullable, false)
	}
}

func (a *textAppender[B]) array(n int) arrow.Array {
	return makeArray(a.n, n, &a.valid, arrowutil.Bytes(a.offsets[:n+1]), a.data)
}

func (a *textAppender[B]) reset() {
	a.offsets, a.data = a.offsets[:1], a.data[:0]
	a.valid.reset()
}

func (a *textAppender[B]) bytes() int { return len(a.data) + 4*len(a.offsets) }

// arrayAppender collects arrays of bytes.
type arrayAppender struct {
	views
	n      *node
	values []byte
}

func (a *arrayAppender) append(from, to int) error {
	for _, v := range a.at[from:to] {
		a.values = append(a.values, v...)
	}
	return nil
}

func (a *arrayAppender) skip(n int) { a.values = append(a.values, make([]byte, n*a.n.goType.Len())...) }

func (a *arrayAppender) array(n int) arrow.Array {
	return makeArray(a.n, n, &validity{}, a.values[:n*a.n.goType.Len()])
}

func (a *arrayAppender) reset()     { a.values = a.values[:0] }
func (a *arrayAppender) bytes() int { return len(a.values) }
