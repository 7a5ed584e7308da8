package predicate

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// BitmapLen is the number of bytes of a bitmap of a number of rows. Bitmaps have whole words of 64 bits.
func BitmapLen(rows int) int { return (rows + 63) / 64 * 8 }

// Eval finds the rows for which the expression is true. Bit i of the result, the least significant bit first, is set if it
// is true for row i; bits past the last row are clear. The result uses the memory of dst if that is large enough.
//
// columns are the values of [Bound.Columns], each of the given number of rows; a field of a struct must be null where the
// struct is ([Child]). They may be slices, dictionaries, runs and extension arrays, and hold strings in any layout.
// Columns that no part of the expression looks at may be nil.
func (b *Bound) Eval(dst []byte, columns []arrow.Array, rows int) ([]byte, error) {
	return b.root.Eval(dst, columns, rows)
}

// EvalOnly is [Bound.Eval] if only some rows make a difference: others cause no errors, and have arbitrary bits.
func (b *Bound) EvalOnly(columns []arrow.Array, rows int, only bitmap.Bits) ([]byte, error) {
	bits := make([]byte, BitmapLen(rows))
	only.CopyTo(bits, 0)
	return b.root.eval(nil, columns, rows, bits)
}

// Eval is [Bound.Eval] for a part of the expression.
func (n *Node) Eval(dst []byte, columns []arrow.Array, rows int) ([]byte, error) {
	return n.eval(dst, columns, rows, nil)
}

func (n *Node) eval(dst []byte, columns []arrow.Array, rows int, only []byte) ([]byte, error) {
	if size := BitmapLen(rows); cap(dst) < size {
		dst = make([]byte, size)
	} else {
		dst = dst[:size]
	}
	e := evaluators.Get().(*evaluator)
	defer evaluators.Put(e)
	e.columns, e.rows, e.only = columns, rows, only
	defer e.forget()
	return dst, e.node(n, dst)
}

// Select evaluates the expression on a record batch that has the schema given to [Bind]. The result is the rows of the
// batch for which it is true, counted from 0.
func (b *Bound) Select(batch arrow.RecordBatch) (rowset.Set, error) {
	bits, err := b.Bits(batch)
	return rowset.FromBits(bits, 0, int(batch.NumRows()), 0), err
}

// Bits is [Bound.Select] as a bitmap of [BitmapLen] bytes that belongs to the caller.
func (b *Bound) Bits(batch arrow.RecordBatch) ([]byte, error) {
	columns := make([]arrow.Array, len(b.columns))
	for i, c := range b.columns {
		arr, err := c.Of(batch)
		if err != nil {
			return nil, err
		}
		defer arr.Release()
		columns[i] = arr
	}
	return b.Eval(nil, columns, int(batch.NumRows()))
}

// Of is the column of a record batch that has the schema given to [Bind], in the form for [Bound.Eval]. The caller
// releases it.
func (c Column) Of(batch arrow.RecordBatch) (arrow.Array, error) {
	if int64(c.Index[0]) >= batch.NumCols() {
		return nil, fmt.Errorf("filter: the batch has no column %s", c.Path)
	}
	field, err := Child(batch.Column(c.Index[0]), c.Index[1:])
	if err != nil || !c.Derived() {
		return field, err
	}
	defer field.Release()
	return c.Values(field)
}

// Child is a field inside of structs, null where one of these is null, or an alternative of a union, null where another one is chosen: the
// form for [Bound.Eval]. index is the way to the field, as the rest of [Column.Index] gives it. The caller releases the array.
func Child(arr arrow.Array, index []int) (arrow.Array, error) {
	arr.Retain()
	for _, i := range index {
		storage := arrowutil.Storage(arr)
		var field arrow.Array
		var err error
		switch a, isStruct := storage.(*array.Struct); {
		case !kinds.HasNames(storage.DataType()) || i >= len(kinds.Fields(storage.DataType())):
			err = fmt.Errorf("filter: array of type %s has no field %d", arr.DataType(), i)
		case isStruct:
			field, err = masked(a.Field(i), arrowutil.Validity(a))
		default:
			field, err = arrowutil.Alternative(memory.DefaultAllocator, storage, i)
		}
		arr.Release()
		if err != nil {
			return nil, err
		}
		arr = field
	}
	return arr, nil
}

