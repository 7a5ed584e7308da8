package bytestring

import (
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// maxNested bounds the number of trees of byte strings in a block, because each may stand for as many values as the
// block has, however few bytes it takes.
const maxNested = 1 << 10

// nesting is the state that a block shares with the trees of byte strings in it.
type nesting struct {
	trees int   // parsed so far
	room  int64 // bytes that their values and offsets may still take
}

// nested parses a part of the tree that is itself a tree of n byte strings of any length, none of them null. It has
// memory of its own, and is valid as long as b. The size that it claims counts against the limit of the block.
func (b *Block) nested(part []byte, n int) (*Block, error) {
	s := b.s.child()
	if s.level >= encode.MaxLevels {
		return nil, fault.Limitf("byte strings nested more than %d deep", encode.MaxLevels)
	}
	if s.shared.trees++; s.shared.trees > maxNested {
		return nil, fault.Limitf("more than %d trees of byte strings in one block", maxNested)
	}
	const perValue = 8
	if int64(n)+1 > s.shared.room/perValue {
		return nil, fault.Limitf("part of %d values: more than %d bytes", n, s.shared.room)
	}
	s.block, s.used = Block{s: s, n: n}, 0
	if err := s.block.parse(part, s.shared.room); err != nil {
		return nil, err
	}
	if s.shared.room -= int64(s.block.dataLen) + perValue*(int64(n)+1); s.shared.room < 0 {
		return nil, fault.Limitf("parts of a block decode to %d bytes too many", -s.shared.room)
	}
	return &s.block, nil
}

// child is memory for the next nested tree.
func (s *Scratch) child() *Scratch {
	if s.used == len(s.children) {
		s.children = append(s.children, new(Scratch))
	}
	c := s.children[s.used]
	s.used++
	c.level, c.shared = s.level+1, s.shared
	return c
}
