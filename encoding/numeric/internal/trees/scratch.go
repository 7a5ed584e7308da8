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
	Mem     word.Arena
	Zstd    decompress.Zstd
	table   *Table
	codes   Codes         // of the last dictionary
	views8  []View[uint8] // by depth, as the others
	views16 []View[uint16]
	views32 []View[uint32]
	views64 []View[uint64]
	readers [MaxDepth]Reader // of a tree and those around it
	depth   int
	nodes   int
}

// Begin makes all memory free for a tree, whose encodings are those of the table.
func (s *Scratch) Begin(t *Table) {
	s.Mem.Reset()
	s.table, s.depth, s.nodes = t, 0, 0
}

// enter begins to read a tree, and leave is its end.
func (s *Scratch) enter(p *Part) (*Reader, error) {
	if s.depth == MaxDepth {
		return nil, fault.Limitf("encoding trees nested more than %d deep", MaxDepth)
	}
	if s.nodes++; s.nodes > maxNodes {
		return nil, fault.Limitf("encoding tree of more than %d nodes", maxNodes)
	}
	r := &s.readers[s.depth]
	r.Reset(p.Bytes)
	r.T, r.N = p.T, p.N
	s.depth++
	return r, nil
}

func (s *Scratch) leave() { s.depth-- }

// viewAt is memory for the view of the next tree.
func viewAt[U word.Uint](s *Scratch) *View[U] {
	var views *[]View[U]
	switch word.SizeOf[U]() {
	case 1:
		views = any(&s.views8).(*[]View[U])
	case 2:
		views = any(&s.views16).(*[]View[U])
	case 4:
		views = any(&s.views32).(*[]View[U])
	default:
		views = any(&s.views64).(*[]View[U])
	}
	if *views == nil {
		*views = make([]View[U], MaxDepth+1)
	}
	return &(*views)[s.depth]
}
