package compress

import (
	"bytes"
	"errors"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"

	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Decoder unpacks blocks. The zero value is ready. It keeps what it needs for the next
// block, some 100 KiB, and serves one goroutine at a time.
type Decoder struct {
	src   bytes.Reader
	zstd  decompress.Zstd
	zlib  io.ReadCloser
	flate io.ReadCloser
}

// Decode fills dst with the content of a block, whose size is known and was checked by
// the caller: the elements of a page, say.
func (d *Decoder) Decode(dst, src []byte) error {
	out, err := d.decode(dst[:0:len(dst)], src, uint64(len(dst)))
	if err == nil && len(src) == len(dst) {
		copy(dst, out)
	}
	return err
}

// DecodeGrow unpacks a block whose size is a claim of the file. It takes memory as
// content comes, for one chunk ahead. If the block is stored as it is, the result is
// src.
func (d *Decoder) DecodeGrow(src []byte, size uint64) ([]byte, error) {
	return d.decode(nil, src, size)
}

// decode appends the content of a block to out, as far as that has room, or else to more memory.
func (d *Decoder) decode(out, src []byte, size uint64) ([]byte, error) {
	if err := Check(src, size); err != nil {
		return nil, err
	}
	if uint64(len(src)) == size {
		return src, nil
	}
	for uint64(len(out)) < size {
		c, rest, err := NextChunk(src)
		if err != nil {
			return nil, err
		}
		n := len(out)
		if cap(out)-n < c.Size {
			grown := make([]byte, n, min(size, uint64(n+max(n, c.Size))))
			copy(grown, out)
			out = grown
		}
		out = out[:n+c.Size]
		if err := d.chunk(out[n:], c); err != nil {
			return nil, err
		}
		src = rest
	}
	return out, nil
}

// chunk fills dst with the content of a chunk.
func (d *Decoder) chunk(dst []byte, c Chunk) (err error) {
	defer fault.Recover(&err)
	switch c.Algorithm {
	case Zstd:
		return d.zstd.Decode(dst, c.Stored)
	case LZ4:
		return decodeLZ4(dst, c.Stored)
	case Zlib:
		return d.decodeZlib(dst, c.Stored)
	case Deflate:
		return d.decodeDeflate(dst, c.Stored)
	default:
		return decodeXZ(dst, c.Stored)
	}
}

func decodeLZ4(dst, src []byte) error {
	if len(src) < lz4Checksum {
		return fault.Corruptf("an LZ4 chunk of %d bytes has no checksum", len(src))
	}
	block := src[lz4Checksum:]
	if want, got := be.Uint64(src), xxhash.Sum64(block); want != got {
		return fault.Checksumf("LZ4 block has XXH64 %016x, not %016x", got, want)
	}
	return decompress.LZ4(dst, block)
}

func (d *Decoder) decodeZlib(dst, src []byte) error {
	d.src.Reset(src)
	if d.zlib == nil {
		z, err := zlib.NewReader(&d.src)
		if err != nil {
			return fault.Corruptf("zlib: %w", err)
		}
		d.zlib = z
	} else if err := d.zlib.(zlib.Resetter).Reset(&d.src, nil); err != nil {
		return fault.Corruptf("zlib: %w", err)
	}
	return d.fill("zlib", dst, d.zlib)
}

func (d *Decoder) decodeDeflate(dst, src []byte) error {
	d.src.Reset(src)
	if d.flate == nil {
		d.flate = flate.NewReader(&d.src)
	} else if err := d.flate.(flate.Resetter).Reset(&d.src, nil); err != nil {
		return fault.Corruptf("deflate: %w", err)
	}
	return d.fill("deflate", dst, d.flate)
}

// fill fills dst from r, which must end there, and which must have read all of d.src.
func (d *Decoder) fill(name string, dst []byte, r io.Reader) error {
	defer d.src.Reset(nil)
	if n, err := io.ReadFull(r, dst); err != nil {
		return short(name, n, len(dst), err)
	}
	if err := ended(name, r); err != nil {
		return err
	}
	if d.src.Len() > 0 {
		return fault.Corruptf("%s: %d bytes follow the compressed data", name, d.src.Len())
	}
	return nil
}

func short(name string, got, want int, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF { // of bytes in memory
		return fault.Corruptf("%s: %d bytes of content, not the %d expected", name, got, want)
	}
	return fault.Corruptf("%s: %w", name, err)
}

// ended tells whether r has given all that it has; only then has it compared a checksum.
func ended(name string, r io.Reader) error {
	var more [1]byte
	switch n, err := r.Read(more[:]); {
	case n > 0:
		return fault.Corruptf("%s: more content than expected", name)
	case errors.Is(err, zlib.ErrChecksum):
		return fault.Checksumf("%s: %w", name, err)
	case err != io.EOF:
		return fault.Corruptf("%s: %w", name, err)
	}
	return nil
}
