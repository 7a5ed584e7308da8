// Package trees reads encoding trees of numbers (docs/format.md §7.1): it parses what all trees have in common, and
// leaves the rest to the row of the encoding in a [Table]. It knows no encoding itself; package codec has those.
//
// A tree begins with the u16 code of its encoding, then a fixed header and zeros up to a multiple of 8, then a payload
// that may hold further trees:
//
//	u16 code | header | zeros up to H = 2 + len(header), rounded up to 8 | payload
//
// Plain and SingleValue have no header and no zeros: their payload starts at byte 2. A tree holds neither its length in
// bytes nor its number of values; both come from what encloses it, and both have to be exact. There is no type tag
// either: the type comes from the schema, or from the encoding around the tree.
package trees

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Peek is the code of a tree, 0 if it has none.
func Peek(tree []byte) encoding.Code {
	if len(tree) < 2 {
		return 0
	}
	return encoding.Code(binary.LittleEndian.Uint16(tree))
}

// HeaderLen is where the payload starts behind a header of own bytes.
func HeaderLen(own int) int { return encoding.PadTo8(2 + own) }

// Split cuts a tree into its header of own bytes and its payload.
func Split(tree []byte, own int) (header, payload []byte, err error) {
	h := HeaderLen(own)
	if len(tree) < h {
		return nil, nil, fault.Corruptf("tree of %d bytes ends in its header of %d", len(tree), h)
	}
	return tree[2 : 2+own], tree[h:], nil
}

// CutPadded cuts off a part of size bytes and the zeros behind it.
func CutPadded(b []byte, size uint32) (part, rest []byte, err error) {
	if end := (uint64(size) + 7) &^ 7; end <= uint64(len(b)) {
		return b[:size], b[end:], nil
	}
	return nil, nil, fault.Corruptf("a part of %d bytes in %d", size, len(b))
}

// AppendCode begins a tree.
func AppendCode(dst []byte, code encoding.Code) []byte {
	return binary.LittleEndian.AppendUint16(dst, uint16(code))
}

// AppendHeader begins a tree with an empty header of own bytes.
func AppendHeader(dst []byte, code encoding.Code, own int) []byte {
	var zeros [40]byte
	return append(AppendCode(dst, code), zeros[:HeaderLen(own)-2]...)
}

// Pad adds zeros until the tree that begins at start is a multiple of 8 long.
func Pad(dst []byte, start int) []byte {
	var zeros [8]byte
	return append(dst, zeros[:-(len(dst)-start)&7]...)
}

// Decode decodes a tree of len(dst) values of type t, which U is as wide as.
func Decode[U word.Uint](dst []U, tree []byte, t word.Type, s *Scratch) error {
	r, err := s.table.of(tree, t)
	if err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	mark := s.Mem.Mark()
	err = decoderOf[U](r).Decode(dst, tree, t, s)
	s.Mem.Release(mark)
	s.leave()
	if err != nil {
		return fault.In(err, r.Code.String(), -1)
	}
	return nil
}

// DecodePart decodes a part that is a tree, or raw; a raw part may be longer than its values.
func DecodePart[U word.Uint](dst []U, part []byte, nested bool, t word.Type, s *Scratch) error {
	if nested {
		return Decode(dst, part, t, s)
	}
	if len(part)/word.SizeOf[U]() < len(dst) {
		return fault.Corruptf("%d bytes for %d values of %d bytes", len(part), len(dst), word.SizeOf[U]())
	}
	word.Load(dst, part)
	return nil
}

// DecodePartExactly decodes a part that is a tree, or raw and of the exact size.
func DecodePartExactly[U word.Uint](dst []U, part []byte, nested bool, t word.Type, s *Scratch) error {
	if nested {
		return Decode(dst, part, t, s)
	}
	return LoadExactly(dst, part)
}

// LoadExactly reads raw values that take all of src.
func LoadExactly[U word.Uint](dst []U, src []byte) error {
	if len(src) != len(dst)*word.SizeOf[U]() {
		return fault.Corruptf("%d bytes for %d values of %d bytes", len(src), len(dst), word.SizeOf[U]())
	}
	word.Load(dst, src)
	return nil
}

// Constant is the value that all slots of a tree have, if its encoding stores but one.
func Constant[U word.Uint](tree []byte, t word.Type, s *Scratch) (v U, ok bool) {
	r, err := s.table.of(tree, t)
	if err != nil {
		return 0, false
	}
	d := decoderOf[U](r)
	if d.Constant == nil {
		return 0, false
	}
	v, err = d.Constant(tree)
	return v, err == nil
}
