package numeric

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/fastlanes"
)

// ZigZag, code 18, signed integers:
//
//	12 00 | nested flag | 5 zeros | tree of n U, or n little-endian U
//
// U is the unsigned type of the same width, and -1, 1, -2 become 1, 2, 3:
// z = v << 1 ^ v >> (bits-1). Writers always nest, because the reference cannot
// read the raw form. Example, int8 -1, 2 over Plain:
//
//	12 00 | 01 | 00 00 00 00 00 | 01 00 01 04
func decodeZigZag[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	header, payload, err := split(tree, 1)
	if err != nil {
		return err
	}
	if header[0] != 0 {
		p, ok, err := parsePacked[U](payload, t.unsigned(), len(dst))
		if err != nil {
			return err
		}
		if ok {
			for at := 0; at < len(dst); at += fastlanes.ChunkLen {
				c := dst[at:min(at+fastlanes.ChunkLen, len(dst))]
				p.chunk(c, at, s)
				unZigZag(c)
			}
			return nil
		}
	}
	if err := decodePartExactly(dst, payload, header[0] != 0, t.unsigned(), s); err != nil {
		return err
	}
	unZigZag(dst)
	return nil
}

func unZigZag[U word](dst []U) {
	for i, z := range dst {
		dst[i] = z>>1 ^ -(z & 1)
	}
}

func appendZigZag[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	mark := e.scratch.mark()
	z := take[U](&e.scratch, len(in.values))
	sign := bitsOf[U]() - 1
	for i, v := range in.values {
		z[i] = v<<1 ^ -(v >> sign)
	}
	start := len(dst)
	dst = appendHeader(dst, encoding.ZigZag, 1)
	dst[start+2] = 1
	kid := p.kids[0]
	if kid != nil && kid.code == 0 { // the reference cannot read raw ones
		kid = &plan{code: encoding.Plain}
	}
	dst = appendTree(e, dst, in.child(z, in.t.unsigned(), encoding.ZigZag, 0), kid)
	e.scratch.release(mark)
	return dst
}
