package trees

import (
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// MaxDepth bounds the nesting of trees; the reference's go 5 deep.
const MaxDepth = 16

// maxNodes bounds the number of trees in a tree, because each may stand for as many values as the block has, however few
// bytes it takes.
const maxNodes = 256

// Scratch is the working memory of a decoder, kept between blocks so that decoding does not allocate. The zero value is
// ready for Begin. It grows to what the largest block needed: at most a few times the decoded size of that block.
type Scratch struct {
	Mem   word.Arena
	Zstd  decompress.Zstd
	table *Table
	depth int
	nodes int
}

// Begin makes all memory free for a tree, whose encodings are those of the table.
func (s *Scratch) Begin(t *Table) {
	s.Mem.Reset()
	s.table, s.depth, s.nodes = t, 0, 0
}

// enter counts a tree, and leave is its end.
func (s *Scratch) enter() error {
	if s.depth++; s.depth > MaxDepth {
		return fault.Limitf("encoding trees nested more than %d deep", MaxDepth)
	}
	if s.nodes++; s.nodes > maxNodes {
		return fault.Limitf("encoding tree of more than %d nodes", maxNodes)
	}
	return nil
}

func (s *Scratch) leave() { s.depth-- }
