package bytestring

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// SingleValue, code 7: all values but the nulls are the same.
//
//	07 00 | the value, to the end
//
// Null slots are empty, or zeros if values have a fixed size. We do not write it
// for those: the reference cannot read it back. Example, "ab": 07 00 61 62.

func parseSingleValue(b *Block, tree []byte, _ int64) (uint64, error) {
	b.payload = tree[2:]
	present := uint64(b.n - b.nulls)
	if b.fixed > 0 && present > 0 && len(b.payload) != b.fixed {
		return 0, fault.Corruptf("value of %d bytes instead of %d", len(b.payload), b.fixed)
	}
	return present * uint64(len(b.payload)), nil // below 2^64: 2^31 times 2^32 at most
}

func repeat[O int32 | int64](b *Block, from, to int, dst []byte, offsets []O, base O) error {
	valid := b.present().Slice(from, to)
	if b.fixed > 0 && valid.Data != nil {
		for i := range to - from {
			slot := dst[i*b.fixed : (i+1)*b.fixed]
			if valid.At(i) {
				copy(slot, b.payload)
			} else {
				clear(slot)
			}
		}
		return nil
	}
	fill(dst, b.payload)
	for i := range offsets {
		if valid.At(i) {
			base += O(len(b.payload))
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

var singleValue = row{
	Row: encode.Row{
		Code:    encoding.SingleValue,
		Certain: true,
		Suits: func(_ *encode.Workspace, in *encode.Input, _ *encode.Learned) bool {
			return in.Fixed == 0 // the reference cannot read others
		},
		Append: func(_ *encode.Workspace, dst []byte, in *encode.Input, _ encode.Request) ([]byte, bool, error) {
			value, ok := in.Same()
			if !ok {
				return dst, false, nil
			}
			return append(binary.LittleEndian.AppendUint16(dst, uint16(encoding.SingleValue)), value...), true, nil
		},
	},
	parse: parseSingleValue,
	put32: repeat[int32],
	put64: repeat[int64],
	rangeLen: func(b *Block, from, to int) int {
		return b.present().Slice(from, to).Count() * len(b.payload)
	},
	describe: func(d *describer) { d.Rest("value") },
}

// Single gives the value that all slots of the block but the nulls have; ok is
// false for blocks not stored like that.
func (b *Block) Single() (value []byte, ok bool) {
	return b.payload, b.row == &singleValue
}
