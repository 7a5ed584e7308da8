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
	mark := s.Mem.Mark()
	v, err := ParseView(dst, tree, t, len(dst), nil, s)
	if err == nil {
		err = v.Put(dst, tree, s)
	}
	s.Mem.Release(mark)
	return err
}

// DecodePart decodes a part that is a tree, or raw; a raw part may be longer than its values.
func DecodePart[U word.Uint](dst []U, p *Part, s *Scratch) error {
	if p.Nested {
		return Decode(dst, p.Bytes, p.T, s)
	}
	if len(p.Bytes)/word.SizeOf[U]() < len(dst) {
		return fault.Corruptf("%d bytes for %d values of %d bytes", len(p.Bytes), len(dst), word.SizeOf[U]())
	}
	word.Load(dst, p.Bytes)
	return nil
}

// LoadExactly reads raw values that take all of src.
func LoadExactly[U word.Uint](dst []U, src []byte) error {
	if len(src) != len(dst)*word.SizeOf[U]() {
		return fault.Corruptf("%d bytes for %d values of %d bytes", len(src), len(dst), word.SizeOf[U]())
	}
	word.Load(dst, src)
	return nil
}

// EachChunk decodes a part, a tree or raw and of the exact size, and calls a function with all values in order: of a tree of chunks with one after the
// other, while it is in the cache. Values are in dst if that is not nil, else in memory that is used again.
func EachChunk[U word.Uint](dst []U, p *Part, s *Scratch, do func(some []U)) (err error) {
	if !p.Nested {
		if dst == nil {
			dst = word.Take[U](&s.Mem, p.N)
		}
		if err = LoadExactly(dst, p.Bytes); err == nil {
			do(dst)
		}
		return err
	}
	v, err := ParseView(dst, p.Bytes, p.T, p.N, nil, s)
	switch {
	case err != nil:
		return err
	case v.Form == InChunks:
		v.Chunks.each(dst, p.N, s, do)
		return nil
	case v.Form == Dense:
		dst = v.Values
	case dst == nil:
		dst = word.Take[U](&s.Mem, p.N)
	}
	if err = v.Put(dst, p.Bytes, s); err == nil {
		do(dst)
	}
	return err
}
