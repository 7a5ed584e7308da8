package numeric

import (
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
