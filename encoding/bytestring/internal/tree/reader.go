package tree

import (
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/layout"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Describe is that of package bytestring.
func (t *Table) Describe(tree []byte, n, fixed int) encoding.Tree {
	return t.describe(tree, n, fixed, 0)
}

// describe is Describe for a tree that is so many levels deep in another.
func (t *Table) describe(tree []byte, n, fixed, level int) encoding.Tree {
	typ := "bytes"
	if fixed > 0 {
		typ = "bytes[" + strconv.Itoa(fixed) + "]"
	}
	r := Reader{Reader: layout.Describe(tree, typ, n), N: n, Fixed: fixed, level: level, table: t}
	switch row := t.find(r.Node.Code); {
	case r.Err != nil:
	case level >= MaxLevels:
		r.Fail(fault.Limitf("byte strings nested more than %d deep", MaxLevels))
	case row == nil:
		r.Fail(fault.Unsupportedf("encoding %v of byte strings", r.Node.Code))
	default:
		row.Layout(&r)
	}
	return r.Description()
}

// Reader reads the parts of a tree of N values, each of Fixed bytes or, if that is 0, of any length.
type Reader struct {
	layout.Reader
	N, Fixed int
	level    int
	table    *Table
}

// Numbers reads a tree of numbers, and the zeros behind it.
func (r *Reader) Numbers(name string, size uint64, t numeric.Type, n int) []byte {
	part := r.Tree(name, size, func(part []byte) encoding.Tree { return numeric.Describe(part, t, n) })
	r.PadBetween()
	return part
}

// perValue reads a part of some numbers, none if values have a fixed size, which is a tree or raw.
func (r *Reader) perValue(name string, size uint64, nested bool, t numeric.Type, n int) Numbers {
	if r.Fixed > 0 {
		n = 0
	}
	p := Numbers{Nested: nested}
	if nested && n > 0 {
		p.Bytes = r.Tree(name, size, func(part []byte) encoding.Tree { return numeric.Describe(part, t, n) })
	} else {
		p.Bytes = r.Raw(name, size, t.String(), n)
	}
	return p
}

// Lengths reads the lengths of n values, none if these have a fixed size.
func (r *Reader) Lengths(size uint64, nested bool, n int) Numbers {
	return r.perValue("lengths", size, nested, numeric.U32, n)
}

// Offsets reads the offsets behind compressed values, to the end of the tree.
func (r *Reader) Offsets(nested bool) Numbers {
	r.PadBetween()
	return r.perValue("offsets", r.Left(), nested, numeric.U64, r.N+1)
}

// Width reads the width of offsets or lengths, which is 0 for values of a fixed size.
func (r *Reader) Width(name string, want uint64) {
	if r.Fixed > 0 {
		want = 0
	}
	if width := r.Uint(1, name); width != want {
		r.Fail(fault.Corruptf("offsets or lengths are %d bytes wide instead of %d", width, want))
	}
}

// Texts reads a tree of n byte strings.
func (r *Reader) Texts(name string, size uint64, n int) []byte {
	return r.Tree(name, size, func(part []byte) encoding.Tree { return r.table.describe(part, n, 0, r.level+1) })
}

// NoFixed refuses values of a fixed size.
func (r *Reader) NoFixed() {
	if r.Fixed > 0 {
		r.Fail(fault.Corruptf("byte strings of %d bytes each are not written like that", r.Fixed))
	}
}
