package tree

import (
	"github.com/amudai/amudai-go/encoding/numeric"
)

// Scratch is the working memory of a decoder, kept between blocks so that
// decoding does not allocate. The zero value is ready. It grows to what the
// largest block needed, and serves one goroutine at a time.
type Scratch struct {
	block    Block
	reader   Reader
	shared   *nesting // of the block that this one is in, or its own
	own      nesting
	level    int        // 0 for the outermost tree of byte strings
	children []*Scratch // of nested trees
	used     int        // of children, by the block
	states   []any      // of each encoding, by row
	num      numeric.Scratch
	offsets  []uint64
	lengths  []uint32
	bits     []byte
	data     []byte
	decided  []byte // by code of a shape
}

// State is what an encoding keeps in the Scratch: its memory, and what it knows about the tree at hand. The first one is zero.
func State[T any](t *Tree) *T {
	state := &t.scratch.states[t.row.index]
	if *state == nil {
		*state = new(T)
	}
	return (*state).(*T)
}
