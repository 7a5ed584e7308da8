package numeric

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// BytePlanes, code 0x8003 (edition 2026), types of 2 to 8 bytes: byte k of all
// values is a sequence of its own, which compresses better than the values do.
//
//	03 80 | size * u32: bytes of each plane | zeros up to H | planes: trees of n u8, each padded with zeros to a multiple of 8
//
// H is 2 + 4*size rounded up to 8. Plane 0 holds the low bytes. Example, uint16
// 0x0102, 0x0103 with planes as Plain and SingleValue:
//
//	03 80 | 04 00 00 00 | 03 00 00 00 | 6 zeros | 01 00 02 03 | 4 zeros | 07 00 01 | 5 zeros
func decodeBytePlanes[U word](dst []U, tree []byte, s *Scratch) error {
	planes, err := parseBytePlanes(tree, sizeOf[U]())
	if err != nil {
		return err
	}
	var same U // of the planes that hold but one value
	tmp := take[uint8](s, len(dst))
	clear(dst)
	for k, plane := range planes[:sizeOf[U]()] {
		if peek(plane) == encoding.SingleValue && len(plane) > 2 {
			same |= U(plane[2]) << (8 * k)
			continue
		}
		if err := decode(tmp, plane, U8, s); err != nil {
			return err
		}
		addPlane(dst, tmp, 8*k)
	}
	if same != 0 {
		for i := range dst {
			dst[i] |= same
		}
	}
	return nil
}

func addPlane[U word](dst []U, plane []uint8, shift int) {
	plane = plane[:len(dst)]
	for i, b := range plane {
		dst[i] |= U(b) << (shift & 63)
	}
}

// parseBytePlanes finds the trees of the planes.
func parseBytePlanes(tree []byte, size int) (planes [8][]byte, err error) {
	header, payload, err := split(tree, 4*size)
	if err != nil {
		return planes, err
	}
	for k := range size {
		planes[k], payload, err = cutPadded(payload, binary.LittleEndian.Uint32(header[4*k:]))
		if err != nil {
			return planes, err
		}
	}
	if len(payload) != 0 {
		return planes, fault.Corruptf("%d bytes behind the planes", len(payload))
	}
	return planes, nil
}

func appendBytePlanes[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	size := sizeOf[U]()
	if size == 1 {
		return appendPlain(dst, in.values)
	}
	mark := e.scratch.mark()
	plane := take[uint8](&e.scratch, len(in.values))
	start := len(dst)
	dst = appendHeader(dst, encoding.BytePlanes, 4*size)
	for k := range size {
		for i, v := range in.values {
			plane[i] = uint8(v >> (8 * k))
		}
		at := len(dst)
		dst = appendTree(e, dst, childOf[U, uint8](in, plane, U8, encoding.BytePlanes, k), p.kids[0])
		binary.LittleEndian.PutUint32(dst[start+2+4*k:], uint32(len(dst)-at))
		dst = padTree(dst, start)
	}
	e.scratch.release(mark)
	return dst
}
