package arrowutil

import (
	"fmt"
	"math"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Relist makes lists of another type out of lists of any type: of 32 or 64 bits, views, of a fixed size. The items of null lists are
// dropped; those of lists in ascending order without gaps are shared, not copied. If convert is not nil, it makes the items of the new
// type out of the old ones, whose row it can ask for. The caller releases the result.
func Relist(mem memory.Allocator, arr arrow.Array, to arrow.ListLikeType, convert func(items arrow.Array, row func(item int) int) (arrow.Array, error)) (arrow.Array, error) {
	n, fixed := arr.Len(), -1
	if t, ok := to.(*arrow.FixedSizeListType); ok {
		if fixed = int(t.Len()); fixed > 0 && n > math.MaxInt32/fixed {
			return nil, &TooLongError{Type: to}
		}
	}
	v, valid := kinds.Open(arr), Validity(arr)
	ends := make([]int64, n+1)
	shared, at := true, int64(-1)
	for i := range n {
		size := int64(0)
		from, end := v.Range(i)
		switch {
		case !valid.At(i):
			shared = shared && fixed <= 0 && from == end
			size = int64(max(fixed, 0))
		case fixed >= 0 && end-from != int64(fixed):
			return nil, fmt.Errorf("a list of %d items, where %s has %d", end-from, to, fixed)
		case end > from:
			shared = shared && (at < 0 || at == from)
			size, at = end-from, end
		}
		ends[i+1] = ends[i] + size
	}
	l, put := kinds.LayoutOf(to), integers64
	if l.Width == 4 {
		if put = integers32; ends[n] > math.MaxInt32 {
			return nil, &TooLongError{Type: to}
		}
	}
	items, err := listItems(mem, v, valid.At, ends, shared, at)
	if err != nil {
		return nil, err
	}
	defer items.Release()
	if convert != nil {
		items, err = convert(items, func(item int) int {
			return sort.Search(n, func(i int) bool { return ends[i+1] > int64(item) })
		})
		if err != nil {
			return nil, err
		}
		defer items.Release()
	}
	buffers := []*memory.Buffer{CopyValidity(mem, arr)}
	switch l.Form {
	case kinds.Rows:
		buffers = append(buffers, put(mem, ends))
	case kinds.RowViews:
		sizes := make([]int64, n)
		for i := range sizes {
			sizes[i] = ends[i+1] - ends[i]
		}
		buffers = append(buffers, put(mem, ends[:n]), put(mem, sizes))
	}
	items.Data().Retain()
	return Make(to, n, buffers, []arrow.ArrayData{items.Data()}, NullN(arr)), nil
}

// listItems are the items of lists, one list behind the other, up to the ends of lists. If they are shared, at is their end. Those of a
// null are null.
func listItems(mem memory.Allocator, v kinds.View, valid func(int) bool, ends []int64, shared bool, at int64) (arrow.Array, error) {
	total := ends[len(ends)-1]
	if shared {
		return array.NewSlice(v.Parts[0], max(at, total)-total, max(at, total)), nil
	}
	rows := make([]int64, 0, min(total, 1<<20)) // views may overlap
	for i := range len(ends) - 1 {
		from, _ := v.Range(i)
		for k := range ends[i+1] - ends[i] {
			if valid(i) {
				rows = append(rows, from+k)
			} else {
				rows = append(rows, -1)
			}
		}
	}
	return Take(mem, v.Parts[0], rows)
}

func integers32(mem memory.Allocator, values []int64) *memory.Buffer {
	b := NewBuffer(mem, 4*len(values))
	for i, to := 0, As[int32](b.Bytes()); i < len(to); i++ {
		to[i] = int32(values[i])
	}
	return b
}

func integers64(mem memory.Allocator, values []int64) *memory.Buffer {
	b := NewBuffer(mem, 8*len(values))
	copy(As[int64](b.Bytes()), values)
	return b
}
