package aggregate

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/bitmap"
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
	column column.Column // the array without wrappers, if it is needed
}

// load sets the values of a batch. The views of integers are made later if all rows are one group, whose sum may need none.
func (a *argument) load(mem memory.Allocator, arr arrow.Array, whole bool) error {
	a.arr = arr
	if d, ok := arr.(*array.Dictionary); ok && a.needs == 0 {
		var err error
		a.valid, a.nulls, err = a.column.CodedValidity(d)
		return err
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

func (a *argument) release() {
	a.arr = nil
	a.column.Release()
}
