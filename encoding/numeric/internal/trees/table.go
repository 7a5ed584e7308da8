package trees

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Row is how the trees of an encoding are read.
type Row struct {
	Code  encoding.Code
	Types word.Types // of values that it takes
	Index int        // in the table of the family
	// Describe names the bytes behind the code.
	Describe func(d *Describer)
	// Ascends reports whether a tree of n uint64 shows by its form that they ascend; see [Ascends]. It may be nil.
	Ascends func(tree []byte, n int, s *Scratch) bool
	// The decoders of words of each width that Types has.
	W8  Decoder[uint8]
	W16 Decoder[uint16]
	W32 Decoder[uint32]
	W64 Decoder[uint64]
}

// Decoder is how trees of one width of words are decoded. All but Decode are other ways to the values, which an
// encoding has or has not; they may be nil.
type Decoder[U word.Uint] struct {
	// Decode decodes a tree of len(dst) values of type t.
	Decode func(dst []U, tree []byte, t word.Type, s *Scratch) error
	// Constant gives the value that all slots have.
	Constant func(tree []byte) (U, error)
	// Packed parses a tree of n values that is nothing but FastLanes chunks.
	Packed func(tree []byte, n int) (Packed[U], error)
	// Chunked parses a tree of n values that is chunks and what can be done to one at a time; ok is false if it is not.
	// Unless places are nil, only values at these, which ascend, need to be right.
	Chunked func(tree []byte, t word.Type, n int, places []uint32, s *Scratch) (c Chunked[U], ok bool, err error)
	// View parses a tree of n values that can be reached in some other way than all in order. Places are as for Chunked.
	View func(tree []byte, t word.Type, n int, places []uint32, s *Scratch) (View[U], error)
}

// decoderOf is the decoder of a row for words like U.
func decoderOf[U word.Uint](r *Row) *Decoder[U] {
	switch word.SizeOf[U]() {
	case 1:
		return any(&r.W8).(*Decoder[U])
	case 2:
		return any(&r.W16).(*Decoder[U])
	case 4:
		return any(&r.W32).(*Decoder[U])
	}
	return any(&r.W64).(*Decoder[U])
}

// Codes come in two groups, those of the reference and those from ownCodes on, of which each has up to groupLen.
const (
	ownCodes = 0x8000
	groupLen = 32
)

// Table finds the row of a code.
type Table struct{ groups [2][groupLen]*Row }

// NewTable makes a table of rows, which must stay as they are.
func NewTable(rows []*Row) *Table {
	t := new(Table)
	for _, r := range rows {
		t.groups[r.Code/ownCodes][r.Code%ownCodes] = r
	}
	return t
}

// Find is the row of a code; nil for one that is unknown, or that belongs to byte strings.
func (t *Table) Find(code encoding.Code) *Row {
	if code%ownCodes >= groupLen {
		return nil
	}
	return t.groups[code/ownCodes][code%ownCodes]
}

// find is the row of a tree of type t, nil if its encoding is unknown or does not take that.
func (t *Table) find(tree []byte, typ word.Type) *Row {
	if r := t.Find(Peek(tree)); r != nil && r.Types.Has(typ) {
		return r
	}
	return nil
}

// of is the row of a tree of type t.
func (t *Table) of(tree []byte, typ word.Type) (*Row, error) {
	if r := t.find(tree, typ); r != nil {
		return r, nil
	}
	code := Peek(tree)
	switch {
	case len(tree) < 2:
		return nil, fault.Corruptf("encoding tree of %d bytes has no code", len(tree))
	case code.Known():
		return nil, fault.Corruptf("%v does not take values of type %v", code, typ)
	}
	return nil, fault.Unsupportedf("encoding %v is not known", code)
}

// Ascends reports whether a tree of n uint64 that decodes shows by its form that each is at least the one before, and all
// are less than 2^63. Others may ascend, too.
func Ascends(tree []byte, n int, s *Scratch) bool {
	r := s.table.find(tree, word.U64)
	return r != nil && r.Ascends != nil && r.Ascends(tree, n, s)
}
