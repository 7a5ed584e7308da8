package structs

import (
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// span is a run of values of one Go type, each as many bytes behind the one before it: the items of a slice, or a field of all structs in one.
//
//	[]Order       at the first one, step Sizeof(Order)
//	Order.City    at the first one's field, the same step
type span struct {
	at   unsafe.Pointer
	step uintptr
	n    int
}

// spanOf is the span of a slice.
func spanOf[T any](values []T) span {
	var v T
	return span{unsafe.Pointer(unsafe.SliceData(values)), unsafe.Sizeof(v), len(values)}
}

// value is the address of a value.
func (s span) value(i int) unsafe.Pointer { return unsafe.Add(s.at, uintptr(i)*s.step) }

// field is the span of a field of structs.
func (s span) field(offset uintptr) span {
	if s.n == 0 {
		return s
	}
	return span{unsafe.Add(s.at, offset), s.step, s.n}
}

// part is the values from one up to another.
func (s span) part(from, to int) span {
	if from == to { // else it may begin behind all memory of the span
		return span{s.at, s.step, 0}
	}
	return span{s.value(from), s.step, to - from}
}

// slice is a slice in memory, whatever its items are.
type slice struct {
	at       unsafe.Pointer // nil only if the slice is
	len, cap int
}

// gather appends the values of a span of type X, or of a type that is made of X. If they are pointers, it takes what these point to, and
// tells which are not nil.
func gather[X any](n *node, dst []X, valid *validity, s span) []X {
	from := len(dst)
	dst = slices.Grow(dst, s.n)[:from+s.n]
	if !n.pointer {
		for i := range s.n {
			dst[from+i] = *(*X)(s.value(i))
		}
		return dst
	}
	for i := range s.n {
		p := *(**X)(s.value(i))
		if valid.add(p != nil); p != nil {
			dst[from+i] = *p
		} else {
			clear(dst[from+i:][:1])
		}
	}
	return dst
}

// scatter sets the values of a span. Where valid is not set they are null, which is an error unless they are pointers.
func scatter[X any](n *node, s span, values []X, valid bitmap.Bits) error {
	if !n.pointer {
		if valid.Nulls() > 0 {
			return nullError(n, valid)
		}
		for i, v := range values {
			*(*X)(s.value(i)) = v
		}
		return nil
	}
	fresh := slices.Clone(values)
	for i := range fresh {
		p := (**X)(s.value(i))
		*p = nil
		if valid.At(i) {
			*p = &fresh[i]
		}
	}
	return nil
}

// scatterBytes is scatter for slices of bytes, which are nil for null.
func scatterBytes(_ *node, s span, values [][]byte, valid bitmap.Bits) error {
	for i, v := range values {
		p := (*[]byte)(s.value(i))
		*p = nil
		if valid.At(i) {
			*p = slices.Clip(v) // so that appending to one does not change its neighbour
		}
	}
	return nil
}

// nullError is the error of the first null.
func nullError(n *node, valid bitmap.Bits) error {
	row := 0
	for valid.At(row) {
		row++
	}
	return n.failed(row, "the value is null, which %s cannot be; *%s can", n.goType, n.goType)
}

// validity tells which of some values are not null.
type validity struct {
	bits []byte
	n    int
}

func (v *validity) add(valid bool) {
	if v.n&7 == 0 {
		v.bits = append(v.bits, 0)
	}
	if valid {
		v.bits[v.n>>3] |= 1 << (v.n & 7)
	}
	v.n++
}

func (v *validity) addIf(nullable, valid bool) {
	if nullable {
		v.add(valid)
	}
}

func (v *validity) reset() { v.bits, v.n = v.bits[:0], 0 }

func (v *validity) at(i int) bool { return v.bits[i>>3]>>(i&7)&1 != 0 }

// buffer is nil for values that cannot be null.
func (v *validity) buffer() *memory.Buffer {
	if v.n == 0 {
		return nil
	}
	return memory.NewBufferBytes(v.bits)
}
