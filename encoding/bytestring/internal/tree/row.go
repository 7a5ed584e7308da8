// Package tree reads encoding trees of byte strings: it parses what all trees have in common, and leaves the rest to the row of the encoding in a
// [Table]. It knows no encoding itself; package codec has those.
//
// A tree begins with the u16 code of its encoding. Inside of it lie trees of numbers (package numeric), such as dictionary codes, lengths, and
// offsets, and trees of byte strings.
package tree

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/search"
)

// Row is how the trees of an encoding are read. Functions that most encodings have no use for may be nil.
type Row struct {
	Code encoding.Code
	// Layout reads the bytes behind the code, which describes them.
	Layout func(r *Reader)
	// Parse reads and checks a tree, and returns the size of all values.
	Parse func(t *Tree, r *Reader, limit int64) (size uint64, err error)
	// Put32 and Put64 write the values of some slots and where these end.
	Put32 Put[int32]
	Put64 Put[int64]
	// Values writes the values of some slots, whose offsets or lengths the tree has.
	Values func(t *Tree, dst []byte, from, to int) error
	// Unpack is instead of Values, for blocks that are decompressed as a whole; with it can be:
	Unpack func(t *Tree, dst []byte) error
	// UnpackSome unpacks at least the bytes from start to end to buf, and returns the place of the first byte there. More of them are useful, but not behind last.
	UnpackSome func(t *Tree, buf *[]byte, start, end, last int) (first int, err error)
	ReadSome   func(t *Tree, dst []byte, from int) error // a few values alone, from a byte on
	// RangeLen is the bytes of the values of some slots, if the tree has no offsets.
	RangeLen func(t *Tree, from, to int) int
	// AddLengths adds the bytes of each of consecutive values, the first of which is from, if the tree has no offsets, and can do so faster than one by one.
	AddLengths func(t *Tree, dst []int64, from int) error
	// Validity writes a bit for each slot, if the presence section of the block does not decide.
	Validity func(t *Tree, dst []byte, off int)
	// Begins is [Block.MayMatch] for a prefix, if the encoded form tells.
	Begins func(t *Tree, dst []byte, r Required) (ok bool)
	// Contains tells for each code whether its values may contain all parts.
	Contains func(t *Tree, parts [][]byte) []byte
	// Find is [Block.MayContain], of encodings where more than the codes decides.
	Find func(t *Tree, dst []byte, parts [][]byte) (ok bool)
	// Shapes is the code of the shape of each value, the number of these codes, and the shape of one, which is valid until the next is asked for.
	Shapes func(t *Tree) (codes []uint32, n int, shape func(code int) search.Shape)

	index int // in the table
}

// Put writes the values of the slots from up to (not including) to, back to back, and where each ends, the first from
// base on. offsets is nil if values have a fixed size.
type Put[O int32 | int64] func(t *Tree, from, to int, dst []byte, offsets []O, base O) error

// putOf is the Put of a row for offsets of type O, nil if there is none.
func putOf[O int32 | int64](r *Row) Put[O] {
	if p, ok := any(r.Put32).(Put[O]); ok {
		return p
	}
	return any(r.Put64).(Put[O])
}

// Table is the encodings of byte strings.
type Table struct{ rows []*Row }

// NewTable makes a table of rows.
func NewTable(rows []*Row) *Table {
	for i, r := range rows {
		r.index = i
	}
	return &Table{rows}
}

// find is the row of a code, nil if there is none.
func (t *Table) find(code encoding.Code) *Row {
	for _, r := range t.rows {
		if r.Code == code {
			return r
		}
	}
	return nil
}
