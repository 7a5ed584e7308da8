package bytestring

import (
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// row is all that is known about an encoding. What most encodings have no use for may be nil or zero.
type row struct {
	code encoding.Code

	// parse checks a tree and gives the size of all values.
	parse func(b *Block, tree []byte, limit int64) (size uint64, err error)
	// put32 and put64 write the values of some slots and where these end.
	put32 put[int32]
	put64 put[int64]
	// values writes the values of some slots, whose offsets, or lengths, the block has.
	values func(b *Block, dst []byte, from, to int) error
	// unpack is instead of values, for blocks that are decompressed as a whole; with it can be:
	unpack       func(b *Block, dst []byte) error
	unpackGroups func(b *Block, dst []byte, from, to int) error // only groups
	unpackPrefix func(b *Block, dst []byte) error               // only the first values
	readSome     func(b *Block, dst []byte, from int) error     // a few values alone, from a byte on
	// rangeLen is the bytes of the values of some slots, if the block has no offsets.
	rangeLen func(b *Block, from, to int) int
	// validity writes a bit for each slot, if its presence section does not decide.
	validity func(b *Block, dst []byte, off int)
	// contains says of each code whether its values may contain all parts.
	contains func(b *Block, parts [][]byte) []byte
	// describe names the bytes behind the code.
	describe func(d *describer)

	// needs is the features that a shard has to have.
	needs edition.Set
	// tries is the profiles in which it is tried, and the levels.
	tries trials
	// replaces is an encoding that is not tried where this one is.
	replaces encoding.Code
	// suits tells whether a trial is worth it, and prepares it.
	suits func(e *Encoder, w *workspace, in *input) bool
	// append appends a tree; ok is false if the values do not suit.
	append func(w *workspace, dst []byte, in *input, r request) (out []byte, ok bool, err error)
	// burden is what a level costs more to write, in the units of costs.
	burden func(level zstd.EncoderLevel, cost int64) int64
	// cost and fixedCost, of values of a fixed size, were measured on one core (BenchmarkDecode). They are constants, so
	// that choices are the same everywhere.
	cost, fixedCost decodeCost
	symbols         bool // it needs a table of symbols
	limited         bool // blocks of too many distinct values cannot be written like that
	long            bool // its blocks are longer than others of the profile

	// parts are the forms of its parts in [AppendTreeAs] if none are given; nil for one that is raw.
	parts []string
	// leveled tells whether a level can be given there, and level is the one if none is.
	leveled bool
	level   zstd.EncoderLevel
}

// put writes the values of the slots from up to (not including) to, back to back, and where each ends, the first from
// base on. offsets is nil if values have a fixed size.
type put[O int32 | int64] func(b *Block, from, to int, dst []byte, offsets []O, base O) error

// putOf is the put of a row for offsets like O, nil if there is none.
func putOf[O int32 | int64](r *row) put[O] {
	if p, ok := any(r.put32).(put[O]); ok {
		return p
	}
	return any(r.put64).(put[O])
}

// trials are the levels that are tried in each profile. Encodings without levels have one, 0.
type trials [encoding.MinimalSize + 1][]zstd.EncoderLevel

// once is the trials of an encoding without levels.
func once(profiles ...encoding.Profile) (t trials) {
	for _, p := range profiles {
		t[p] = []zstd.EncoderLevel{0}
	}
	return t
}

// request is how a tree is to be written.
type request struct {
	numbers *numbers
	level   zstd.EncoderLevel
	symbols *symbols
	forced  bool // whether it pays or not
}

// decodeCost is what decoding takes, in picoseconds: for each byte of the values,
// each byte of the tree, and each value.
type decodeCost struct{ perByte, perStored, perValue int64 }

// rows are the encodings. A new one is a file and a line here. Encodings are tried in this order: FSST goes by what LZ4
// or FlatLZ has shown.
var rows = [...]*row{
	&plain,
	&singleValue,
	&decimalTree,
	&dictionary,
	&templates,
	&flatLZ,
	&lz4Block,
	&fsstStream,
	&groupedFSST,
	&zstandard,
}

// rowOf is the row of a code, nil if there is none.
func rowOf(code encoding.Code) *row {
	for _, r := range rows {
		if r.code == code {
			return r
		}
	}
	return nil
}

func needs(f edition.Feature) edition.Set { return edition.Set(0).With(f) }
