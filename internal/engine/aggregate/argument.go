package aggregate

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
)

// needs are the views of an argument that states read. They are made before the states run at the same time.
type needs int

const (
	needPlain needs = 1 << iota
	needIntegers
	needNumbers
	needReals
	needOrdinals
)

// argument is the value of an expression for the rows of a batch.
type argument struct {
	name  string // for messages
	dt    arrow.DataType
	needs needs

	arr    arrow.Array // as it came; owned by the batch
	valid  bitmap.Bits
	nulls  int
	bits   []byte        // memory of valid
	column column.Column // the array without wrappers, if it is needed
}

// load sets the values of a batch. The views of integers are made later if all rows are one group, whose sum may need none.
func (a *argument) load(mem memory.Allocator, arr arrow.Array, whole bool) error {
	a.arr = arr
	if d, ok := arr.(*array.Dictionary); ok && a.needs == 0 {
		return a.loadCoded(d)
	}
	if err := a.column.Load(mem, arr); err != nil {
		return err
	}
	a.valid, a.nulls = a.column.Valid, a.column.Nulls
	if a.needs&needIntegers != 0 && !whole {
		a.column.Exact()
	}
	if a.needs&needNumbers != 0 {
		a.column.Numbers()
	}
	if a.needs&needReals != 0 {
		a.column.Reals()
	}
	if a.needs&needOrdinals != 0 {
		a.column.Ordinals()
	}
	return nil
}

// loadCoded finds which values of a column with a dictionary are null, which is all that is asked of it.
func (a *argument) loadCoded(d *array.Dictionary) error {
	a.valid, a.nulls = arrowutil.Validity(d), arrowutil.NullN(d)
	if arrowutil.NullN(d.Dictionary()) == 0 {
		return nil
	}
	code, entries, codes := arrowutil.Integers(d.Indices()), arrowutil.Validity(d.Dictionary()), a.valid
	a.bits = column.Resized(a.bits, (d.Len()+7)/8)
	clear(a.bits)
	a.valid, a.nulls = bitmap.Bits{Data: a.bits, Len: d.Len()}, d.Len()
	for i := range d.Len() {
		if codes.Data != nil && !codes.At(i) {
			continue
		}
		x := code(i)
		if uint64(x) >= uint64(d.Dictionary().Len()) {
			return fault.Corruptf("row %d of a batch refers to no value of its dictionary", i)
		}
		if entries.At(int(x)) {
			a.bits[i>>3] |= 1 << (i & 7)
			a.nulls--
		}
	}
	return nil
}

func (a *argument) release() {
	a.arr = nil
	a.column.Release()
}
