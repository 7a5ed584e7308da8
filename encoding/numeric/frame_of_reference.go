package numeric

import (
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
)

// FOR, code 3, integers (T of size bytes, U the unsigned type of that size):
//
//	03 00 | T reference | zeros up to 8, or 16 if size is 8 | tree of n U: value - reference, modulo 2^bits
//
// FFOR, code 4, packs the differences itself:
//
//	04 00 | T reference | u8 W | zeros up to 8, or 16 | ceil(n/1024) chunks of 128*W bytes
//
// Example, the header of FFOR with int64 reference 1000 and 2 bits:
//
//	04 00 | e8 03 00 00 00 00 00 00 | 02 | 00 00 00 00 00
func decodeFOR[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	base, payload, err := parseFOR[U](tree)
	if err != nil {
		return err
	}
	p, ok, err := parsePacked[U](payload, t.unsigned(), len(dst))
	if err != nil {
		return err
	}
	if ok {
		p.base += base
		p.unpack(dst, s)
		return nil
	}
	if err := decode(dst, payload, t.unsigned(), s); err != nil {
		return err
	}
	if base != 0 {
		for i := range dst {
			dst[i] += base
		}
	}
	return nil
}

func parseFOR[U word](tree []byte) (base U, payload []byte, err error) {
	header, payload, err := split(tree, sizeOf[U]())
	if err != nil {
		return 0, nil, err
	}
	return loadOne[U](header), payload, nil
}

func decodeFFOR[U word](dst []U, tree []byte, s *Scratch) error {
	p, err := parseFFOR[U](tree, len(dst))
	if err != nil {
		return err
	}
	p.unpack(dst, s)
	return nil
}

func parseFFOR[U word](tree []byte, n int) (packed[U], error) {
	size := sizeOf[U]()
	header, payload, err := split(tree, size+1)
	if err != nil {
		return packed[U]{}, err
	}
	return newPacked(loadOne[U](header), int(header[size]), payload, n)
}

// appendFFOR packs the distances from the least value, in the order of in.
func appendFFOR[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	if p.width > 0 {
		return appendFFORAs(e, dst, in.values, U(p.reference), p.width)
	}
	low, high := in.bounds()
	if low == high {
		return appendSingleValue(e, dst, in)
	}
	return appendFFORAs(e, dst, in.values, low, bits.Len64(uint64(high-low)))
}

func appendFFORAs[U word](e *enc, dst []byte, values []U, low U, w int) []byte {
	start := len(dst)
	dst = append(storeOne(appendCode(dst, encoding.FFOR), low), byte(w))
	return appendChunks(e, padTree(dst, start), values, low, w)
}

func appendFOR[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	if p.width > 0 {
		return appendFORAs(e, dst, in, U(p.reference), p)
	}
	low, _ := in.bounds()
	return appendFORAs(e, dst, in, low, p)
}

// appendFORAs writes the distances from a reference, which need not be the
// least value: they wrap.
func appendFORAs[U word](e *enc, dst []byte, in input[U], reference U, p *plan) []byte {
	mark := e.scratch.mark()
	distances := take[U](&e.scratch, len(in.values))
	for i, v := range in.values {
		distances[i] = v - reference
	}
	start := len(dst)
	dst = padTree(storeOne(appendCode(dst, encoding.FOR), reference), start)
	dst = appendTree(e, dst, in.child(distances, in.t.unsigned(), encoding.FOR, 0), p.kids[0])
	e.scratch.release(mark)
	return dst
}
