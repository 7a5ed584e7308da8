// Package bytestring reads and writes the blocks of byte strings: String and
// Binary, whose values have any length, and FixedSizeBinary, Guid and decimals,
// whose values all have the same (docs/format.md §7.5).
//
// The values section of such a block is one tree. It begins with the u16 code of
// its encoding; each encoding is one file here, with its layout drawn on top,
// and table.go of package encoding/numeric lists those of numbers. Trees of numbers (package numeric) lie inside:
// dictionary codes, lengths, and offsets. Offsets always are n+1 u64 that ascend
// from 0 to the number of bytes of all values.
//
// A block is read in two steps. [Parse] checks it and gives a view; [Decode]
// writes the values straight to where the caller wants them. Gathering by code,
// which dictionary blocks and value dictionaries share, is [Table].
package bytestring

import (
	"fmt"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Values are N byte strings. With Fixed > 0, value i is the i-th run of Fixed
// bytes of Data, and Offsets is nil. Else it is Data[Offsets[i]:Offsets[i+1]];
// the first offset may be other than 0. Null slots hold any filler, at best
// nothing (or zeros, with Fixed).
type Values struct {
	Data    []byte
	Offsets []int64 // N+1
	Fixed   int     // bytes of every value, 0 if lengths vary
	N       int     // number of values, nulls included
}

// At is value i, a view of Data.
func (v Values) At(i int) []byte {
	if v.Fixed > 0 {
		return v.Data[i*v.Fixed : (i+1)*v.Fixed]
	}
	return v.Data[v.Offsets[i]:v.Offsets[i+1]]
}

// Slice is the values from i up to (not including) j; it shares the memory of v.
func (v Values) Slice(i, j int) Values {
	if v.Fixed > 0 {
		return Values{Data: v.Data[i*v.Fixed : j*v.Fixed], Fixed: v.Fixed, N: j - i}
	}
	return Values{Data: v.Data, Offsets: v.Offsets[i : j+1], N: j - i}
}

// Bytes is all values back to back.
func (v Values) Bytes() []byte {
	if v.Fixed > 0 {
		return v.Data[:v.N*v.Fixed]
	}
	return v.Data[v.Offsets[0]:v.Offsets[v.N]]
}

// DefaultMaxDecoded is the limit on a decoded block that options have by default.
const DefaultMaxDecoded = 1 << 30

// BlockOptions say how a buffer frames its blocks, and what they may ask for.
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
