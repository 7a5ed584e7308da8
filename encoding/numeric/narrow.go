package numeric

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Narrow, code 0x8004 (edition 2026), uint16 to uint64: values that fit into a
// narrower unsigned type of X bytes.
//
//	04 80 | u8 X: 1, 2 or 4, less than the size of the type | nested flag | 4 zeros | tree of n uX, or n little-endian uX
//
// Example, uint32 5, 200 as raw bytes:
//
//	04 80 | 01 | 00 | 00 00 00 00 | 05 c8
func decodeNarrow[U word](dst []U, tree []byte, s *Scratch) error {
	header, payload, err := split(tree, 2)
	if err != nil {
		return err
	}
	size, nested := int(header[0]), header[1] != 0
	if _, ok := narrowType(size); !ok || size >= sizeOf[U]() {
		return fault.Corruptf("values of %d bytes narrowed to %d", sizeOf[U](), size)
	}
	switch size {
	case 1:
		return widen(dst, payload, nested, U8, extendZero[U, uint8], s)
	case 2:
		return widen(dst, payload, nested, U16, extendZero[U, uint16], s)
	}
	return widen(dst, payload, nested, U32, extendZero[U, uint32], s)
}

// narrowType is the unsigned type of 1, 2 or 4 bytes.
func narrowType(size int) (Type, bool) {
	switch size {
	case 1:
		return U8, true
	case 2:
		return U16, true
	case 4:
		return U32, true
	}
	return 0, false
}

func extendZero[U, X word](dst []U, src []X) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = U(v)
	}
}

// appendNarrow cuts values to the least number of bytes that holds them.
func appendNarrow[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	var all U
	for _, v := range in.values {
		all |= v
	}
	switch {
	case uint64(all) < 1<<8 && sizeOf[U]() > 1:
		return appendNarrowTo[U, uint8](e, dst, in, p)
	case uint64(all) < 1<<16 && sizeOf[U]() > 2:
		return appendNarrowTo[U, uint16](e, dst, in, p)
	case uint64(all) < 1<<32 && sizeOf[U]() > 4:
		return appendNarrowTo[U, uint32](e, dst, in, p)
	}
	return appendPlain(dst, in.values)
}

func appendNarrowTo[U, X word](e *enc, dst []byte, in input[U], p *plan) []byte {
	mark := e.scratch.mark()
	narrow := take[X](&e.scratch, len(in.values))
	for i, v := range in.values {
		narrow[i] = X(v)
	}
	t, _ := narrowType(sizeOf[X]())
	start := len(dst)
	dst = appendHeader(dst, encoding.Narrow, 2)
	dst, flag := appendPart(e, dst, childOf[U, X](in, narrow, t, encoding.Narrow, 0), p.kids[0])
	dst[start+2], dst[start+3] = byte(sizeOf[X]()), flag
	e.scratch.release(mark)
	return dst
}
