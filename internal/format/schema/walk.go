package schema

import (
	"fmt"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Budget bounds the work of walking a schema. References in the message only point forward, but
// many may point to the same table: a short message can describe a tree of 2^64 nodes, or
// repeat a long text in every node. No tree of a writer exceeds the budget. A Budget belongs to
// one goroutine.
type Budget struct {
	nodes    int64 // nodes left
	work     int64 // units of 16 bytes left
	extended map[int]*Extended
}

// Budget suffices to visit every node of s once.
func (s *Schema) Budget() *Budget {
	return &Budget{nodes: int64(s.count), work: int64(len(s.buf) / 4), extended: map[int]*Extended{}}
}

// Spend accounts for one visit of n. The error wraps [fault.ErrCorrupt].
func (b *Budget) Spend(n Node) error {
	b.nodes--
	return b.spend(1 + len(n.name)/16)
}

func (b *Budget) spend(work int) error {
	b.work -= int64(work)
	if b.nodes < 0 || b.work < 0 {
		return fault.Corruptf("the schema leads to more nodes than it has")
	}
	return nil
}

// Describe is a copy of the node without its children. Nodes that share an annotation in the message
// get the same *Extended, which must not be modified.
func (b *Budget) Describe(n Node) (Field, error) {
	f := Field{Name: n.Name(), Type: n.basic, Signed: n.Signed(), FixedSize: n.size, Internal: n.internal}
	if err := b.Spend(n); err != nil {
		return f, err
	}
	var err error
	if f.Aliases, err = n.Aliases(); err != nil {
		return f, err
	}
	if err := b.spend(textLen(f.Aliases) / 16); err != nil {
		return f, err
	}
	t := n.table
	ext, ok := t.Table(typeExtended)
	if !ok {
		return f, t.Err
	}
	if f.Extended, ok = b.extended[ext.Pos()]; ok {
		return f, nil
	}
	if f.Extended, err = n.Extended(); err != nil {
		return f, err
	}
	b.extended[ext.Pos()] = f.Extended
	return f, b.spend(f.Extended.size() / 16)
}

// size is the approximate work to read e.
func (e *Extended) size() int {
	n := len(e.Label)
	for _, p := range e.Properties {
		n += 32 + len(p.Name) + len(p.Data)
	}
	return n
}

func textLen(texts []string) (n int) {
	for _, t := range texts {
		n += len(t)
	}
	return n
}

// Walk calls f for every node in pre-order, with the path that leads to it. It stops at the
// first error, including errors of f.
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
			return fault.InColumn(err, path)
		}
		if err := w.walk(JoinPath(path, n.PathName(i, c)), c); err != nil {
			return err
		}
	}
	return nil
}

// PathName is the name of child i in paths.
func (n Node) PathName(i int, child Node) string {
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

// Check walks the whole schema and verifies the rules that concern several nodes: unique ids,
// parents, and unique names. Readers do not need it.
func (s *Schema) Check() error {
	c := checker{budget: s.Budget(), ids: map[uint32]bool{}}
	return c.siblings("", NoParent, true, s.NumFields(), s.Field)
}

type checker struct {
	budget *Budget
	ids    map[uint32]bool
}

// siblings checks n nodes and those below them.
func (c *checker) siblings(path string, parent uint32, named bool, n int, at func(int) (Node, error)) error {
	names := map[string]bool{}
	for i := range n {
		node, err := at(i)
		if err == nil {
			_, err = c.budget.Describe(node)
		}
		if err != nil {
			return fault.InColumn(err, path)
		}
		name := node.Name()
		here := JoinPath(path, name)
		switch {
		case named && name == "":
			return fault.Corruptf("field %d of %q has no name", i, path)
		case named && names[name]:
			return fault.Corruptf("field name %q occurs twice in %q", name, path)
		case c.ids[node.id]:
			return fault.Corruptf("column %s: schema id %d is used twice", here, node.id)
		case node.ParentID() != parent:
			return fault.Corruptf("column %s: parent %d instead of %d", here, node.ParentID(), parent)
		}
		names[name], c.ids[node.id] = true, true
		if err := c.siblings(here, node.id, node.basic == Struct, node.NumChildren(), node.Child); err != nil {
			return err
		}
	}
	return nil
}