// masked is a field that is null where its struct is. It keeps its layout if no struct is null.
func masked(field arrow.Array, valid bitmap.Bits) (arrow.Array, error) {
	if valid.Data == nil {
		field.Retain()
		return field, nil
	}
	return arrowutil.Mask(memory.DefaultAllocator, field, valid)
}

// evaluator is the scratch memory of an evaluation.
type evaluator struct {
	columns []arrow.Array
	rows    int
	only    []byte   // rows whose truth makes a difference; nil for all
	free    [][]byte // bitmaps for reuse
	scratch pattern.Scratch
	values  [64][]byte
}

var evaluators = sync.Pool{New: func() any { return &evaluator{} }}

// forget drops references to memory of the caller.
func (e *evaluator) forget() {
	e.columns, e.only = nil, nil
	clear(e.values[:])
}

// bitmap is memory for a bitmap; its content is arbitrary.
func (e *evaluator) bitmap(rows int) []byte {
	size := BitmapLen(rows)
	if last := len(e.free) - 1; last >= 0 {
		b := e.free[last]
		e.free = e.free[:last]
		if cap(b) >= size {
			return b[:size]
		}
	}
	return make([]byte, size)
}

func (e *evaluator) release(b []byte) { e.free = append(e.free, b) }

func (e *evaluator) node(n *Node, dst []byte) error {
	switch n.Kind {
	case NodeNever:
		clear(dst)
		return nil
	case NodeAlways:
		fillOnes(dst, e.rows)
		return nil
	case NodeAnd, NodeOr:
		return e.list(n, dst)
	case NodeCompare:
		a, err := e.column(n, n.Column)
		if err != nil {
			return err
		}
		b, err := e.column(n, n.Other)
		if err != nil {
			return err
		}
		return e.compare(n, a, b, dst)
	case NodeValue:
		return e.value(n, dst)
	}
	arr, err := e.column(n, n.Column)
	if err != nil {
		return err
	}
	return e.test(n, arr, dst, e.rows)
}

// column is the array of column i, with its length and type checked.
func (e *evaluator) column(n *Node, i int) (arrow.Array, error) {
	if i >= len(e.columns) || e.columns[i] == nil {
		return nil, fmt.Errorf("filter: column %d is missing", i)
	}
	arr := e.columns[i]
	if arr.Len() != e.rows {
		return nil, fmt.Errorf("filter: column %d has %d rows instead of %d", i, arr.Len(), e.rows)
	}
	if i == n.Column && n.Kind != NodeValue && !n.domain.Holds(arr.DataType()) {
		return nil, fmt.Errorf("filter: column %d is of type %s instead of %s", i, arr.DataType(), n.domain.Type)
	}
	return arr, nil
}

// list evaluates the nodes of an and or an or. An and ends when no row is left.
func (e *evaluator) list(n *Node, dst []byte) error {
	if err := e.node(n.Nodes[0], dst); err != nil {
		return err
	}
	other := e.bitmap(e.rows)
	defer e.release(other)
	outer := e.only
	defer func() { e.only = outer }()
	for _, k := range n.Nodes[1:] {
		if n.Kind == NodeAnd && allZero(dst) {
			return nil
		}
		if k.computes {
			only := e.bitmap(e.rows)
			defer e.release(only)
			e.only = undecided(only, outer, dst, n.Kind, e.rows)
		}
		if err := e.node(k, other); err != nil {
			return err
		}
		if n.Kind == NodeAnd {
			andWords(dst, other)
		} else {
			orWords(dst, other)
		}
	}
	return nil
}

// undecided puts into only those rows of outer, nil for all, that a list has not decided yet.
func undecided(only, outer, dst []byte, kind NodeKind, rows int) []byte {
	copy(only, dst)
	if kind == NodeOr {
		invert(only, rows)
	}
	if outer != nil {
		andWords(only, outer)
	}
	return only
}

