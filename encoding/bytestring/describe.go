package bytestring

import (
	"encoding/binary"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Describe names the bytes of a tree of n values, each of fixed bytes or,
// with fixed 0, of any length, without decoding the values. Of a bad tree it
// describes the readable part, and puts the error into the node it was found in.
func Describe(tree []byte, n, fixed int) encoding.Tree { return describeTree(tree, n, fixed, 0) }

// describeTree is Describe for a tree that is so many levels deep in another.
func describeTree(tree []byte, n, fixed, level int) encoding.Tree {
	d := describer{node: encoding.Tree{Type: "bytes", Len: n, Size: len(tree)}, tree: tree, n: n, fixed: fixed, level: level}
	if fixed > 0 {
		d.node.Type = "bytes[" + strconv.Itoa(fixed) + "]"
	}
	if len(tree) < 2 {
		d.node.Err = fault.Corruptf("tree of %d bytes", len(tree))
		return d.node
	}
	if level >= encode.MaxLevels {
		d.node.Err = fault.Limitf("byte strings nested more than %d deep", encode.MaxLevels)
		return d.node
	}
	d.node.Code = encoding.Code(binary.LittleEndian.Uint16(tree))
	d.node.Field(0, 2, "code", d.node.Code.String())
	if r := rowOf(d.node.Code); r != nil {
		r.describe(&d)
	} else {
		d.node.Err = fault.Unsupportedf("encoding %v of byte strings", d.node.Code)
	}
	return d.node
}

// describer is a tree that is being described. Its methods take places in the
// tree, and do nothing once there was an error.
type describer struct {
	node     encoding.Tree
	tree     []byte
	n, fixed int
	level    int
}

// have checks that the tree reaches up to a place.
func (d *describer) have(end uint64) bool {
	if d.node.Err == nil && end > uint64(len(d.tree)) {
		d.node.Err = fault.Corruptf("tree of %d bytes should have at least %d", len(d.tree), end)
	}
	return d.node.Err == nil
}

// uint adds a field that is an unsigned number.
func (d *describer) uint(at, size int, name string) uint64 {
	if !d.have(uint64(at + size)) {
		return 0
	}
	var v uint64
	for i := range size {
		v |= uint64(d.tree[at+i]) << (8 * i)
	}
	d.node.Field(at, size, name, strconv.FormatUint(v, 10))
	return v
}

// bytes adds a field of any content, and gives the place behind it.
func (d *describer) bytes(at int, size uint64, name string) int {
	if !d.have(uint64(at) + size) {
		return len(d.tree)
	}
	if size > 0 {
		d.node.Field(at, int(size), name, "")
	}
	return at + int(size)
}

// pad adds the zeros up to the next multiple of 8.
func (d *describer) pad(at int) int {
	return d.bytes(at, uint64(min(encoding.PadTo8(at), len(d.tree))-at), "zeros")
}

func (d *describer) rest(at int, name string) {
	d.bytes(at, uint64(len(d.tree)-at), name)
}

// child adds a tree of numbers, or a raw part of them.
func (d *describer) child(name string, at int, size uint64, nested bool, t numeric.Type, n int) int {
	if !d.have(uint64(at) + size) {
		return len(d.tree)
	}
	part := d.tree[at : at+int(size)]
	c := encoding.Tree{Type: t.String(), Len: n, Offset: at, Size: len(part)}
	if nested {
		c = numeric.Describe(part, t, n)
		shift(&c, at)
	} else if len(part) > 0 {
		c.Field(at, len(part), "values", "")
	}
	c.Name = name
	d.node.Children = append(d.node.Children, c)
	return at + int(size)
}

// shift moves a description by as many bytes.
func shift(n *encoding.Tree, by int) {
	n.Offset += by
	for i := range n.Fields {
		n.Fields[i].Offset += by
	}
	for i := range n.Children {
		shift(&n.Children[i], by)
	}
}

// offsets adds the offsets behind compressed values.
func (d *describer) offsets(at int, nested bool) {
	n := d.n + 1
	if d.fixed > 0 {
		n = 0
	}
	if d.node.Err == nil {
		d.child("offsets", at, uint64(len(d.tree)-at), nested && n > 0, numeric.U64, n)
	}
}
