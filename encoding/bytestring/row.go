package bytestring

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
)

// row is all that is known about an encoding. Fields that most encodings have no use for may be nil or zero.
type row struct {
	encode.Row // how it is written, and when it is tried

	// parse checks a tree and returns the size of all values.
	parse func(b *Block, tree []byte, limit int64) (size uint64, err error)
	// put32 and put64 write the values of some slots and where these end.
	put32 put[int32]
	put64 put[int64]
	// values writes the values of some slots, whose offsets or lengths the block has.
	values func(b *Block, dst []byte, from, to int) error
	// unpack is instead of values, for blocks that are decompressed as a whole; with it can be:
	unpack       func(b *Block, dst []byte) error
	unpackPrefix func(b *Block, dst []byte) error           // only the first values
	readSome     func(b *Block, dst []byte, from int) error // a few values alone, from a byte on
	// rangeLen is the bytes of the values of some slots, if the block has no offsets.
	rangeLen func(b *Block, from, to int) int
	// validity writes a bit for each slot, if its presence section does not decide.
	validity func(b *Block, dst []byte, off int)
	// begins is MayMatch for a prefix, if the encoded form tells.
	begins func(b *Block, dst []byte, r Required) (ok bool)
	// contains tells for each code whether its values may contain all parts.
	contains func(b *Block, parts [][]byte) []byte
	// find is MayContain, of encodings where more than the codes decides.
	find func(b *Block, dst []byte, parts [][]byte) (ok bool)
	// describe names the bytes behind the code.
	describe func(d *describer)
}

// put writes the values of the slots from up to (not including) to, back to back, and where each ends, the first from
// base on. offsets is nil if values have a fixed size.
type put[O int32 | int64] func(b *Block, from, to int, dst []byte, offsets []O, base O) error

// putOf is the put of a row for offsets of type O, nil if there is none.
func putOf[O int32 | int64](r *row) put[O] {
	if p, ok := any(r.put32).(put[O]); ok {
		return p
	}
	return any(r.put64).(put[O])
}

// rows are the encodings. A new one is a file and a line here. Encodings are tried in this order: FSST needs the result of
// LZ4 or FlatLZ, OnPair that of Zstd.
var rows []*row

// table is how the rows are written.
var table *encode.Table

// Rows refer to the table, because trees nest.
func init() {
	rows = []*row{
		&plain,
		&singleValue,
		&decimalTree,
		&dictionary,
		&templates,
		&fieldsRow,
		&flatLZ,
		&lz4Block,
		&radixPack,
		&frontCoding,
		&fsstStream,
		&zstandard,
		&onPair,
	}
	var written []*encode.Row
	for _, r := range rows {
		written = append(written, &r.Row)
	}
	table = encode.NewTable(written...)
}

// rowOf is the row of a code, nil if there is none.
func rowOf(code encoding.Code) *row {
	for _, r := range rows {
		if r.Code == code {
			return r
		}
	}
	return nil
}
