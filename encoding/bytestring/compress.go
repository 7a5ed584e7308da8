package bytestring

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Zstd, code 16, and LZ4, code 17: the value bytes, compressed as one.
//
//	0  2  10 00 or 11 00
//	2  4  u32 size of the compressed part in bytes
//	6  1  width of the offsets: 8, or 0 if values have a fixed size
//	7  1  1 if the offsets are a tree, 0 if they are raw
//	8     compressed part; zeros up to a multiple of 8
//	      offsets: tree of n+1 u64, or raw, to the end; nothing if the width is 0
//
// The compressed part of Zstd is a Zstandard stream (RFC 8878: one or more
// frames, no dictionary). That of LZ4 is the u32 size of the value bytes, then
// one LZ4 block (not the frame format). Example, "aaaaaaaa" and "" as LZ4:
//
//	11 00 | 0d 00 00 00 | 08 | 00 | 08 00 00 00 80 61 61 61 61 61 61 61 61 | 3 zeros
//	00.. 08.. 08.. (u64 each)

const (
	compressHeader = 6
	lz4Prefix      = 4
	lz4MaxRatio    = 255 // most bytes that one byte of LZ4 can stand for
)

func (b *Block) parseCompressed(tree []byte) (uint64, error) {
	header, rest, err := split(tree, compressHeader)
	if err != nil {
		return 0, err
	}
	if err := b.checkWidth(header[4], offsetWidth); err != nil {
		return 0, err
	}
	b.payload, rest, err = padded(rest, uint64(binary.LittleEndian.Uint32(header)), "compressed values")
	if err != nil {
		return 0, err
	}
	return b.readOffsets(rest, header[5] != 0)
}

func (b *Block) parseLZ4(tree []byte) (uint64, error) {
	size, err := b.parseCompressed(tree)
	if err != nil {
		return 0, err
	}
	if len(b.payload) < lz4Prefix {
		return 0, fault.Corruptf("%d bytes have no room for the size", len(b.payload))
	}
	if have := uint64(binary.LittleEndian.Uint32(b.payload)); have != size {
		return 0, fault.Corruptf("compressed values are %d bytes, not the %d expected", have, size)
	}
	b.payload = b.payload[lz4Prefix:]
	if size/lz4MaxRatio > uint64(len(b.payload)) {
		return 0, fault.Corruptf("%d bytes of values from %d", size, len(b.payload))
	}
	return size, nil
}

func decodeLZ4(dst, src []byte) error {
	if len(dst) == 0 {
		return nil
	}
	return decompress.LZ4(dst, src)
}

// beginCompressed appends the header of a compressed tree.
func beginCompressed(dst []byte, code encoding.Code) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(code))
}

// endCompressed completes a tree after its compressed part.
func (w *workspace) endCompressed(dst []byte, start int, v Values, nums *numbers) ([]byte, error) {
	const header = 2 + compressHeader
	binary.LittleEndian.PutUint32(dst[start+2:], uint32(len(dst)-start-header))
	dst = padFrom(dst, start) // the reference needs the zeros even if no offsets follow
	return w.appendOffsets(dst, v, start+6, start+7, nums)
}

func (w *workspace) appendLZ4(dst []byte, v Values, nums *numbers) ([]byte, error) {
	start := len(dst)
	data := v.Bytes()
	dst = binary.LittleEndian.AppendUint32(beginCompressed(dst, encoding.LZ4), uint32(len(data)))
	at := len(dst)
	dst = w.lz4.Append(dst, data)
	w.lzLen = len(dst) - at
	return w.endCompressed(dst, start, v, nums)
}

func (w *workspace) appendZstd(dst []byte, v Values, level zstd.EncoderLevel, nums *numbers) ([]byte, error) {
	start := len(dst)
	dst, err := w.zstdAppend(beginCompressed(dst, encoding.Zstd), v.Bytes(), level)
	if err != nil {
		return dst, err
	}
	return w.endCompressed(dst, start, v, nums)
}

// zstdAppend appends data as a Zstandard stream.
func (w *workspace) zstdAppend(dst, data []byte, level zstd.EncoderLevel) ([]byte, error) {
	z, err := w.zstdEncoder(level, len(data))
	if err != nil {
		return dst, err
	}
	return z.EncodeAll(data, dst), nil
}

type zstdKey struct {
	level  zstd.EncoderLevel
	window int
}

// zstdEncoder makes frames with their content size and without a checksum, which
// the block has.
func (w *workspace) zstdEncoder(level zstd.EncoderLevel, size int) (*zstd.Encoder, error) {
	window := 4 << 20
	switch { // those of the policies; a window as large as the data is enough, and takes less memory
	case size <= 128<<10:
		window = 128 << 10
	case size <= 512<<10:
		window = 512 << 10
	}
	key := zstdKey{level, window}
	if z := w.zstd[key]; z != nil {
		return z, nil
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, err
	}
	if w.zstd == nil {
		w.zstd = map[zstdKey]*zstd.Encoder{}
	}
	w.zstd[key] = z
	return z, nil
}
