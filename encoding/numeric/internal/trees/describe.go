package trees

import (
	"math"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/layout"
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
	d := Reader{Reader: layout.Describe(tree, typ.String(), n), T: typ, N: n, depth: depth, table: t}
	switch r, err := t.of(tree, typ); {
	case err != nil:
		d.Fail(err)
	case depth >= MaxDepth:
		d.Fail(fault.Limitf("encoding trees nested more than %d deep", MaxDepth))
	default:
		r.Layout(&d)
	}
	return d.Description()
}

// valueTexts are how the values of each type are written for people.
var valueTexts = [...]func(v uint64) string{
	word.I8:  func(v uint64) string { return strconv.Itoa(int(int8(v))) },
	word.I16: func(v uint64) string { return strconv.Itoa(int(int16(v))) },
	word.I32: func(v uint64) string { return strconv.Itoa(int(int32(v))) },
	word.I64: func(v uint64) string { return strconv.FormatInt(int64(v), 10) },
	word.F32: func(v uint64) string {
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	},
	word.F64: func(v uint64) string { return strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64) },
}
