// Package elements has the elements of lists beside each other, and joins values that are computed of them in each row.
package elements

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Rows are the elements of rows.
type Rows struct {
	N      int
	Bounds func(row int) (lo, hi int) // of the elements of a row; the first one has those from 0 on
	Valid  bitmap.Bits                // rows with a list
	Values []arrow.Array              // the elements of each list; none for those in JSON
}

// Release releases the elements.
func (r *Rows) Release() { arrowutil.ReleaseAll(r.Values) }

// A Misfit is a row whose lists have different numbers of elements.
type Misfit struct{ First, Other int }

// Add adds the elements of another list, which remains the caller's. A row among some that has not as many of them as of the first list is a misfit.
func (r *Rows) Add(mem memory.Allocator, list array.ListLike, only bitmap.Bits) (*Misfit, error) {
	view := kinds.Open(list)
	first, last := view.Span(r.N)
	r.Values = append(r.Values, array.NewSlice(list.ListValues(), first, last))
	ends := make([]int, r.N+1)
	for row := range r.N {
		_, hi := list.ValueOffsets(row)
		ends[row+1] = int(hi - first)
	}
	bounds, valid := func(row int) (int, int) { return ends[row], ends[row+1] }, bitmap.All(r.N)
	if arrowutil.NullN(list) > 0 {
		valid = arrowutil.Validity(list)
	}
	if len(r.Values) == 1 {
		r.Bounds, r.Valid = bounds, valid
		return nil, nil
	}
	return r.align(mem, bounds, valid, only)
}

// align puts the elements of the last list beside those of the first.
func (r *Rows) align(mem memory.Allocator, bounds func(row int) (int, int), valid, only bitmap.Bits) (*Misfit, error) {
	both := make([]byte, (r.N+7)/8)
	for i := 0; i < r.N; i += 64 {
		bitmap.PutWord(both, i, r.Valid.Word(i)&valid.Word(i), min(64, r.N-i))
	}
	r.Valid = bitmap.Bits{Data: both, Len: r.N}
	var beside []int64
	same := true
	for row := range r.N {
		lo, hi := r.Bounds(row)
		from, to := bounds(row)
		same = same && lo == from && hi == to
		fits := hi-lo == to-from && r.Valid.At(row)
		if !fits && r.Valid.At(row) && only.At(row) {
			return &Misfit{hi - lo, to - from}, nil
		}
		for i := range hi - lo {
			at := int64(-1)
			if fits {
				at = int64(from + i)
			}
			beside = append(beside, at)
		}
	}
	if same {
		return nil, nil
	}
	last := &r.Values[len(r.Values)-1]
	taken, err := arrowutil.Take(mem, *last, beside)
	if err == nil {
		(*last).Release()
		*last = taken
	}
	return nil, err
}

// Of is the row of each element, -1 for those of null lists.
func (r *Rows) Of() []int64 {
	var out []int64
	for row := range r.N {
		lo, hi := r.Bounds(row)
		at := int64(-1)
		if r.Valid.At(row) {
			at = int64(row)
		}
		for range hi - lo {
			out = append(out, at)
		}
	}
	return out
}

// Reduce is count, sum, avg, min or max of the values that are computed of the elements of each row: an array of int64, uint64 or float64. Nulls are left
// out, and count counts trues if the values are booleans. NaN is greater than all numbers. The result is nil if a sum is out of range for a row with some elements.
func (r *Rows) Reduce(mem memory.Allocator, name string, dt arrow.DataType, values arrow.Array, only bitmap.Bits) arrow.Array {
	switch truth, ok := values.(*array.Boolean); {
	case name == "count":
		return joined(r, mem, name, dt, values, only, sum[int64], func(i int) int64 {
			if !ok || truth.Value(i) {
				return 1
			}
			return 0
		})
	case dt.ID() == arrow.INT64:
		return joined(r, mem, name, dt, values, only, sum[int64], at[int64](values))
	case dt.ID() == arrow.UINT64:
		return joined(r, mem, name, dt, values, only, sum[uint64], at[uint64](values))
	}
	return joined(r, mem, name, dt, values, only, func(a, b float64) (float64, bool) { return a + b, true }, at[float64](values))
}

type number interface{ int64 | uint64 | float64 }

func at[T number](values arrow.Array) func(i int) T {
	v := arrowutil.Values[T](values)
	return func(i int) T { return v[i] }
}

// sum is the sum of integers, unless it is out of range.
func sum[T int64 | uint64](a, b T) (T, bool) { return a + b, (a+b > a) == (b > 0) }

func before[T number](a, b T) bool { return a < b || b != b && a == a }

// joined joins the values of the elements of each row.
func joined[T number](r *Rows, mem memory.Allocator, name string, dt arrow.DataType, values arrow.Array, only bitmap.Bits, join func(a, b T) (T, bool), at func(i int) T) arrow.Array {
	switch name {
	case "min":
		join = func(a, b T) (T, bool) {
			if before(b, a) {
				return b, true
			}
			return a, true
		}
	case "max":
		join = func(a, b T) (T, bool) {
			if before(a, b) {
				return b, true
			}
			return a, true
		}
	}
	data, valid := arrowutil.NewBuffer(mem, 8*r.N), arrowutil.NewZeroBuffer(mem, (r.N+7)/8)
	out, nulls := arrowutil.As[T](data.Bytes()), 0
	for row := range r.N {
		lo, hi := r.Bounds(row)
		var all T
		k := 0
		for i := lo; i < hi; i++ {
			if values.IsNull(i) {
				continue
			}
			if k++; k == 1 {
				all = at(i)
				continue
			}
			var ok bool
			if all, ok = join(all, at(i)); !ok && only.At(i) {
				data.Release()
				valid.Release()
				return nil
			}
		}
		if name == "avg" && k > 0 {
			all /= T(k)
		}
		out[row] = all
		if r.Valid.At(row) && (k > 0 || name == "sum" || name == "count") {
			bitmap.SetRange(valid.Bytes(), row, 1)
		} else {
			nulls++
		}
	}
	return arrowutil.Make(dt, r.N, []*memory.Buffer{valid, data}, nil, nulls)
}
