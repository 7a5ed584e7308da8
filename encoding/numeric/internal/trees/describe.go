package trees

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/describe"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Describe says what the bytes of a tree of n values of type t are, without decoding the values. Of a bad tree it
// describes what can be read, and puts the error into the node that it was found in.
func (t *Table) Describe(tree []byte, typ word.Type, n int) encoding.Tree {
	return t.describe(tree, typ, n, 0)
}

// describe describes a tree that is so many levels deep in another.
func (t *Table) describe(tree []byte, typ word.Type, n, depth int) encoding.Tree {
	d := Describer{Describer: describe.New(tree, typ.String(), n), T: typ, N: n, depth: depth, table: t}
	r, err := t.of(tree, typ)
	if err == nil && depth >= MaxDepth {
		err = fault.Limitf("encoding trees nested more than %d deep", MaxDepth)
	}
	if err != nil {
		d.Node.Err = err
		return d.Node
	}
	r.Describe(&d)
	return d.Node
}

// Describer is a tree that is being described.
type Describer struct {
	describe.Describer
	T     word.Type
	N     int
	depth int
	table *Table
}

// Value adds a field that is a value of the tree's type.
func (d *Describer) Value(name string) {
	d.Number(d.T.Size(), name, func(b []byte) string { return formatValue(b, d.T) })
}

// Count adds a field that is a number of values, of which there are no more than in the tree.
func (d *Describer) Count(name string) int {
	n := d.Uint(4, name)
	if n > uint64(d.N) {
		d.Fail(fault.Corruptf("%d %s for %d values", n, name, d.N))
	}
	return int(n)
}

// Part adds a part that is a tree, or raw.
func (d *Describer) Part(name string, size uint64, nested bool, t word.Type, n int) {
	if !nested {
		d.Raw(name, size, t.String(), n)
		return
	}
	d.Tree(name, size, func(part []byte) encoding.Tree { return d.table.describe(part, t, n, d.depth+1) })
}

// Last adds a part that takes all bytes that are left.
func (d *Describer) Last(name string, nested bool, t word.Type, n int) {
	d.Part(name, d.Left(), nested, t, n)
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
