package read

import (
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/rntuple/internal/column"
)

// copyValues copies n values from value from of src to value at of dst. Both are buffers
// of values of a kind.
func copyValues(dst []byte, at int64, src []byte, from, n int64, k column.Kind) {
	if k == column.KindBool {
		bitmap.Bits{Data: src, Off: int(from), Len: int(n)}.CopyTo(dst, int(at))
		return
	}
	width := int64(k.Size(1))
	copy(dst[at*width:(at+n)*width], src[from*width:])
}

// clearValues makes n values zero, from value at of dst on.
func clearValues(dst []byte, at, n int64, k column.Kind) {
	if k == column.KindBool {
		bitmap.ClearRange(dst, int(at), int(n))
		return
	}
	width := int64(k.Size(1))
	clear(dst[at*width : (at+n)*width])
}
