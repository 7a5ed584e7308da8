package tree

// ParseAt parses a tree of n byte strings at a level, in a block of which so many trees were parsed before.
func ParseAt(t *Table, data []byte, n, level, trees int) error {
	s := &Scratch{level: level, shared: &nesting{table: t, trees: trees, room: 1 << 30}}
	tree := Tree{scratch: s, Num: &s.num, N: n}
	return tree.parse(data, 1<<30)
}
