package encoding

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// The kinds of a presence section, which distinguishes values and nulls
// (docs/format.md §6.4).
//
// An empty section means that there are no nulls. Otherwise byte 0 is the kind:
//
//	1 AllNulls   nothing follows
//	2 Plain      one byte for each slot: 0 is null, anything else is a value
//	3 Roaring    one byte "negated", then a Roaring bitmap in the portable format (roaring.go):
//	             the positions of the values, or of the nulls if negated is not 0
//	4 Runs       the lengths of runs (presence_runs.go), edition 2026
//
// Example, 200 slots of which number 5 is null:
//
//	03 01 | 3a 30 00 00  01 00 00 00 | 00 00 00 00 | 10 00 00 00 | 05 00
//	       cookie, 1 container        key, count-1   offset       positions
const (
	kindAllNulls = 1
	kindPlain    = 2
	kindRoaring  = 3
	kindRuns     = 4 // presence_runs.go
)

// PresenceKind returns the name of the kind of a section: none, AllNulls, Plain, Roaring, Roaring negated, Runs, or unknown.
func PresenceKind(section []byte) string {
	if len(section) == 0 {
		return "none"
	}
	switch section[0] {
	case kindAllNulls:
		return "AllNulls"
	case kindPlain:
		return "Plain"
	case kindRoaring:
		if len(section) > 1 && section[1] != 0 {
			return "Roaring negated"
		}
		return "Roaring"
	case kindRuns:
		return "Runs"
	}
	return "unknown"
}

// DecodePresence reads the section of a block of n positions, writes a bit for each position into dst from bit off on (1 =
// value), and returns the number of nulls. If dst is nil, it only checks and counts. Bits of dst outside of the range
// do not change. After an error those inside are undefined. Errors wrap fault.ErrCorrupt.
func DecodePresence(section []byte, n int, dst []byte, off int) (nulls int, err error) {
	if len(section) == 0 {
		fill(dst, off, n, true)
		return 0, nil
	}
	payload := section[1:]
	switch section[0] {
	case kindAllNulls:
		fill(dst, off, n, false)
		return n, nil
	case kindPlain:
		if len(payload) != n {
			return 0, fault.Corruptf("presence has %d bytes for %d values", len(payload), n)
		}
		return decodePlain(payload, dst, off), nil
	case kindRoaring:
		if len(payload) == 0 {
			return 0, fault.Corruptf("presence ends before its bitmap")
		}
		negated := payload[0] != 0
		fill(dst, off, n, negated)
		set, err := readRoaring(payload[1:], n, dst, off, !negated)
		if negated {
			return set, err
		}
		return n - set, err
	case kindRuns:
		fill(dst, off, n, true)
		return readRuns(payload, n, dst, off)
	}
	return 0, fault.Corruptf("presence has unknown kind %d", section[0])
}

// decodePlain converts bytes to bits, 64 at a time.
func decodePlain(src, dst []byte, off int) (nulls int) {
	n := len(src)
	present := 0
	for len(src) > 0 {
		var w uint64
		k := min(len(src), 64)
		if k == 64 {
			for i := range 8 {
				w |= gather8(binary.LittleEndian.Uint64(src[8*i:])) << (8 * i)
			}
		} else {
			for i, b := range src {
				if b != 0 {
					w |= 1 << i
				}
			}
		}
		present += bits.OnesCount64(w)
		if dst != nil {
			bitmap.PutWord(dst, off, w, k)
		}
		off += k
		src = src[k:]
	}
	return n - present
}

// gather8 converts each byte of x to one bit of the result, set unless the byte is 0. The product moves bit 8k to bit
// 56+k, without carries.
func gather8(x uint64) uint64 {
	const low, rest = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	x = ((x&rest + rest) | x) >> 7 & low
	return x * 0x0102040810204080 >> 56
}

// fill sets or clears n bits of dst, if there is one.
func fill(dst []byte, off, n int, value bool) {
	switch {
	case dst == nil:
	case value:
		bitmap.SetRange(dst, off, n)
	default:
		bitmap.ClearRange(dst, off, n)
	}
}

// AppendPresence appends the section of positions of which nulls are null. It appends nothing if nulls is 0, else AllNulls if all are, else the smallest
// kind that o allows: Runs only if it is much smaller than Roaring, which takes less time to read. Profile Plain has Plain only.
func AppendPresence(dst []byte, valid Bits, nulls int, o Options) []byte {
	switch {
	case nulls == 0:
		return dst
	case nulls == valid.Len:
		return append(dst, kindAllNulls)
	case o.Profile == ProfilePlain:
		return appendPlain(dst, valid)
	}
	negated := 2*nulls <= valid.Len
	b := newRoaring(valid, negated)
	size := min(int(b.GetSerializedSizeInBytes())+2, valid.Len+1)
	if o.Features.Has(edition.PresenceRuns) {
		if with, ok := appendRuns(dst, valid, 3*size/4); ok {
			return with
		}
	}
	if size == valid.Len+1 {
		return appendPlain(dst, valid)
	}
	flag := byte(0)
	if negated {
		flag = 1
	}
	out := bytes.NewBuffer(append(dst, kindRoaring, flag))
	_, _ = b.WriteTo(out) // never fails
	return out.Bytes()
}

func appendPlain(dst []byte, valid bitmap.Bits) []byte {
	dst = append(dst, kindPlain)
	for i := 0; i < valid.Len; i += 64 {
		w := valid.Word(i)
		for range min(valid.Len-i, 64) {
			dst = append(dst, byte(w&1))
			w >>= 1
		}
	}
	return dst
}
