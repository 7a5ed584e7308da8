package encode

import (
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding/internal/fields/learn"
	"github.com/amudai/amudai-go/encoding/internal/flatlz"
	"github.com/amudai/amudai-go/encoding/internal/fsst"
	"github.com/amudai/amudai-go/encoding/internal/onpair"
	"github.com/amudai/amudai-go/encoding/internal/radixpack"
	"github.com/amudai/amudai-go/encoding/internal/template"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/distinct"
	"github.com/amudai/amudai-go/internal/base/lz4"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

// Workspace is the large memory of an encoder. Its content never changes the bytes
// that are written, so encoders of thousands of columns share a few.
type Workspace struct {
	LZ4       lz4.Encoder
	FlatLZ    flatlz.Encoder
	LZShare   int // what LZ4 or FlatLZ left of the last values, in 1024ths
	Trainer   fsst.Trainer
	Radix     radixpack.Encoder
	rests     vector.Values // of FrontCoding
	OnPair    onpair.Encoder
	Tokens    []uint16
	Heads     []byte
	Distinct  distinct.Set
	Templates template.Encoder
	Fields    learn.Encoder
	Codes     []uint32
	Lengths   []uint32
	Decimals  decimal.Integers

	zstd    map[zstdKey]*zstd.Encoder
	offsets []uint64
	samples [2]sampleBuffer
	trial   []byte
}

var workspaces = sync.Pool{New: func() any { return new(Workspace) }}

// AppendZstd appends data as a Zstandard stream.
func (w *Workspace) AppendZstd(dst, data []byte, level zstd.EncoderLevel) []byte {
	return w.zstdEncoder(level, len(data)).EncodeAll(data, dst)
}

// NoteLZ notes that LZ4 or FlatLZ made size bytes of so many.
func (w *Workspace) NoteLZ(size, of int) { w.LZShare = 1024 * size / max(of, 1) }

type zstdKey struct {
	level  zstd.EncoderLevel
	window int
}

// zstdEncoder writes frames with their content size and without a checksum: the block
// has one.
func (w *Workspace) zstdEncoder(level zstd.EncoderLevel, size int) *zstd.Encoder {
	window := 4 << 20
	switch { // those of the policies; a window as large as the data is enough, and takes less memory
	case size <= 128<<10:
		window = 128 << 10
	case size <= 512<<10:
		window = 512 << 10
	}
	key := zstdKey{level, window}
	if z := w.zstd[key]; z != nil {
		return z
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
	if err != nil {
		panic(err) // the options are constant
	}
	if w.zstd == nil {
		w.zstd = map[zstdKey]*zstd.Encoder{}
	}
	w.zstd[key] = z
	return z
}

// Rests is values without their first bytes. It is overwritten by the next call.
func (w *Workspace) Rests(v vector.Values, prefixes []uint32) vector.Values {
	r := &w.rests
	r.Data, r.Offsets, r.N = r.Data[:0], append(r.Offsets[:0], 0), v.N
	for i, n := range prefixes {
		r.Data = append(r.Data, v.At(i)[n:]...)
		r.Offsets = append(r.Offsets, int64(len(r.Data)))
	}
	return *r
}
