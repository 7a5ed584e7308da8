package dictionary

import (
	"bytes"
	"cmp"

	"github.com/amudai/amudai-go/encoding/numeric"
)

// NumberKey returns the key of stored numbers of a type: a number that has their order. Floats have the order of their bits, by which -0.0 is less
// than 0.0, and NaN, by its sign, less or greater than all others.
func NumberKey(t numeric.Type) func(value []byte) uint64 {
	const sign = 1 << 63
	return func(value []byte) uint64 {
		var b [8]byte
		copy(b[8-t.Size():], value)
		key := le.Uint64(b[:])
		switch {
		case t.Unsigned():
			return key
		case t.Float() && key >= sign:
			return ^key
		}
		return key ^ sign
	}
}

// compare compares values by their keys, or as bytes if key is nil.
func compare(key func(value []byte) uint64, x, y []byte) int {
	if key == nil {
		return bytes.Compare(x, y)
	}
	return cmp.Compare(key(x), key(y))
}
