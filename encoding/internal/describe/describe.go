// Package describe names the bytes of encoding trees, for both families of them.
package describe

import (
	"encoding/binary"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Describer describes the bytes of a tree one after the other. Once there was an error, which is in the node then, its methods do nothing.
type Describer struct {
	Node encoding.Tree
	tree []byte
	at   int
}

// New begins the description of a tree of n values with its code.
func New(tree []byte, typ string, n int) Describer {
	d := Describer{Node: encoding.Tree{Type: typ, Len: n, Size: len(tree)}, tree: tree}
	if code := d.take(2); code != nil {
		d.Node.Code = encoding.Code(binary.LittleEndian.Uint16(code))
		d.Node.Field(0, 2, "code", d.Node.Code.String())
	}
	return d
}

// Fail ends the description with an error.
func (d *Describer) Fail(err error) {
	if d.Node.Err == nil {
		d.Node.Err = err
	}
}

// take returns the next bytes, nil after an error.
func (d *Describer) take(size uint64) []byte {
	if d.Node.Err != nil || size > d.Left() {
		d.Fail(fault.Corruptf("tree of %d bytes ends in what begins at %d", len(d.tree), d.at))
		return nil
	}
	d.at += int(size)
	return d.tree[d.at-int(size) : d.at]
}

// Left is the number of bytes that are not yet described.
func (d *Describer) Left() uint64 { return uint64(len(d.tree) - d.at) }

// Next returns the next bytes, which are still to be described; fewer where the tree ends.
func (d *Describer) Next(n int) []byte { return d.tree[d.at:min(d.at+n, len(d.tree))] }

// Number adds a field whose text depends on its bytes.
func (d *Describer) Number(size int, name string, text func(b []byte) string) {
	if b := d.take(uint64(size)); b != nil {
		d.Node.Field(d.at-size, size, name, text(b))
	}
}

// Uint adds a field that is an unsigned number.
func (d *Describer) Uint(size int, name string) (v uint64) {
	d.Number(size, name, func(b []byte) string {
		for i, x := range b {
			v |= uint64(x) << (8 * i)
		}
		return strconv.FormatUint(v, 10)
	})
	return v
}

// Flag adds a field of a byte, and reports whether it is not 0.
func (d *Describer) Flag(name string) bool { return d.Uint(1, name) != 0 }

// Bytes adds a field of any content.
func (d *Describer) Bytes(size uint64, name string) {
	if b := d.take(size); len(b) > 0 {
		d.Node.Field(d.at-len(b), len(b), name, "")
	}
}

// Pad adds the zeros up to the next multiple of 8, or to the end.
func (d *Describer) Pad() { d.Bytes(min(uint64(-d.at&7), d.Left()), "zeros") }

// Rest adds all bytes that are left.
func (d *Describer) Rest(name string) { d.Bytes(d.Left(), name) }

// End demands that no bytes are left.
func (d *Describer) End() {
	if left := d.Left(); left > 0 {
		d.Fail(fault.Corruptf("%d bytes behind the last part", left))
	}
}

// Tree adds a part that is a tree, which describe describes.
func (d *Describer) Tree(name string, size uint64, describe func(part []byte) encoding.Tree) {
	at := d.at
	if part := d.take(size); d.Node.Err == nil {
		c := describe(part)
		c.Name = name
		shift(&c, at)
		d.Node.Children = append(d.Node.Children, c)
	}
}

// Raw adds a part of n values as they are.
func (d *Describer) Raw(name string, size uint64, typ string, n int) {
	d.Tree(name, size, func(part []byte) encoding.Tree {
		c := encoding.Tree{Type: typ, Len: n, Size: len(part)}
		if len(part) > 0 {
			c.Field(0, len(part), "values", "")
		}
		return c
	})
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
