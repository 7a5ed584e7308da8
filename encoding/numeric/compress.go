package numeric

import (
	"encoding/binary"
	"slices"

	"github.com/pierrec/lz4/v4"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Zstd, code 16, all types: the n little-endian values as a Zstandard stream
// (RFC 8878, one or more frames, no dictionary), to the end.
//
//	10 00 | 6 zeros | frames
//
// LZ4, code 17, all types: one LZ4 block, not the frame format.
//
//	11 00 | 6 zeros | u32 size of the values in bytes | block, to the end
//
// Example, 8 zeros of int8 as LZ4:
//
//	11 00 | 6 zeros | 08 00 00 00 | 80 00 00 00 00 00 00 00 00

func decodeZstd[U word](dst []U, tree []byte, s *Scratch) error {
	_, payload, err := split(tree, 0)
	if err != nil {
		return err
	}
	want := bytesOf(dst)
	if err := s.zstd.Decode(want, payload); err != nil {
		return err
	}
	if bigEndian {
		swap(want, sizeOf[U]())
	}
	return nil
}

func decodeLZ4[U word](dst []U, tree []byte) error {
	_, payload, err := split(tree, 0)
	if err != nil {
		return err
	}
	if len(payload) < 4 {
		return fault.Corruptf("%d bytes have no room for the size", len(payload))
	}
	want := bytesOf(dst)
	if size := binary.LittleEndian.Uint32(payload); uint64(size) != uint64(len(want)) {
		return fault.Corruptf("compressed values are %d bytes, not the %d expected", size, len(want))
	}
	if err := decompress.LZ4(want, payload[4:]); err != nil {
		return err
	}
	if bigEndian {
		swap(want, sizeOf[U]())
	}
	return nil
}

// appendZstd compresses values, whole.
func appendZstd[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	dst = appendHeader(dst, encoding.Zstd, 0)
	mark := e.scratch.mark()
	e.zstds++
	dst = e.zstdEncoder(p.level).EncodeAll(littleEndian(e, in.values), dst)
	e.scratch.release(mark)
	return dst
}

// littleEndian is the bytes of values: their memory, or a copy on a big-endian machine.
func littleEndian[U word](e *enc, values []U) []byte {
	if !bigEndian {
		return bytesOf(values)
	}
	return store(take[uint8](&e.scratch, len(values)*sizeOf[U]())[:0], values)
}

// appendLZ4 compresses values, or writes them as Plain if that does not pay.
func appendLZ4[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	size := len(in.values) * sizeOf[U]()
	if size == 0 || size > maxLZ4 {
		return appendPlain(dst, in.values)
	}
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(appendHeader(dst, encoding.LZ4, 0), uint32(size))
	at := len(dst)
	mark := e.scratch.mark()
	src := littleEndian(e, in.values)
	dst = slices.Grow(dst, lz4.CompressBlockBound(size))
	room := dst[at : at+lz4.CompressBlockBound(size)]
	var n int
	var err error
	if p.level > 0 {
		n, err = e.lz4HC.CompressBlock(src, room)
	} else {
		n, err = e.lz4.CompressBlock(src, room)
	}
	e.scratch.release(mark)
	if err != nil || n == 0 {
		return appendPlain(dst[:start], in.values)
	}
	return dst[:at+n]
}

// maxLZ4 is the largest input of an LZ4 block.
const maxLZ4 = 0x7e000000