// value evaluates a test of a computed value.
func (e *evaluator) value(n *Node, dst []byte) error {
	inputs := make([]arrow.Array, len(n.inputs))
	for i, c := range n.inputs {
		var err error
		if inputs[i], err = e.column(n, c); err != nil {
			return err
		}
	}
	arr, err := n.value.Compute(memory.DefaultAllocator, inputs, e.rows, e.only)
	if err != nil {
		return err
	}
	defer arr.Release()
	if arr.Len() != e.rows {
		return fmt.Errorf("filter: %d values of %s for %d rows", arr.Len(), n.domain.Name, e.rows)
	}
	return e.test(n, arr, dst, e.rows)
}

// test evaluates a leaf on an array of a number of rows. Bits of dst past the last row are cleared.
func (e *evaluator) test(n *Node, arr arrow.Array, dst []byte, rows int) error {
	nulls, isNulls := n.Test.(Nulls)
	arr = arrowutil.Storage(arr)
	switch kinds.LayoutOf(arr.DataType()).Form {
	case kinds.Codes:
		return e.dictionary(n, arr.(*array.Dictionary), dst, rows)
	case kinds.Runs:
		return e.runs(n, arr.(*array.RunEndEncoded), dst, rows)
	case kinds.Nothing:
		clear(dst)
		if isNulls && !nulls.Not {
			fillOnes(dst, rows)
		}
		return nil
	}
	if isNulls {
		fillOnes(dst, rows)
		andBits(dst, arrowutil.Validity(arr))
		if !nulls.Not {
			invert(dst, rows)
		}
		return nil
	}
	if arr.NullN() == rows {
		clear(dst)
		return nil
	}
	if !e.testValues(n, arr, dst) {
		return fmt.Errorf("filter: no test of %s for %T", arr.DataType(), n.Test)
	}
	andBits(dst, arrowutil.Validity(arr))
	return nil
}

// testValues evaluates a test on all values of an array, those under nulls included. It returns false if the test does not
// suit the array.
func (e *evaluator) testValues(n *Node, arr arrow.Array, dst []byte) bool {
	switch t := n.Test.(type) {
	case valueset.Bools:
		a, ok := arr.(*array.Boolean)
		if ok {
			bools(t, a, dst)
		}
		return ok
	case valueset.Ints:
		return signedInts(t, arr, dst)
	case valueset.Uints:
		return unsignedInts(t, arr, dst)
	case valueset.Floats:
		return floats(t, arr, dst)
	case valueset.Decimals:
		return decimals(t, arr, dst)
	case valueset.Bytes, *Text:
		v, ok := valuesOf(arr)
		if ok {
			e.bytes(n, &v, dst)
		}
		return ok
	}
	return false
}

// Bitmaps of whole words.

func getWord(b []byte, i int) uint64    { return binary.LittleEndian.Uint64(b[8*i:]) }
func putWord(b []byte, i int, w uint64) { binary.LittleEndian.PutUint64(b[8*i:], w) }

func andWords(dst, src []byte) {
	for i := range len(dst) / 8 {
		putWord(dst, i, getWord(dst, i)&getWord(src, i))
	}
}

func orWords(dst, src []byte) {
	for i := range len(dst) / 8 {
		putWord(dst, i, getWord(dst, i)|getWord(src, i))
	}
}

func allZero(b []byte) bool {
	for i := range len(b) / 8 {
		if getWord(b, i) != 0 {
			return false
		}
	}
	return true
}

// andBits clears the bits that are clear in valid.
func andBits(dst []byte, valid bitmap.Bits) {
	if valid.Data == nil {
		return
	}
	for i := range len(dst) / 8 {
		putWord(dst, i, getWord(dst, i)&valid.Word(64*i))
	}
}

// fillOnes sets the first bits, and clears the others.
func fillOnes(dst []byte, rows int) {
	for i := range len(dst) / 8 {
		putWord(dst, i, ^uint64(0)>>max(64*(i+1)-rows, 0))
	}
}

// invert inverts the first bits, and clears the others.
func invert(dst []byte, rows int) {
	for i := range len(dst) / 8 {
		putWord(dst, i, ^getWord(dst, i)&(^uint64(0)>>max(64*(i+1)-rows, 0)))
	}
}
