package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// SingleValue, code 7: all values but the nulls are the same.
//
//	07 00 | the value, to the end
//
// Null slots are empty, or zeros if values have a fixed size. We do not write it
// for those: the reference cannot read it back. Example, "ab": 07 00 61 62.

func parseSingleValue(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	t.Payload, t.Single = r.Rest("value"), true
	present := uint64(t.N - t.Nulls)
	if t.Fixed > 0 && present > 0 && len(t.Payload) != t.Fixed {
		return 0, fault.Corruptf("value of %d bytes instead of %d", len(t.Payload), t.Fixed)
	}
	return present * uint64(len(t.Payload)), nil // below 2^64: 2^31 times 2^32 at most
}

func repeat[O int32 | int64](t *tree.Tree, from, to int, dst []byte, offsets []O, base O) error {
	valid := t.Present().Slice(from, to)
	if t.Fixed > 0 && valid.Data != nil {
		for i := range to - from {
			slot := dst[i*t.Fixed : (i+1)*t.Fixed]
			if valid.At(i) {
				copy(slot, t.Payload)
			} else {
				clear(slot)
			}
		}
		return nil
	}
	fill(dst, t.Payload)
	for i := range offsets {
		if valid.At(i) {
			base += O(len(t.Payload))
		}
		offsets[i] = base
	}
	return nil
}

// fill repeats value all over dst.
func fill(dst, value []byte) {
	if len(value) == 0 {
		return
	}
	for done := copy(dst, value); done < len(dst); done *= 2 {
		copy(dst[done:], dst[:done])
	}
}

var singleValue = encode.Row{
	Row: tree.Row{
		Code:   encoding.SingleValue,
		Layout: func(r *tree.Reader) { r.Rest("value") },
		Parse:  parseSingleValue,
		Put32:  repeat[int32],
		Put64:  repeat[int64],
		RangeLen: func(t *tree.Tree, from, to int) int {
			return t.Present().Slice(from, to).Count() * len(t.Payload)
		},
	},
	Certain: true,
	Suits: func(_ *encode.Workspace, in *encode.Input, _ *encode.Learned) bool {
		return in.Fixed == 0 // the reference cannot read others
	},
	Append: func(_ *encode.Workspace, dst []byte, in *encode.Input, _ encode.Request) ([]byte, bool) {
		value, ok := in.Same()
		if !ok {
			return dst, false
		}
		return append(binary.LittleEndian.AppendUint16(dst, uint16(encoding.SingleValue)), value...), true
	},
}
