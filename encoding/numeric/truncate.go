package numeric

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/fastlanes"
)

// TruncateU8, U16, U32, U64, codes 8 to 11, signed integers at least as wide as
// what they are cut to (X bits; none for int8):
//
//	08 00 | nested flag | 5 zeros | tree of n uX, or n little-endian uX
//
// The low X bits of each value are kept; reading extends their sign. Where X is
// the width of the type this is a mere cast, to reach FLBitPack. Example, int32
// -1, 2, 127:
//
//	08 00 | 00 | 00 00 00 00 00 | ff 02 7f
func decodeTruncate[U word](dst []U, code encoding.Code, tree []byte, s *Scratch) error {
	header, payload, err := split(tree, 1)
	if err != nil {
		return err
	}
	nested := header[0] != 0
	width := truncateSize(code)
	if width == sizeOf[U]() {
		return decodePartExactly(dst, payload, nested, truncateType(code), s)
	}
	switch width {
	case 1:
		return widen(dst, payload, nested, U8, extendSign[U, uint8], s)
	case 2:
		return widen(dst, payload, nested, U16, extendSign[U, uint16], s)
	}
	return widen(dst, payload, nested, U32, extendSign[U, uint32], s)
}

func truncateSize(code encoding.Code) int { return 1 << (code - encoding.TruncateU8) }

func truncateType(code encoding.Code) Type { return U8 + Type(code-encoding.TruncateU8) }

// decodePartExactly decodes a part that is a tree, or raw and of the exact size.
func decodePartExactly[U word](dst []U, part []byte, nested bool, t Type, s *Scratch) error {
	if nested {
		return decode(dst, part, t, s)
	}
	return loadExactly(dst, part)
}

// widen decodes values of type X and extends them.
func widen[U, X word](dst []U, part []byte, nested bool, t Type, extend func(dst []U, src []X), s *Scratch) error {
	if nested {
		p, ok, err := parsePacked[X](part, t, len(dst))
		if err != nil {
			return err
		}
		if ok {
			tmp := take[X](s, fastlanes.ChunkLen)
			for at := 0; at < len(dst); at += fastlanes.ChunkLen {
				c := dst[at:min(at+fastlanes.ChunkLen, len(dst))]
				p.chunk(tmp, at, s)
				extend(c, tmp)
			}
			return nil
		}
	}
	narrow := take[X](s, len(dst))
	if err := decodePartExactly(narrow, part, nested, t, s); err != nil {
		return err
	}
	extend(dst, narrow)
	return nil
}

// extendSign widens signed values that are stored as unsigned ones: flipping the
// sign bit and subtracting it again borrows into the upper bits.
func extendSign[U, X word](dst []U, src []X) {
	sign := X(1) << (bitsOf[X]() - 1)
	wide := U(sign)
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = U(v^sign) - wide
	}
}

// appendTruncate cuts values to the width of code, or the next that holds them.
func appendTruncate[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	code := p.code
	low, high := in.bounds()
	for !fitsSigned(low, high, 8*truncateSize(code)) {
		code++
	}
	if !typesOf(code).has(in.t) { // int8
		return appendPlain(dst, in.values)
	}
	switch truncateSize(code) {
	case 1:
		return appendTruncateTo[U, uint8](e, dst, in, code, p)
	case 2:
		return appendTruncateTo[U, uint16](e, dst, in, code, p)
	case 4:
		return appendTruncateTo[U, uint32](e, dst, in, code, p)
	}
	return appendTruncateTo[U, uint64](e, dst, in, code, p)
}

// fitsSigned tells whether values between signed bounds fit into width bits.
func fitsSigned[U word](low, high U, width int) bool {
	least := int64(-1) << (width - 1)
	return signed(low) >= least && signed(high) <= ^least
}

// signed is a word as the signed number that it stands for.
func signed[U word](v U) int64 {
	shift := 64 - bitsOf[U]()
	return int64(uint64(v)<<shift) >> shift
}

func appendTruncateTo[U, X word](e *enc, dst []byte, in input[U], code encoding.Code, p *plan) []byte {
	mark := e.scratch.mark()
	narrow := take[X](&e.scratch, len(in.values))
	for i, v := range in.values {
		narrow[i] = X(v)
	}
	dst = appendFlagged(e, dst, code, childOf[U, X](in, narrow, truncateType(code), code, 0), p.kids[0])
	e.scratch.release(mark)
	return dst
}

// appendFlagged writes an encoding whose only header is the flag of its child.
func appendFlagged[X word](e *enc, dst []byte, code encoding.Code, child input[X], p *plan) []byte {
	start := len(dst)
	dst = appendHeader(dst, code, 1)
	dst, flag := appendPart(e, dst, child, p)
	dst[start+2] = flag
	return dst
}
