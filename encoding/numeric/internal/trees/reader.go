package trees

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/layout"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Reader reads the parts of a tree of N values of type T.
type Reader struct {
	layout.Reader
	T     word.Type
	N     int
	depth int
	table *Table
}

// Part is a part of a tree: N values of type T as a tree, or raw.
type Part struct {
	Bytes  []byte
	Nested bool
	T      word.Type
	N      int
}

// Value reads a value of the tree's type.
func (r *Reader) Value(name string) uint64 { return r.Number(r.T.Size(), name, valueTexts[r.T]) }

// Count reads a number of values, of which there are no more than in the tree.
func (r *Reader) Count(name string) int {
	n := r.Uint(4, name)
	if n > uint64(r.N) {
		r.Fail(fault.Corruptf("%d %s for %d values", n, name, r.N))
	}
	return int(n)
}

// Part reads a part that is a tree, or raw.
func (r *Reader) Part(name string, size uint64, nested bool, t word.Type, n int) Part {
	var part []byte
	if nested {
		part = r.Tree(name, size, func(part []byte) encoding.Tree { return r.table.describe(part, t, n, r.depth+1) })
	} else {
		part = r.Raw(name, size, t.String(), n)
	}
	return Part{part, nested, t, n}
}

// Last reads a part that takes all bytes that are left.
func (r *Reader) Last(name string, nested bool, t word.Type, n int) Part {
	return r.Part(name, r.Left(), nested, t, n)
}
