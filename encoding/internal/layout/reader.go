// Package layout reads the bytes of encoding trees part by part, for both families of them: to decode them, or to name them. So the layout of an
// encoding is said once.
package layout

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Reader reads the parts of a tree one after the other. Each has a name, for errors and for the description. After the first error, methods
// return nothing, so that it is enough to look at Err once, before what was read is used.
type Reader struct {
	Err  error
	Node *encoding.Tree // the description; nil if the tree is only decoded
	tree []byte
	at   int
}

// Reset begins to read a tree behind its code, which is known, to decode it.
func (r *Reader) Reset(tree []byte) { r.Err, r.tree, r.at = nil, tree, 2 }

// Describe begins to read a tree of n values, and to describe it, with its code.
func Describe(tree []byte, typ string, n int) Reader {
	r := Reader{tree: tree, Node: &encoding.Tree{Type: typ, Len: n, Size: len(tree)}}
	if code := r.take(2, "code"); code != nil {
		r.Node.Code = encoding.Code(binary.LittleEndian.Uint16(code))
		r.Node.Field(0, 2, "code", r.Node.Code.String())
	}
	return r
}

// Description is what was read so far, and the error.
func (r *Reader) Description() encoding.Tree {
	r.Node.Err = r.Err
	return *r.Node
}

// Fail notes an error, if it is the first.
func (r *Reader) Fail(err error) {
	r.Err = cmp.Or(r.Err, err)
}

// take returns the next bytes, nil after an error. Their capacity reaches to the end of the tree.
func (r *Reader) take(size uint64, name string) []byte {
	if r.Err != nil || size > r.Left() {
		r.short(size, name)
		return nil
	}
	b := r.tree[r.at:][:size]
	r.at += int(size)
	return b
}

func (r *Reader) short(size uint64, name string) {
	if r.Err == nil {
		r.Err = fault.Corruptf("tree of %d bytes has no room for %s of %d bytes at %d", len(r.tree), name, size, r.at)
	}
}

// Left is the number of bytes that are not yet read.
func (r *Reader) Left() uint64 { return uint64(len(r.tree) - r.at) }

// Next returns the next bytes, which are still to be read; fewer where the tree ends.
func (r *Reader) Next(n int) []byte { return r.tree[r.at:min(r.at+n, len(r.tree))] }

// Number reads an unsigned number of 1, 2, 4 or 8 bytes. It is described as text says, or as it is if that is nil.
func (r *Reader) Number(size int, name string, text func(v uint64) string) (v uint64) {
	switch b := r.take(uint64(size), name); len(b) {
	case 0:
		return 0
	case 1:
		v = uint64(b[0])
	case 2:
		v = uint64(binary.LittleEndian.Uint16(b))
	case 4:
		v = uint64(binary.LittleEndian.Uint32(b))
	default:
		v = binary.LittleEndian.Uint64(b)
	}
	if r.Node != nil {
		if text == nil {
			text = func(v uint64) string { return strconv.FormatUint(v, 10) }
		}
		r.Node.Field(r.at-size, size, name, text(v))
	}
	return v
}

// Uint is Number as it is.
func (r *Reader) Uint(size int, name string) uint64 { return r.Number(size, name, nil) }

// Flag reads a byte, and reports whether it is not 0.
func (r *Reader) Flag(name string) bool { return r.Uint(1, name) != 0 }

// Bytes reads bytes of any content.
func (r *Reader) Bytes(size uint64, name string) []byte {
	b := r.take(size, name)
	if len(b) > 0 && r.Node != nil {
		r.Node.Field(r.at-len(b), len(b), name, "")
	}
	return b
}

// Pad reads the zeros up to the next multiple of 8.
func (r *Reader) Pad() { r.Bytes(uint64(-r.at&7), "zeros") }

// PadBetween is Pad between two parts of which the second may be empty: then the zeros may be missing.
func (r *Reader) PadBetween() { r.Bytes(min(uint64(-r.at&7), r.Left()), "zeros") }

// Rest reads all bytes that are left.
func (r *Reader) Rest(name string) []byte { return r.Bytes(r.Left(), name) }

// End demands that no bytes are left.
func (r *Reader) End() {
	if left := r.Left(); left > 0 {
		r.Fail(fault.Corruptf("%d bytes behind the last part", left))
	}
}

// Params describes the parameters of the encoding.
func (r *Reader) Params(format string, numbers ...uint64) {
	if r.Node == nil {
		return
	}
	args := make([]any, len(numbers))
	for i, n := range numbers {
		args[i] = n
	}
	r.Node.Params = fmt.Sprintf(format, args...)
}

// Tree reads a part that is a tree, which describe describes.
func (r *Reader) Tree(name string, size uint64, describe func(part []byte) encoding.Tree) []byte {
	at := r.at
	part := r.take(size, name)
	if r.Err == nil && r.Node != nil {
		c := describe(part)
		c.Name = name
		shift(&c, at)
		r.Node.Children = append(r.Node.Children, c)
	}
	return part
}

// Raw reads a part of n values as they are.
func (r *Reader) Raw(name string, size uint64, typ string, n int) []byte {
	return r.Tree(name, size, func(part []byte) encoding.Tree {
		c := encoding.Tree{Type: typ, Len: n, Size: len(part)}
		if len(part) > 0 {
			c.Field(0, len(part), "values", "")
		}
		return c
	})
}

// Nth is the name of one of many parts: with its number, where that is of use.
func (r *Reader) Nth(name string, i int) string {
	if r.Node == nil {
		return name
	}
	return name + " " + strconv.Itoa(i)
}

// shift moves a description by some bytes.
func shift(n *encoding.Tree, by int) {
	n.Offset += by
	for i := range n.Fields {
		n.Fields[i].Offset += by
	}
	for i := range n.Children {
		shift(&n.Children[i], by)
	}
}
