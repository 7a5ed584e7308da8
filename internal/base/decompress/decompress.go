// Package decompress unpacks Zstandard streams and LZ4 blocks into memory of a given size.
package decompress

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// maxWindow is the largest window of a frame: that of the reference encoder's level 22.
const maxWindow = 128 << 20

// Zstd unpacks Zstandard streams (RFC 8878: one or more frames, no dictionary). The zero value is ready to use. It
// must not be used concurrently.
type Zstd struct {
	decoder *zstd.Decoder
	start   []byte // the first blocks of a frame, as a frame
}

// Append appends what src unpacks to, within the capacity of dst.
func (z *Zstd) Append(dst, src []byte) (_ []byte, err error) {
	if z.decoder == nil {
		z.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
	}
	return z.decoder.DecodeAll(src, dst)
}

// Decode unpacks src to dst, which has the unpacked size.
func (z *Zstd) Decode(dst, src []byte) error {
	got, err := z.Append(dst[:0:len(dst)], src)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return fault.Corruptf("compressed values are more than the %d bytes expected", len(dst))
	}
	return check("zstd", len(got), len(dst), err)
}

// LZ4MaxRatio is the most bytes that one byte of an LZ4 block can stand for.
const LZ4MaxRatio = 255

// LZ4 unpacks src, an LZ4 block, to dst, which has the unpacked size.
func LZ4(dst, src []byte) error {
	n, err := lz4.UncompressBlock(src, dst)
	return check("lz4", n, len(dst), err)
}

func check(what string, got, want int, err error) error {
	switch {
	case err != nil:
		return fault.Corruptf("%s: %v", what, err)
	case got != want:
		return fault.Corruptf("compressed values are %d bytes, not the %d expected", got, want)
	}
	return nil
}

// Frame is a frame of a Zstandard stream, and where its bytes are in what the stream unpacks to.
type Frame struct {
	Start, End int
	packed     []byte
	header     int // bytes before its first block
	block      int // bytes that each block but the last is likely to unpack to, 0 if its blocks cannot be unpacked without the others
}

// Frames appends the frames of a stream that unpacks to size bytes. A stream that is damaged, or does not tell the sizes
// of its frames but the last, is one frame.
func Frames(dst []Frame, stream []byte, size int) []Frame {
	first, at := len(dst), 0
	for rest := stream; len(rest) > 0; {
		var h zstd.Header
		if err := h.Decode(rest); err != nil || h.Skippable {
			at = -1
			break
		}
		_, n, count := blocks(rest, h.HeaderSize, len(rest))
		if h.HasCheckSum {
			n = min(n+frameChecksum, len(rest))
		}
		left := uint64(size - at)
		if !h.HasFCS && n == len(rest) {
			h.FrameContentSize = left
		} else if !h.HasFCS || h.FrameContentSize > left {
			at = -1
			break
		}
		f := Frame{Start: at, End: at + int(h.FrameContentSize), header: h.HeaderSize}
		if h.DictionaryID == 0 && !h.HasCheckSum && count > 1 {
			f.block = 1 << bits.Len(uint((f.End-f.Start-1)/count))
		}
		f.packed, rest, at = rest[:n:n], rest[n:], f.End
		dst = append(dst, f)
	}
	if at != size {
		return append(dst[:first], Frame{End: size, packed: stream})
	}
	return dst
}

const (
	blockHeader   = 3 // bits: 1 for the last block, 2 type, 21 size
	frameChecksum = 4
)

// blocks tells where the last one of the blocks from a place on begins, at most so many, where it ends, and their number.
func blocks(b []byte, at, most int) (last, end, count int) {
	last = at
	for count < most && len(b)-at >= blockHeader {
		last = at
		h := int(binary.LittleEndian.Uint16(b[at:])) | int(b[at+2])<<16
		n := h >> 3
		if h>>1&3 == 1 { // one byte, which is repeated
			n = 1
		}
		count++
		if at = min(at+blockHeader+n, len(b)); h&1 == 1 {
			break
		}
	}
	return last, at, count
}

// AppendStart appends at least the first n bytes of a frame to dst, and where it can not those of all its blocks.
func (z *Zstd) AppendStart(dst []byte, f *Frame, n int) ([]byte, error) {
	const slack = 64 // with which unpacking is faster
	whole := f.End - f.Start
	if f.block > 0 && n <= whole-f.block {
		// A frame of some blocks: magic; a size of 4 bytes and a window of 128 MiB follow; the size.
		const windowExponent = 17
		some := (n + f.block - 1) / f.block
		last, end, _ := blocks(f.packed, f.header, some)
		z.start = append(z.start[:0], 0x28, 0xb5, 0x2f, 0xfd, 2<<6, windowExponent<<3)
		z.start = binary.LittleEndian.AppendUint32(z.start, uint32(some*f.block))
		header := len(z.start)
		z.start = append(z.start, f.packed[f.header:end]...)
		z.start[header+last-f.header] |= 1
		dst = slices.Grow(dst, some*f.block+slack)
		if out, err := z.Append(dst, z.start); err == nil {
			return out, nil
		} // its blocks are not like that
	}
	dst = slices.Grow(dst, whole+slack)
	out, err := z.Append(dst, f.packed)
	return out, check("zstd", len(out)-len(dst), whole, err)
}
