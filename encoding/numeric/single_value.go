package numeric

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// SingleValue, code 7, all types: one value stands for all slots, nulls too.
//
//	07 00 | value, little-endian
//
// There are no zeros behind the code. Example, int32 7, 7, 7:
//
//	07 00 | 07 00 00 00
func decodeSingleValue[U word](dst []U, tree []byte) error {
	if len(tree) < 2+sizeOf[U]() {
		return fault.Corruptf("%d bytes for a value of %d", len(tree)-2, sizeOf[U]())
	}
	fill(dst, loadOne[U](tree[2:]))
	return nil
}

// appendSingleValue writes the one value of in, or its runs if it has several.
func appendSingleValue[U word](e *enc, dst []byte, in input[U]) []byte {
	if len(in.values) == 0 {
		return appendPlain(dst, in.values)
	}
	v := in.values[0]
	for _, other := range in.values {
		if other != v {
			return appendRunLength(e, dst, in, &plan{code: encoding.RunLength, kids: [2]*plan{{}, {code: encoding.FLBitPack}}})
		}
	}
	return storeOne(appendCode(dst, encoding.SingleValue), v)
}
