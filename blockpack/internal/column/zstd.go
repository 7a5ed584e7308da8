package column

import (
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	// maxZstdBlock is the most that a block of a frame decompresses to.
	maxZstdBlock = 128 << 10
	// slack is memory behind the decompressed bytes that makes the decompressor faster.
	slack = 16
)

// decompress gives the content of the frames in s, at most limit bytes, in dst, which grows if necessary.
func (d *Decoder) decompress(dst []byte, s section, limit int) ([]byte, error) {
	size, raw, err := contentSize(s.data)
	if err != nil {
		return nil, s.in(err, 0)
	}
	if size > limit {
		return nil, s.in(fault.Limitf("up to %d bytes from %d compressed ones, where %d are allowed", size, len(s.data), limit), 0)
	}
	dst = slices.Grow(dst[:0], size+slack)
	if raw != nil {
		return append(dst, raw...), nil
	}
	dst, err = d.zstd.Append(dst, s.data)
	if err != nil {
		return nil, s.in(fault.Corruptf("zstd: %v", err), 0)
	}
	return dst, nil
}

// contentSize walks the blocks of all frames of src. size is the most that they decompress to; memory for it may be
// taken, as it is in proportion to the number of blocks. raw is the content itself if it is a single stored block
// without a checksum.
func contentSize(src []byte) (size int, raw []byte, err error) {
	for frames := 0; len(src) > 0; frames++ {
		var h zstd.Header
		if err := h.Decode(src); err != nil {
			return 0, nil, fault.Corruptf("zstd: frame header: %v", err)
		}
		if h.Skippable {
			if uint64(h.HeaderSize)+uint64(h.SkippableSize) > uint64(len(src)) {
				return 0, nil, fault.Corruptf("zstd: skippable frame of %d bytes", h.SkippableSize)
			}
			src = src[h.HeaderSize+int(h.SkippableSize):]
			continue
		}
		content, first, rest, err := frameBlocks(src[h.HeaderSize:])
		if err != nil {
			return 0, nil, err
		}
		if h.HasFCS {
			if h.FrameContentSize > uint64(content) {
				return 0, nil, fault.Corruptf("zstd: frame claims %d bytes of content, its blocks hold at most %d", h.FrameContentSize, content)
			}
			content = int(h.FrameContentSize)
		}
		raw = nil
		if h.HasCheckSum {
			if len(rest) < 4 {
				return 0, nil, fault.Corruptf("zstd: frame ends before its checksum")
			}
			rest = rest[4:]
		} else if frames == 0 && len(rest) == 0 && len(first) == content {
			raw = first
		}
		size += content
		src = rest
	}
	return size, raw, nil
}

// frameBlocks walks the blocks of a frame. content is the most that they decompress to, stored the bytes of a single
// stored block, rest what follows the last block.
func frameBlocks(src []byte) (content int, stored, rest []byte, err error) {
	for n := 0; ; n++ {
		if len(src) < 3 {
			return 0, nil, nil, fault.Corruptf("zstd: frame ends before its last block")
		}
		head := uint32(src[0]) | uint32(binary.LittleEndian.Uint16(src[1:]))<<8
		last, kind, size := head&1 != 0, head>>1&3, int(head>>3)
		src = src[3:]
		in := size
		switch kind {
		case 0: // stored
			content += size
		case 1: // one byte, repeated
			content += size
			in = 1
		case 2: // compressed
			content += maxZstdBlock
		default:
			return 0, nil, nil, fault.Corruptf("zstd: block of a reserved type")
		}
		if in > len(src) {
			return 0, nil, nil, fault.Corruptf("zstd: block of %d bytes, of which %d are there", in, len(src))
		}
		if size > maxZstdBlock {
			return 0, nil, nil, fault.Corruptf("zstd: block of %d bytes", size)
		}
		if last {
			if n == 0 && kind == 0 {
				stored = src[:size]
			}
			return content, stored, src[in:], nil
		}
		src = src[in:]
	}
}
