package structs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// A batch is full with this many rows, or once its values take this many bytes. With fewer rows the stages of stripe/write,
// which hold twice as many, grow in more steps: 8192 rows take a third longer to write.
const (
	batchRows  = 32768
	batchBytes = 16 << 20
)

// Appender collects rows for record batches. It belongs to one goroutine.
type Appender[T any] struct {
	schema *arrow.Schema
	root   *structAppender
	buffer []T // rows that are not in root yet; none if T refers to memory of the caller, who may change it
	rows   int // rows in root
	full   bool
	taken  bool // root's rows are in a batch of before
}

// NewAppender makes an empty Appender.
func (t *Type[T]) NewAppender() *Appender[T] {
	a := &Appender[T]{schema: t.Schema(), root: newStructAppender(t.root)}
	if !t.root.refers() { // rows one by one take a third of the time
		a.buffer = make([]T, 0, someRows[T]())
	}
	return a
}

// Schema is the schema of the batches.
func (a *Appender[T]) Schema() *arrow.Schema { return a.schema }

// Append copies the first n rows, and what they refer to. It is done when Full reports false; else it must be called
// again with the other rows after Batch. After an error the appender must not be used. The row of a [RowError] is counted from the first of the batch.
func (a *Appender[T]) Append(rows []T) (n int, err error) {
	a.drop()
	if len(a.buffer)+len(rows) <= cap(a.buffer) {
		a.buffer = append(a.buffer, rows...)
		return len(rows), nil
	}
	if err := a.flush(); err != nil || a.full {
		return 0, err
	}
	return a.move(rows)
}

// Full reports whether [Appender.Batch] should take the rows.
func (a *Appender[T]) Full() bool { return a.full && !a.taken }

// Len is the number of rows that no batch has taken.
func (a *Appender[T]) Len() int {
	a.drop()
	return a.rows + len(a.buffer)
}

// Batch returns the rows of a full batch, or the last ones: no batch is left when it returns nil. The batch is valid until the
// next call of a method, and needs no Release.
func (a *Appender[T]) Batch() (arrow.RecordBatch, error) {
	a.drop()
	if err := a.flush(); err != nil || a.rows == 0 {
		return nil, err
	}
	a.taken = true
	return array.NewRecordBatch(a.schema, a.root.columns(a.rows), int64(a.rows)), nil
}

// drop forgets the rows of the batch of before.
func (a *Appender[T]) drop() {
	if a.taken {
		a.root.reset()
		a.rows, a.full, a.taken = 0, false, false
	}
}

// flush moves rows of the buffer to the columns, as far as the batch has room.
func (a *Appender[T]) flush() error {
	n, err := a.move(a.buffer)
	a.buffer = a.buffer[:copy(a.buffer, a.buffer[n:])]
	return err
}

// move copies rows to the columns until the batch is full. If some do not fit behind those of before, it is full; and if they do not fit an
// empty batch, fewer of them are copied at a time.
func (a *Appender[T]) move(rows []T) (n int, err error) {
	for k := someRows[T](); n < len(rows) && !a.full; {
		k = min(k, len(rows)-n)
		err := a.root.append(spanOf(rows[n : n+k]))
		switch {
		case errors.Is(err, errFull) && a.rows > 0:
			a.full = true
			return n, nil
		case errors.Is(err, errFull) && k > 1:
			a.root.reset()
			k /= 2
			continue
		case err != nil:
			return n, shift(err, a.rows)
		}
		n, a.rows = n+k, a.rows+k
		a.full = a.rows >= batchRows || a.root.bytes() >= batchBytes
	}
	return n, nil
}

