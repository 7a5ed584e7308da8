// Package histogram counts values in bins of equal width, as numpy does. A value is in a bin if it is at least its lower bound and less than its
// upper one, or in the last bin equal to that.
package histogram

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// MostBins bounds the memory of a histogram.
const MostBins = 1 << 20

// Type is the type of a histogram as a value: a list of its bins.
var Type = arrow.ListOf(arrow.StructOf(
	arrow.Field{Name: "from", Type: arrow.PrimitiveTypes.Float64}, arrow.Field{Name: "to", Type: arrow.PrimitiveTypes.Float64},
	arrow.Field{Name: "count", Type: arrow.PrimitiveTypes.Int64}))

// Bins are the bounds of bins: each begins where the one before ends.
type Bins []float64

// New divides a range into n bins. ok is false if floats do not tell their bounds.
func New(lo, hi float64, n int) (bins Bins, ok bool) {
	step := (hi - lo) / float64(n)
	if !(step > 0) || math.IsInf(step, 0) || lo+step == lo || hi-step == hi {
		return nil, false
	}
	bins = make(Bins, n+1)
	for i := range bins {
		bins[i] = lo + float64(i)*step
	}
	bins[n] = hi
	return bins, true
}

// Len is the number of bins.
func (b Bins) Len() int { return len(b) - 1 }

// Find is the bin of a value, or -1.
func (b Bins) Find(x float64) int {
	n := b.Len()
	lo, hi := b[0], b[n]
	if !(x >= lo && x <= hi) {
		return -1
	}
	k := min(int((x-lo)/(hi-lo)*float64(n)), n-1)
	for k > 0 && x < b[k] { // the quotient is rounded
		k--
	}
	for k < n-1 && x >= b[k+1] {
		k++
	}
	return k
}

// Array makes values of the counts of the bins of each histogram; nil stands for zeros.
func (b Bins) Array(mem memory.Allocator, counts [][]int64) arrow.Array {
	list := array.NewListBuilder(mem, Type.Elem())
	defer list.Release()
	bin := list.ValueBuilder().(*array.StructBuilder)
	for _, of := range counts {
		list.Append(true)
		for k := range b.Len() {
			count := int64(0)
			if of != nil {
				count = of[k]
			}
			bin.Append(true)
			bin.FieldBuilder(0).(*array.Float64Builder).Append(b[k])
			bin.FieldBuilder(1).(*array.Float64Builder).Append(b[k+1])
			bin.FieldBuilder(2).(*array.Int64Builder).Append(count)
		}
	}
	return list.NewArray()
}

// Elements are the elements of lists, which the caller releases, and what of has for their rows: 0 for null ones.
func Elements(list array.ListLike, of []uint32) (arrow.Array, []uint32) {
	view := kinds.Open(list)
	first, last := view.Span(list.Len())
	items := array.NewSlice(list.ListValues(), first, last)
	out := make([]uint32, items.Len())
	for i, v := range of {
		lo, hi := list.ValueOffsets(i)
		for k := lo; k < hi && list.IsValid(i); k++ {
			if items.IsValid(int(k - first)) {
				out[k-first] = v
			}
		}
	}
	return items, out
}
