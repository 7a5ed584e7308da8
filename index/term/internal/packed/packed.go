// Package packed has bytes as they are stored: compressed, if that makes them smaller.
package packed

import (
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/internal/base/decompress"
)

// Packer compresses bytes, if that makes them smaller.
type Packer struct {
	zstd *zstd.Encoder
	room []byte
}

// Pack appends bytes as stored to dst.
func (p *Packer) Pack(dst, b []byte) ([]byte, error) {
	if p.zstd == nil {
		// Most terms are numbers, in which the encoder finds no matches. Without the last option it would not try to encode their digits.
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true),
			zstd.WithAllLitEntropyCompression(true))
		if err != nil {
			return nil, err
		}
		p.zstd = z
	}
	p.room = p.zstd.EncodeAll(b, p.room[:0])
	if len(p.room) < len(b) {
		b = p.room
	}
	return append(dst, b...), nil
}

// Unpack is the inverse of Pack, into the memory of room if that is large enough. The size is to be checked before.
func Unpack(z *decompress.Zstd, room, b []byte, size int) ([]byte, error) {
	room = slices.Grow(room[:0], size)[:size]
	if len(b) == size {
		copy(room, b)
		return room, nil
	}
	return room, z.Decode(room, b)
}