// appender collects values of a node for an Arrow array.
type appender interface {
	// append takes the values of a span, from which the row of a RowError counts. After an error only reset may follow, and after errFull
	// array of the values before.
	append(s span) error
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
		if n.goType == timeType || n.goType == durationType {
			return newTimeAppender(n)
		}
		return newFixedAppender(n)
	case shapeBool:
		return &boolAppender{fixedAppender[bool]{n: n}}
	case shapeString:
		return &textAppender[string]{n: n, offsets: make([]int32, 1), isNull: func(string) bool { return false }}
	case shapeBytes:
		return &textAppender[[]byte]{n: n, offsets: make([]int32, 1), isNull: func(b []byte) bool { return b == nil }}
	case shapeArray:
		return &arrayAppender{n: n}
	case shapeStruct:
		return newStructAppender(n)
	case shapeList:
		return &listAppender{ranges{n: n, offsets: make([]int32, 1)}, newAppender(n.kids[0])}
	case shapeTuple:
		return &tupleAppender{n: n, child: newAppender(n.kids[0])}
	}
	return newMapAppender(n)
}

// newFixedAppender copies bits: what they mean does not matter.
func newFixedAppender(n *node) appender {
	switch size := n.goType.Size(); {
	case n.goType.Kind() == reflect.Int && strconv.IntSize == 32:
		return converted(n, func(x int) (int64, error) { return int64(x), nil })
	case n.goType.Kind() == reflect.Uint && strconv.IntSize == 32:
		return converted(n, func(x uint) (uint64, error) { return uint64(x), nil })
	case size == 1:
		return &fixedAppender[uint8]{n: n}
	case size == 2:
		return &fixedAppender[uint16]{n: n}
	case size == 4:
		return &fixedAppender[uint32]{n: n}
	case size == 16:
		return &fixedAppender[[2]uint64]{n: n}
	case size == 32:
		return &fixedAppender[[4]uint64]{n: n}
	}
	return &fixedAppender[uint64]{n: n}
}

// fixedAppender collects values whose Arrow form is that of Go.
type fixedAppender[X any] struct {
	n      *node
	values []X
	valid  validity
}

func (a *fixedAppender[X]) append(s span) error {
	a.values = gather(a.n, a.values, &a.valid, s)
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
	fixedAppender[S]
	loose   []X
	convert func(X) (S, error)
}

func converted[X, S any](n *node, convert func(X) (S, error)) appender {
	return &convertAppender[X, S]{fixedAppender: fixedAppender[S]{n: n}, convert: convert}
}

func (a *convertAppender[X, S]) append(s span) error {
	at := a.valid.n
	a.loose = gather(a.n, a.loose[:0], &a.valid, s)
	for i, x := range a.loose {
		var v S
		if !a.n.pointer || a.valid.at(at+i) {
			var err error
			if v, err = a.convert(x); err != nil {
				return a.n.failed(i, "%w", err)
			}
		}
		a.values = append(a.values, v)
	}
	return nil
}

// boolAppender collects booleans.
type boolAppender struct{ fixedAppender[bool] }

func (a *boolAppender) array(n int) arrow.Array {
	var bits validity
	for _, b := range a.values[:n] {
		bits.add(b)
	}
	return makeArray(a.n, n, &a.valid, bits.bits)
}

// textAppender collects strings or slices of bytes.
type textAppender[B string | []byte] struct {
	n       *node
	isNull  func(B) bool // of slices of bytes, which are no pointers
	loose   []B
	offsets []int32
	data    []byte
	valid   validity
}

func (a *textAppender[B]) append(s span) error {
	a.loose = gather(a.n, a.loose[:0], &a.valid, s)
	defer clear(a.loose) // so that it keeps no text in memory
	for _, b := range a.loose {
		if len(b) > maxOffset-len(a.data) {
			return a.n.full()
		}
		a.data = append(a.data, b...)
		a.offsets = append(a.offsets, int32(len(a.data)))
		a.valid.addIf(a.n.shape == shapeBytes, !a.isNull(b))
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
	n      *node
	values []byte
}

func (a *arrayAppender) append(s span) error {
	for i := range s.n {
		a.values = append(a.values, unsafe.Slice((*byte)(s.value(i)), a.n.goType.Len())...)
	}
	return nil
}

func (a *arrayAppender) skip(n int) { a.values = append(a.values, make([]byte, n*a.n.goType.Len())...) }

func (a *arrayAppender) array(n int) arrow.Array {
	return makeArray(a.n, n, &validity{}, a.values[:n*a.n.goType.Len()])
}

func (a *arrayAppender) reset()     { a.values = a.values[:0] }
func (a *arrayAppender) bytes() int { return len(a.values) }
