// Package bytestring reads and writes the blocks of byte strings: String and
// Binary, whose values have any length, and FixedSizeBinary, Guid and decimals,
// whose values all have the same (docs/format.md §7.5).
//
// The values section of such a block is one tree. It begins with the u16 code of
// its encoding; each encoding is one file here, with its layout drawn on top, and
// a row of the table in row.go. Inside a tree lie trees of numbers (package numeric):
// dictionary codes, lengths, and offsets. Offsets always are n+1 u64 that ascend
// from 0 to the number of bytes of all values.
//
// A block is read in two steps. [Parse] checks it and returns a view; [Decode]
// writes the values straight to their final place. Package internal/encode chooses
// the encodings of written blocks. Package vector has values in memory, and their copies by code.
package bytestring

import (
	"fmt"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Values are byte strings in memory, as encoders take them.
type Values = vector.Values

// Table is a list of byte strings that [Gather] copies by their numbers.
type Table = vector.Table

// NewTable makes a table of values, which must not change while it is used.
func NewTable(v Values) *Table { return vector.NewTable(v) }

// Gather copies the strings of codes to dst and their ends to offsets, as package vector describes. It returns the number of bytes.
func Gather[O int32 | int64](t *Table, dst []byte, offsets []O, base O, codes []uint32) (int, error) {
	return vector.Gather(t, dst, offsets, base, codes)
}

// DefaultMaxDecoded is the limit on a decoded block that options have by default.
const DefaultMaxDecoded = 1 << 30

// BlockOptions say how a buffer frames its blocks, and how much memory they may take.
type BlockOptions struct {
	Checksums  bool  // each block ends with a checksum
	MaxDecoded int64 // most bytes that the values and offsets of a block may take; 0 means DefaultMaxDecoded
}

// split takes the code and a header of own bytes, padded to a multiple of 8,
// from the start of a tree.
func split(tree []byte, own int) (header, payload []byte, err error) {
	at := encoding.PadTo8(2 + own)
	if len(tree) < at {
		return nil, nil, fault.Corruptf("tree of %d bytes is shorter than its header", len(tree))
	}
	return tree[2 : 2+own], tree[at:], nil
}

// padded splits b after n bytes, and after the zeros that pad these to a
// multiple of 8. The zeros may be missing if nothing follows.
func padded(b []byte, n uint64, what string) (head, rest []byte, err error) {
	if n > uint64(len(b)) {
		return nil, nil, fault.Corruptf("%s of %d bytes in %d", what, n, len(b))
	}
	return b[:n:n], b[min(encoding.PadTo8(int(n)), len(b)):], nil
}

func misuse(format string, args ...any) error {
	return fmt.Errorf("bytestring: "+format, args...)
}
