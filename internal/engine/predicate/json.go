package predicate

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/jsonvalues"
)

func (c Column) json() jsonvalues.Column { return jsonvalues.Column{Path: c.Inside, Kind: c.kind} }

// Values are the values of the column, of an array of the field that [Column.Index] leads to: the array itself, what is within its JSON
// texts, or their lengths. The caller releases them.
func (c Column) Values(arr arrow.Array) (arrow.Array, error) {
	if c.Lengths && !c.Measured {
		return arrowutil.Lengths(memory.DefaultAllocator, arr)
	}
	if c.Inside == nil {
		arr.Retain()
		return arr, nil
	}
	return c.json().Extract(arr)
}

// Elements are the values of the column within the elements of arrays: its path goes on behind that to the array, common names long. The
// caller releases them.
func (c Column) Elements(a *jsonvalues.Arrays, common int) arrow.Array {
	return c.json().Elements(a, common)
}

// Part is a part of the elements of a list, null where a struct around it is: what is at an index within them. The caller releases it.
func (c Column) Part(elements arrow.Array, index []int) (arrow.Array, error) {
	field, err := Child(elements, index)
	if err != nil || !c.Derived() {
		return field, err
	}
	defer field.Release()
	return c.Values(field)
}
