package structs

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// sharedBytes bounds what a value that is kept keeps in memory beside itself.
const sharedBytes = 64 << 10

// textReader copies strings or slices of bytes. Short neighbours are copied together.
type textReader[B string | []byte] struct {
	n       *node
	scatter func(n *node, s span, values []B, valid bitmap.Bits) error
	arr     arrow.Array
	cut     func(dst []B, from, to int) []B
	loose   []B
}

func (r *textReader[B]) open(arr arrow.Array) error {
	r.arr = arr
	switch a := arr.(type) {
	case *array.FixedSizeBinary:
		r.cut = func(dst []B, from, to int) []B {
			for i := from; i < to; i++ {
				dst = append(dst, clone[B](a.Value(i)))
			}
			return dst
		}
	case *array.LargeString, *array.LargeBinary:
		offsets, data := arrowutil.Offsets[int64](arr), textOf(arr)
		r.cut = func(dst []B, from, to int) []B { return cutText(dst, data, offsets[from:to+1]) }
	default:
		offsets, data := arrowutil.Offsets[int32](arr), textOf(arr)
		r.cut = func(dst []B, from, to int) []B { return cutText(dst, data, offsets[from:to+1]) }
	}
	return nil
}

// textOf is the buffer of all bytes, which may be missing if there are none.
func textOf(arr arrow.Array) []byte {
	if b := arr.Data().Buffers()[2]; b != nil {
		return b.Bytes()
	}
	return nil
}

func (r *textReader[B]) read(from int, to span) error {
	r.loose = r.cut(r.loose[:0], from, from+to.n)
	defer clear(r.loose) // so that it keeps no text in memory
	return r.scatter(r.n, to, r.loose, validOf(r.arr, from, to.n))
}

// cutText appends copies of texts.
func cutText[B string | []byte, O int32 | int64](dst []B, data []byte, offsets []O) []B {
	first, last := offsets[0], offsets[len(offsets)-1]
	if last-first > sharedBytes {
		for i, to := range offsets[1:] {
			dst = append(dst, clone[B](data[offsets[i]:to]))
		}
		return dst
	}
	all := clone[B](data[first:last])
	from := O(0)
	for _, to := range offsets[1:] {
		to -= first
		dst = append(dst, all[from:to])
		from = to
	}
	return dst
}

// clone copies bytes. Of none it makes an empty slice, because nil is null.
func clone[B string | []byte](b []byte) (out B) {
	switch p := any(&out).(type) {
	case *string:
		*p = string(b)
	case *[]byte:
		*p = append([]byte{}, b...)
	}
	return out
}
