package compress

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// The container is parsed here, because the dictionary in a block's header is a claim of
// up to 4 GiB for which a library would take memory. No match reaches back further than
// the content is long, so the decoder gets a dictionary of that size.
//
//	stream header   fd 37 7a 58 5a 00, u8 0, u8 kind of check, u32 CRC32 of these two
//	block header    u8 size/4 - 1, u8 flags, [varint stored], [varint size],
//	                varint 0x21 (LZMA2), varint 1, u8 dictionary, zeros, u32 CRC32
//	block           LZMA2 chunks, zeros up to a multiple of 4, check
//	index           u8 0, varint blocks, per block varint stored and varint size, zeros, u32 CRC32
//	footer          u32 CRC32, u32 size of the index/4 - 1, u8 0, u8 kind of check, "YZ"
//
// Numbers are little-endian; a varint has seven bits a byte, the lowest first. One block
// a stream is what all encoders but parallel ones write, and all that is read.
const (
	xzMagic      = "\xfd7zXZ\x00"
	xzHeaderSize = 12
	xzFooterSize = 12
	lzma2Filter  = 0x21
)

var le = binary.LittleEndian

// decodeXZ fills dst with the content of an xz stream.
func decodeXZ(dst, src []byte) error {
	if len(src) < xzHeaderSize+xzFooterSize || string(src[:6]) != xzMagic || src[6] != 0 ||
		le.Uint32(src[8:]) != crc32.ChecksumIEEE(src[6:8]) {
		return fault.Corruptf("xz: broken stream header")
	}
	kind := src[7]
	check, size := xzCheck(kind, dst)
	if check == nil {
		return fault.Unsupportedf("xz: check of kind %d", kind)
	}
	body := src[xzHeaderSize:]
	header, err := parseXZBlockHeader(body)
	if err != nil {
		return err
	}
	data := body[header:]
	n, err := decodeLZMA2(dst, data)
	if err != nil {
		return err
	}
	end := (header + n + 3) &^ 3
	if len(body)-end < size {
		return fault.Corruptf("xz: block ends early")
	}
	if want := body[end : end+size]; !bytes.Equal(check()[:size], want) {
		return fault.Checksumf("xz: content has check %x, not %x", check()[:size], want)
	}
	return checkXZIndex(body[end+size:], uint64(header+n+size), uint64(len(dst)), kind)
}

// parseXZBlockHeader checks a block's header and gives its size.
func parseXZBlockHeader(b []byte) (size int, err error) {
	size = 4 * (int(b[0]) + 1)
	if b[0] == 0 || size > len(b) || le.Uint32(b[size-4:]) != crc32.ChecksumIEEE(b[:size-4]) {
		return 0, fault.Corruptf("xz: broken block header")
	}
	flags, fields := b[1], b[2:size-4]
	for _, present := range []byte{0x40, 0x80} { // the sizes are compared with the index
		if flags&present != 0 {
			_, n := binary.Uvarint(fields)
			if n <= 0 {
				return 0, fault.Corruptf("xz: broken block header")
			}
			fields = fields[n:]
		}
	}
	if flags&0x3f != 0 || len(fields) < 3 || fields[0] != lzma2Filter || fields[1] != 1 {
		return 0, fault.Unsupportedf("xz: filters other than LZMA2")
	}
	return size, nil
}

// decodeLZMA2 fills dst from the LZMA2 chunks at the start of src, and gives their bytes.
func decodeLZMA2(dst, src []byte) (n int, err error) {
	n, err = checkLZMA2(src, len(dst))
	if err != nil {
		return 0, err
	}
	z, err := lzma.Reader2Config{DictCap: max(len(dst), lzma.MinDictCap)}.NewReader2(bytes.NewReader(src[:n]))
	if err != nil {
		return 0, fault.Corruptf("lzma: %w", err)
	}
	if n, err := io.ReadFull(z, dst); err != nil {
		return 0, short("lzma", n, len(dst), err)
	}
	return n, ended("lzma", z)
}

// checkLZMA2 walks over LZMA2 chunks that must give want bytes, and gives the bytes of all.
//
//	u8 0                                                the end
//	u8 1 or 2, u16 size - 1, bytes                      as they are
//	u8 0x80 … 0xff, u16 size - 1, u16 stored - 1,       the lowest 5 bits are those of the size
//	   [u8 properties], bytes                           above its 16; 0x40: properties follow
//
// Properties cost the decoder memory, from 24 KiB for the most that the format allows
// (lc + lp = 4) to 6 MiB for the most that a byte can say, and as much time. Encoders set
// them once.
func checkLZMA2(src []byte, want int) (n int, err error) {
	be := binary.BigEndian
	for size, resets := 0, 0; ; {
		if n >= len(src) {
			return 0, fault.Corruptf("lzma: no end")
		}
		var head [6]byte
		copy(head[:], src[n:])
		control, header, stored := head[0], len(head), 0
		switch {
		case size > want || control == 0 && size < want:
			return 0, fault.Corruptf("lzma: %d bytes of content, not the %d expected", size, want)
		case control == 0:
			return n + 1, nil
		case control < 0x80:
			header, stored = 3, int(be.Uint16(head[1:]))+1
			size += stored
		default:
			size += int(control&0x1f)<<16 + int(be.Uint16(head[1:])) + 1
			stored = int(be.Uint16(head[3:])) + 1
			if control&0x40 == 0 {
				header = 5
				break
			}
			resets++
			if p := int(head[5]); p >= 9*5*5 || p%9+p/9%5 > 4 || resets > 1+want>>16 {
				return 0, fault.Corruptf("lzma: properties %d, set %d times", p, resets)
			}
		}
		n += header + stored
	}
}

// xzCheck is a function that computes a kind of check, and the size of its result.
func xzCheck(kind byte, content []byte) (sum func() []byte, size int) {
	switch kind {
	case 0:
		return func() []byte { return nil }, 0
	case 1:
		return func() []byte { return le.AppendUint32(nil, crc32.ChecksumIEEE(content)) }, 4
	case 4:
		return func() []byte {
			return le.AppendUint64(nil, crc64.Checksum(content, crc64.MakeTable(crc64.ECMA)))
		}, 8
	case 10:
		return func() []byte { h := sha256.Sum256(content); return h[:] }, 32
	}
	return nil, 0
}

// checkXZIndex compares index and footer with the one block that was read.
func checkXZIndex(b []byte, stored, size uint64, kind byte) error {
	index := []byte{0, 1}
	index = binary.AppendUvarint(index, stored)
	index = binary.AppendUvarint(index, size)
	for len(index)%4 != 0 {
		index = append(index, 0)
	}
	index = le.AppendUint32(index, crc32.ChecksumIEEE(index))
	footer := le.AppendUint32(nil, uint32(len(index)/4-1))
	footer = append(footer, 0, kind)
	want := le.AppendUint32(index, crc32.ChecksumIEEE(footer))
	want = append(append(want, footer...), "YZ"...)
	if !bytes.Equal(b, want) {
		return fault.Corruptf("xz: index or footer do not fit one block of %d bytes", size)
	}
	return nil
}
