package compress

import (
	"bytes"
	"encoding/binary"

	"github.com/klauspost/compress/huff0"
)

// A frame of Zstandard has blocks of bytes that are equal, that are stored as they are, or that have literals and
// sequences, which repeat earlier bytes. Here a block has literals only.
//
//	28 B5 2F FD │ A0, u32 length │ block … │ block
//	block   u24  1 if it is the last, kind << 1, size << 3 │ bytes
//	        kind 0 as they are, 1 equal: one byte, 2 literals: header, Huffman codes, 0 sequences
const (
	zstdMagic = 0xFD2FB528
	// oneSegment says that the length of the content follows, in 4 bytes.
	oneSegment = 0xA0
	blockMax   = 128 << 10

	blockRaw   = 0
	blockEqual = 1
	blockCodes = 2
)

// AppendPlanes is Append for a block of so many parts of equal length, such as the planes of a split page: Zstandard packs
// each by the frequencies of its own bytes, and does not look for repeats. That pays for numbers whose bytes differ in
// nature, such as exponents and mantissas.
func (e *Encoder) AppendPlanes(dst, src []byte, planes int) ([]byte, error) {
	if e.settings.Algorithm() != Zstd || len(src) < 1<<10 || len(src) > maxChunk {
		return e.Append(dst, src)
	}
	at := len(dst)
	dst, err := e.appendChunk(dst, src, func(dst, src []byte) ([]byte, error) {
		dst = binary.LittleEndian.AppendUint32(dst, zstdMagic)
		dst = binary.LittleEndian.AppendUint32(append(dst, oneSegment), uint32(len(src)))
		plane := max(len(src)/max(planes, 1), 1)
		for rest := src; len(rest) > 0; {
			n := min(plane-(len(src)-len(rest))%plane, blockMax, len(rest))
			dst = e.appendBlock(dst, rest[:n], n == len(rest))
			rest = rest[n:]
		}
		return dst, nil
	})
	if err == nil && len(dst)-at >= len(src) {
		dst = append(dst[:at], src...)
	}
	return dst, err
}

// appendBlock appends a block of a frame.
func (e *Encoder) appendBlock(dst, src []byte, last bool) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0)
	kind, size := blockRaw, len(src)
	if bytes.Equal(src[1:], src[:len(src)-1]) {
		kind, dst = blockEqual, append(dst, src[0])
	} else if codes := e.huffman(src); codes != nil {
		dst = appendLiterals(dst, len(src), codes)
		kind, size = blockCodes, len(dst)-at-3
	} else {
		dst = append(dst, src...)
	}
	header := uint32(kind)<<1 | uint32(size)<<3
	if last {
		header |= 1
	}
	dst[at], dst[at+1], dst[at+2] = byte(header), byte(header>>8), byte(header>>16)
	return dst
}

// huffman gives the table and the four streams of codes of src, or nil if they are hardly shorter.
func (e *Encoder) huffman(src []byte) []byte {
	e.huff.Reuse = huff0.ReusePolicyNone
	codes, _, err := huff0.Compress4X(src, &e.huff)
	if err != nil || len(codes)+8 >= len(src) {
		return nil
	}
	return codes
}

// appendLiterals appends n literals, of four streams with sizes of 14 or 18 bits, and no sequences.
func appendLiterals(dst []byte, n int, codes []byte) []byte {
	if n < 1<<14 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(2|2<<2|n<<4|len(codes)<<18))
	} else {
		header := uint64(2 | 3<<2 | n<<4 | len(codes)<<22)
		dst = append(binary.LittleEndian.AppendUint32(dst, uint32(header)), byte(header>>32))
	}
	return append(append(dst, codes...), 0)
}
