package compress

import (
	"bytes"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	hc "github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lz4"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// Settings say how blocks are compressed, by ROOT's number: 100 times the algorithm, plus
// the level. Level 0 stores bytes as they are, levels above the highest are that one.
//
//	101  zlib 1 … 9    levels as in zlib
//	207  LZMA 1 … 9    all levels are the same here
//	404  LZ4 1 … 9     up to 5 fast, then ever longer searches
//	505  zstd 1 … 22   up to 2 fastest, 5 default, 9 better, then best
type Settings uint32

// Algorithm is the algorithm that the settings name; None if they store bytes as they are.
func (s Settings) Algorithm() Algorithm {
	if s.level() == 0 {
		return None
	}
	return Algorithm(min(s/100, 255))
}

func (s Settings) level() int { return int(s % 100) }

// Check tells whether blocks can be compressed with the settings; the error wraps
// fault.ErrUnsupported.
func (s Settings) Check() error {
	switch s.Algorithm() {
	case Zlib, LZMA, LZ4, Zstd:
		return nil
	case None:
		if s < 600 && s%100 == 0 {
			return nil
		}
	}
	return fault.Unsupportedf("compression settings %d: 100 times the algorithm (1 zlib, 2 LZMA, 4 LZ4, 5 zstd) plus the level, or 0", s)
}

// Encoder packs blocks. The same bytes give the same block. It keeps what it needs for
// the next block, up to some MiB, and serves one goroutine at a time.
type Encoder struct {
	settings Settings
	zstd     *zstd.Encoder
	zlib     *zlib.Writer
	out      bytes.Buffer
	fast     *lz4.Encoder
	slow     *hc.CompressorHC
	room     []byte
	huff     huff0.Scratch
}

// NewEncoder makes an encoder. The error is that of [Settings.Check].
func NewEncoder(s Settings) (*Encoder, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return &Encoder{settings: s}, nil
}

// Algorithm is that of the blocks.
func (e *Encoder) Algorithm() Algorithm { return e.settings.Algorithm() }

// Append appends the block of src to dst. It is never longer than src. An error is one
// of a library, and not to be expected.
func (e *Encoder) Append(dst, src []byte) ([]byte, error) {
	algorithm := e.settings.Algorithm()
	if algorithm == None || len(src) <= headerSize {
		return append(dst, src...), nil
	}
	begin := len(dst)
	chunks := (len(src) + maxChunk - 1) / maxChunk
	size := (len(src) + chunks - 1) / chunks // as equal as possible: a short last chunk might not shrink
	for rest := src; len(rest) > 0; {
		part := rest[:min(size, len(rest))]
		rest = rest[len(part):]
		var err error
		at := len(dst)
		if dst, err = e.appendChunk(dst, part, e.pack); err != nil {
			return dst[:begin], err
		}
		if len(dst)-at >= len(part) {
			return append(dst[:begin], src...), nil
		}
	}
	return dst, nil
}

// appendChunk appends what pack makes of src, behind a header.
func (e *Encoder) appendChunk(dst, src []byte, pack func(dst, src []byte) ([]byte, error)) ([]byte, error) {
	at := len(dst)
	row := &algorithms[e.settings.Algorithm()]
	dst = append(append(dst, row.letters...), row.method, 0, 0, 0, byte(len(src)), byte(len(src)>>8), byte(len(src)>>16))
	dst, err := pack(dst, src)
	if err != nil {
		return dst[:at], err
	}
	stored := len(dst) - at - headerSize
	dst[at+3], dst[at+4], dst[at+5] = byte(stored), byte(stored>>8), byte(stored>>16)
	return dst, nil
}

// pack appends the stored bytes of a chunk.
func (e *Encoder) pack(dst, src []byte) ([]byte, error) {
	switch e.settings.Algorithm() {
	case Zstd:
		return e.packZstd(dst, src)
	case LZ4:
		return e.packLZ4(dst, src)
	case Zlib:
		return e.packZlib(dst, src)
	default:
		return e.packXZ(dst, src)
	}
}

func (e *Encoder) packZstd(dst, src []byte) ([]byte, error) {
	if e.zstd == nil {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(e.settings.level())), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return dst, err
		}
		e.zstd = z
	}
	return e.zstd.EncodeAll(src, dst), nil
}

func (e *Encoder) packLZ4(dst, src []byte) ([]byte, error) {
	at := len(dst)
	dst = append(dst, make([]byte, lz4Checksum)...)
	if level := min(e.settings.level(), 9); level < 6 {
		if e.fast == nil {
			e.fast = &lz4.Encoder{}
		}
		dst = e.fast.Append(dst, src)
	} else {
		if e.slow == nil {
			e.slow = &hc.CompressorHC{Level: 1 << level} // as many places are tried as by liblz4
		}
		room := scratch.Slice(&e.room, hc.CompressBlockBound(len(src)))
		n, err := e.slow.CompressBlock(src, room)
		if err != nil {
			return dst, err
		}
		if n == 0 { // does not shrink
			return append(dst, src...), nil
		}
		dst = append(dst, room[:n]...)
	}
	be.PutUint64(dst[at:], xxhash.Sum64(dst[at+lz4Checksum:]))
	return dst, nil
}

func (e *Encoder) packZlib(dst, src []byte) ([]byte, error) {
	e.out.Reset()
	if e.zlib == nil {
		z, err := zlib.NewWriterLevel(&e.out, min(e.settings.level(), 9))
		if err != nil {
			return dst, err
		}
		e.zlib = z
	} else {
		e.zlib.Reset(&e.out)
	}
	return e.finish(dst, src, e.zlib)
}

func (e *Encoder) packXZ(dst, src []byte) ([]byte, error) {
	e.out.Reset()
	w, err := xz.WriterConfig{DictCap: max(len(src), lzma.MinDictCap), CheckSum: xz.CRC32}.NewWriter(&e.out)
	if err != nil {
		return dst, err
	}
	return e.finish(dst, src, w)
}

// finish appends what w makes of src in e.out.
func (e *Encoder) finish(dst, src []byte, w io.WriteCloser) ([]byte, error) {
	if _, err := w.Write(src); err != nil {
		return dst, err
	}
	if err := w.Close(); err != nil {
		return dst, err
	}
	return append(dst, e.out.Bytes()...), nil
}
