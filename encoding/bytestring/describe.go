package bytestring

import (
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/internal/describe"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Describe names the bytes of a tree of n values, each of fixed bytes or,
// with fixed 0, of any length, without decoding the values. Of a bad tree it
// describes the readable part, and puts the error into the node it was found in.
func Describe(tree []byte, n, fixed int) encoding.Tree { return describeTree(tree, n, fixed, 0) }

// describeTree is Describe for a tree that is so many levels deep in another.
func describeTree(tree []byte, n, fixed, level int) encoding.Tree {
	typ := "bytes"
	if fixed > 0 {
		typ = "bytes[" + strconv.Itoa(fixed) + "]"
	}
	d := describer{Describer: describe.New(tree, typ, n), n: n, fixed: fixed, level: level}
	switch r := rowOf(d.Node.Code); {
	case d.Node.Err != nil:
	case level >= encode.MaxLevels:
		d.Fail(fault.Limitf("byte strings nested more than %d deep", encode.MaxLevels))
	case r == nil:
		d.Fail(fault.Unsupportedf("encoding %v of byte strings", d.Node.Code))
	default:
		r.describe(&d)
	}
	return d.Node
}

// describer is a tree that is being described.
type describer struct {
	describe.Describer
	n, fixed int
	level    int
}

// numbers adds a tree of numbers.
func (d *describer) numbers(name string, size uint64, t numeric.Type, n int) {
	d.Tree(name, size, func(part []byte) encoding.Tree { return numeric.Describe(part, t, n) })
	d.Pad()
}

// perValue adds a part of some numbers, none if values have a fixed size, which is a tree or raw.
func (d *describer) perValue(name string, size uint64, nested bool, t numeric.Type, n int) {
	if d.fixed > 0 {
		n = 0
	}
	if nested && n > 0 {
		d.Tree(name, size, func(part []byte) encoding.Tree { return numeric.Describe(part, t, n) })
	} else {
		d.Raw(name, size, t.String(), n)
	}
}

// offsets adds the offsets behind compressed values.
func (d *describer) offsets(nested bool) {
	d.Pad()
	d.perValue("offsets", d.Left(), nested, numeric.U64, d.n+1)
}

// texts adds a tree of n byte strings.
func (d *describer) texts(name string, size uint64, n int) {
	d.Tree(name, size, func(part []byte) encoding.Tree { return describeTree(part, n, 0, d.level+1) })
}
