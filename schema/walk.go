package schema

import (
	"fmt"
	"sort"

	"github.com/amudai/amudai-go/fault"
)

// Budget bounds the work of walking a schema. References in the message only
// lead forward, but many may lead to the same table: a short message can
// describe a tree of 2^64 nodes. No tree that a writer made exceeds the budget.
type Budget struct {
	nodes int64 // how many more nodes
	work  int64 // how many more units of 16 bytes
}

// Budget is enough to look at every node of s once.
func (s *Schema) Budget() *Budget {
	return &Budget{nodes: int64(s.count), work: int64(len(s.buf) / 4)}
}

// Spend accounts for one look at n; the error wraps [fault.ErrCorrupt].
func (b *Budget) Spend(n Node) error {
	b.nodes--
	b.work -= 1 + int64(len(n.name)/16)
	if b.nodes < 0 || b.work < 0 {
		return fault.Corruptf("the schema leads to more nodes than it has")
	}
	return nil
}

// Walk calls f for every node in pre-order, with the path that leads to it. It
// stops at the first error, also one of f.
func (s *Schema) Walk(f func(path string, n Node) error) error {
	w := walker{budget: s.Budget(), f: f}
	for i := range s.NumFields() {
		n, err := s.Field(i)
		if err == nil {
			err = w.walk(JoinPath("", n.Name()), n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type walker struct {
	budget *Budget
	f      func(path string, n Node) error
}

func (w *walker) walk(path string, n Node) error {
	if err := w.budget.Spend(n); err != nil {
		return err
	}
	if err := w.f(path, n); err != nil {
		return err
	}
	for i := range n.NumChildren() {
		c, err := n.Child(i)
		if err != nil {
			return fault.In(err, "column "+path, -1)
		}
		if err := w.walk(JoinPath(path, n.pathName(i, c)), c); err != nil {
			return err
		}
	}
	return nil
}

// pathName is what paths call child i.
func (n Node) pathName(i int, child Node) string {
	switch {
	case len(child.name) > 0:
		return child.Name()
	case n.basic == List, n.basic == FixedSizeList:
		return "item"
	case n.basic == Map:
		return [...]string{"key", "value"}[i&1]
	}
	return fmt.Sprint(i)
}

// Check walks the whole schema and verifies what single nodes cannot show: ids
// that are used once, parents, and names that are set and unique where they
// must be. Reading does not need it.
func (s *Schema) Check() error {
	seen := make(map[uint32]bool)
	if err := checkNames("", s.NumFields(), s.Field); err != nil {
		return err
	}
	return s.Walk(func(path string, n Node) error {
		if seen[n.id] {
			return fault.Corruptf("column %s: schema id %d is used twice", path, n.id)
		}
		seen[n.id] = true
		if n.depth == 1 && n.ParentID() != NoParent {
			return fault.Corruptf("column %s: top-level node with parent %d", path, n.ParentID())
		}
		for i := range n.NumChildren() {
			c, err := n.Child(i)
			if err != nil {
				return err
			}
			if c.ParentID() != n.id {
				return fault.Corruptf("column %s: child %d has parent %d, not %d", path, i, c.ParentID(), n.id)
			}
		}
		if n.basic == Struct {
			return checkNames(path, n.NumChildren(), n.Child)
		}
		return nil
	})
}

func checkNames(path string, n int, at func(int) (Node, error)) error {
	seen := make(map[string]bool)
	for i := range n {
		c, err := at(i)
		if err != nil {
			return err
		}
		if len(c.name) == 0 {
			return fault.Corruptf("field %d of %q has no name", i, path)
		}
		if seen[c.Name()] {
			return fault.Corruptf("field name %q occurs twice in %q", c.name, path)
		}
		seen[c.Name()] = true
	}
	return nil
}

// ByID is the node with a schema id; ok is false if there is none. With ids in
// pre-order, as all known writers give them, it costs a binary search per level;
// otherwise an index of all nodes is made once.
func (s *Schema) ByID(id uint32) (n Node, ok bool, err error) {
	if id >= s.count {
		return Node{}, false, nil
	}
	if n, ok := preOrder(id, s.NumFields(), s.Field); ok {
		return n, true, nil
	}
	s.indexOnce.Do(func() {
		byID := make(map[uint32]Node)
		s.indexErr = s.Walk(func(_ string, n Node) error {
			if _, twice := byID[n.id]; !twice {
				byID[n.id] = n
			}
			return nil
		})
		s.byID = byID
	})
	n, ok = s.byID[id]
	if !ok && s.indexErr != nil {
		return Node{}, false, s.indexErr
	}
	return n, ok, nil
}

// preOrder looks for id among n siblings whose ids ascend, and below them. It
// fails if they do not, or if a node on the way is broken.
func preOrder(id uint32, n int, at func(int) (Node, error)) (Node, bool) {
	for n > 0 {
		broken := false
		after := sort.Search(n, func(i int) bool {
			c, err := at(i)
			broken = broken || err != nil
			return err != nil || c.id > id
		})
		if broken || after == 0 {
			return Node{}, false
		}
		c, err := at(after - 1)
		if err != nil {
			return Node{}, false
		}
		if c.id == id {
			return c, true
		}
		n, at = c.NumChildren(), c.Child
	}
	return Node{}, false
}
