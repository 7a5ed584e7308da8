package encode

import (
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Workspace is the working memory of an encoder, and what it decides by. The memory never changes what is written, so
// encoders share a few. The zero value is ready for Begin.
type Workspace struct {
	Weights Weights
	Fast    bool  // compress fast: this is a trial
	Codes   bool  // the values are the codes of a dictionary, of which each occurs
	Decode  int64 // what decoding costs of all that was written, in picoseconds

	Trial      []byte
	Mem        word.Arena
	Hash       word.HashTable
	Exceptions []uint32
	LZ4        lz4.Compressor
	LZ4HC      lz4.CompressorHC
	zstd       [3]*zstd.Encoder
	zstds      int // how often something was compressed with Zstandard

	table  *Table
	left   int64 // of the work that trials may do
	limit  int64 // of the cost of all that was written, beyond which it is not used
	levels [trees.MaxDepth]level
}

// level is what is known at a depth of the tree that is being written.
type level struct {
	few        Hint // of sequences too short to be worth remembering
	stats      Stats
	candidates candidates
}

// Begin makes the workspace ready for trees of a profile, whose encodings are those of the table.
func (e *Workspace) Begin(t *Table, p encoding.Profile, features edition.Set) {
	e.table, e.Weights, e.Decode, e.Fast, e.Codes, e.limit = t, weightsOf(p), 0, false, false, noLimit
	e.Weights.Features, e.Weights.table = features, t
}

// Brief is the hint of a sequence that is too short to be worth remembering.
func (e *Workspace) Brief() *Hint {
	e.levels[0].few.forget()
	return &e.levels[0].few
}

// Levels of Zstandard beside 0, the default one. Better takes twice the time of that, and Best five times the time of Better.
const (
	ZstdBest   = 1
	ZstdBetter = 2
)

// Zstd is a compressor of a level, for size bytes.
func (e *Workspace) Zstd(level, size int) *zstd.Encoder {
	e.left -= zstdWork * int64(size)
	e.zstds++
	if e.zstd[level] == nil {
		speed := [...]zstd.EncoderLevel{zstd.SpeedDefault, ZstdBest: zstd.SpeedBestCompression, ZstdBetter: zstd.SpeedBetterCompression}[level]
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(speed),
			zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
		if err != nil {
			panic(err) // the options are constant
		}
		e.zstd[level] = z
	}
	return e.zstd[level]
}

// cost notes that n values of a type are to be decoded from a tree.
func (e *Workspace) cost(code encoding.Code, t word.Type, n int) {
	if r := e.table.Find(code); r != nil {
		e.Decode += r.decodeCost(t, n)
	}
}

// Beyond tells whether a tree that ends some bytes behind dst costs more than it may, so that it need not be completed: a trial writes Plain then.
func (e *Workspace) Beyond(dst []byte, more int) bool {
	return e.Weights.Cost(len(dst)+more, e.Decode) >= e.limit
}

// exhausted tells whether trials have done all the work that they may. Encodings that no other is tried against are still written. In edition
// reference, whose bytes stay the same, there is no end.
func (e *Workspace) exhausted() bool { return e.left < 0 && e.Weights.Features != 0 }

// zstdWork is the work of compressing a byte with Zstandard, where that of a value in an encoding is 1.
const zstdWork = 2

// Takes tells whether an encoding takes values of a type.
func (e *Workspace) Takes(code encoding.Code, t word.Type) bool {
	r := e.table.Find(code)
	return r != nil && r.Types.Has(t)
}
