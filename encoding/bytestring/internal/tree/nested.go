package tree

import (
	"github.com/amudai/amudai-go/internal/base/fault"
)

// MaxLevels bounds the nesting of trees of byte strings, the outermost included.
const MaxLevels = 4

// MaxNested bounds the number of trees of byte strings in a block, because each may stand for as many values as the
// block has, however few bytes it takes.
const MaxNested = 1 << 10

// nesting is the state that a block shares with the trees of byte strings in it.
type nesting struct {
	table *Table
	trees int   // parsed so far
	room  int64 // bytes that their values and offsets may still take
}

// Nested parses a part of the tree that is itself a tree of n byte strings of any length, none of them null. It has
// memory of its own, and is valid as long as t. The size that it claims counts against the limit of the block.
func (t *Tree) Nested(part []byte, n int) (*Block, error) {
	s := t.scratch.child()
	if s.level >= MaxLevels {
		return nil, fault.Limitf("byte strings nested more than %d deep", MaxLevels)
	}
	if s.shared.trees++; s.shared.trees > MaxNested {
		return nil, fault.Limitf("more than %d trees of byte strings in one block", MaxNested)
	}
	const perValue = 8
	if int64(n)+1 > s.shared.room/perValue {
		return nil, fault.Limitf("part of %d values: more than %d bytes", n, s.shared.room)
	}
	s.block, s.used = Block{t: Tree{scratch: s, Num: &s.num, N: n}}, 0
	if err := s.block.t.parse(part, s.shared.room); err != nil {
		return nil, err
	}
	if s.shared.room -= int64(s.block.DataLen()) + perValue*(int64(n)+1); s.shared.room < 0 {
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
