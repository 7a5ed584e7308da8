// Package decompress unpacks Zstandard streams and LZ4 blocks into memory of a given size.
package decompress

import (
	"errors"

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
