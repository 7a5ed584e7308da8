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
	// Layout reads the bytes behind the code, which describes them.
	Layout func(r *Reader)
	// Packed tells that views are chunks with a base and nothing else.
	Packed bool
	// Ascends reports whether a tree of uint64 shows by its form that they ascend; see [Ascends]. It may be nil.
	Ascends func(r *Reader, s *Scratch) bool
	// The decoders of words of each width that Types has.
	W8  Decoder[uint8]
	W16 Decoder[uint16]
	W32 Decoder[uint32]
	W64 Decoder[uint64]
}

// Decoder is how trees of one width of words are decoded: all values in order, or as a view if there are other ways to them.
type Decoder[U word.Uint] struct {
	// Decode decodes a tree of len(dst) values. It is not needed if there is View.
	Decode func(dst []U, r *Reader, s *Scratch) error
	// View parses a tree. If its values are to be had only all in order, it decodes them to dst or, if that is nil, to memory of the Scratch.
	// Unless places are nil, only values at these, which ascend, need to be right.
	View func(v *View[U], dst []U, r *Reader, places []uint32, s *Scratch) error
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
	if r == nil || r.Ascends == nil {
		return false
	}
	in, err := s.enter(&Part{tree, true, word.U64, n})
	if err != nil {
		return false
	}
	defer s.leave()
	return r.Ascends(in, s)
}
