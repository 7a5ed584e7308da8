package numeric

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Plain, code 1, all types:
//
//	01 00 | n values, little-endian
//
// There are no zeros behind the code: values begin at byte 2. Example, int16 5, -1:
//
//	01 00 | 05 00 ff ff
func decodePlain[U word](dst []U, tree []byte) error { return loadExactly(dst, tree[2:]) }

// loadExactly reads raw values that take all of src.
func loadExactly[U word](dst []U, src []byte) error {
	if len(src) != len(dst)*sizeOf[U]() {
		return fault.Corruptf("%d bytes for %d values of %d bytes", len(src), len(dst), sizeOf[U]())
	}
	load(dst, src)
	return nil
}

// loadSome reads raw values from a part that may be longer.
func loadSome[U word](dst []U, src []byte) error {
	if len(src)/sizeOf[U]() < len(dst) {
		return fault.Corruptf("%d bytes for %d values of %d bytes", len(src), len(dst), sizeOf[U]())
	}
	load(dst, src)
	return nil
}

func appendPlain[U word](dst []byte, values []U) []byte {
	return store(appendCode(dst, encoding.Plain), values)
}
