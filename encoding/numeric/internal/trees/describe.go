package trees

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Describe says what the bytes of a tree of n values of type t are, without decoding the values. Of a bad tree it
// describes what can be read, and puts the error into the node that it was found in.
func (t *Table) Describe(tree []byte, typ word.Type, n int) encoding.Tree {
	return t.describe("", tree, 0, typ, n, 0)
}

// describe describes a tree that begins at byte at of what is described.
func (t *Table) describe(name string, tree []byte, at int, typ word.Type, n, depth int) encoding.Tree {
	node := encoding.Tree{Name: name, Type: typ.String(), Len: n, Offset: at, Size: len(tree)}
	r, err := t.of(tree, typ)
	if err == nil && depth >= MaxDepth {
		err = fault.Limitf("encoding trees nested more than %d deep", MaxDepth)
	}
	node.Code = Peek(tree)
	if err != nil {
		node.Err = err
		return node
	}
	node.Field(at, 2, "code", r.Code.String())
	r.Describe(&Describer{Node: &node, Tree: tree, T: typ, N: n, at: at, depth: depth, table: t})
	return node
}

// Describer is a tree that is being described. Its methods take places in the tree.
type Describer struct {
	Node  *encoding.Tree
	Tree  []byte
	T     word.Type
	N     int
	at    int // offset of the tree
	depth int
	table *Table
}

// Header checks that the header is there.
func (d *Describer) Header(own int) (header, payload []byte, ok bool) {
	header, payload, err := Split(d.Tree, own)
	if err != nil {
		d.Node.Err = err
		return nil, nil, false
	}
	return header, payload, true
}

// Field adds a field of any content.
func (d *Describer) Field(from, size int, name string) {
	d.Node.Field(d.at+from, size, name, "")
}

// Uint adds a field of the header that is an unsigned number.
func (d *Describer) Uint(from, size int, name string) uint64 {
	var v uint64
	for i := range size {
		v |= uint64(d.Tree[from+i]) << (8 * i)
	}
	d.Node.Field(d.at+from, size, name, strconv.FormatUint(v, 10))
	return v
}

// Value adds a field that is a value of the tree's type.
func (d *Describer) Value(from int, name string) {
	d.Node.Field(d.at+from, d.T.Size(), name, formatValue(d.Tree[from:], d.T))
}

// Zeros adds the padding between two places.
func (d *Describer) Zeros(from, to int) {
	if to > from {
		d.Field(from, to-from, "zeros")
	}
}

// Rest adds all bytes from a place on.
func (d *Describer) Rest(from int, name string) {
	if from < len(d.Tree) {
		d.Field(from, len(d.Tree)-from, name)
	}
}

// Child adds a tree, or a raw part.
func (d *Describer) Child(name string, from, to int, nested bool, t word.Type, n int) {
	part := d.Tree[from:to]
	if nested {
		d.Node.Children = append(d.Node.Children, d.table.describe(name, part, d.at+from, t, n, d.depth+1))
		return
	}
	raw := encoding.Tree{Name: name, Type: t.String(), Len: n, Offset: d.at + from, Size: len(part)}
	if len(part) > 0 {
		raw.Field(d.at+from, len(part), "values", "")
	}
	d.Node.Children = append(d.Node.Children, raw)
}

// formatValue is the first value of b for people.
func formatValue(b []byte, t word.Type) string {
	switch t {
	case word.I8:
		return strconv.Itoa(int(int8(b[0])))
	case word.I16:
		return strconv.Itoa(int(int16(binary.LittleEndian.Uint16(b))))
	case word.I32:
		return strconv.Itoa(int(int32(binary.LittleEndian.Uint32(b))))
	case word.I64:
		return strconv.FormatInt(int64(binary.LittleEndian.Uint64(b)), 10)
	case word.U8:
		return strconv.Itoa(int(b[0]))
	case word.U16:
		return strconv.Itoa(int(binary.LittleEndian.Uint16(b)))
	case word.U32:
		return strconv.FormatUint(uint64(binary.LittleEndian.Uint32(b)), 10)
	case word.F32:
		return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 'g', -1, 32)
	case word.F64:
		return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
	}
	return strconv.FormatUint(binary.LittleEndian.Uint64(b), 10)
}
