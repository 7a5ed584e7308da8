package schema

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/flatread"
	"github.com/amudai/amudai-go/internal/base/suggest"
)

// A HashLookup finds a name among n siblings (docs/format.md §4.3):
//
//	buckets  B+1 numbers, B a power of two: the index of the first entry of each bucket; the last is n
//	entries  n indices of siblings, grouped by bucket, ascending inside a bucket
//
// The bucket of a name is XXH3-64(name) mod B. For the names id, name, score,
// ts, tags, city: B = 4, buckets 0 2 4 4 6, entries 4 5 1 3 0 2.
type hashLookup struct {
	buckets, entries []uint32
}

// buildLookup makes the lookup of names.
func buildLookup(names []string) hashLookup {
	n := len(names)
	count := 1 << bits.Len(uint(max(n, 4)/2-1))
	hash := make([]uint32, n)
	l := hashLookup{buckets: make([]uint32, count+1), entries: make([]uint32, n)}
	for i, name := range names {
		hash[i] = uint32(xxh3.HashString(name)) & uint32(count-1)
		l.buckets[hash[i]+1]++
	}
	for i := range count {
		l.buckets[i+1] += l.buckets[i]
	}
	next := append([]uint32(nil), l.buckets...)
	for i, h := range hash {
		l.entries[next[h]] = uint32(i)
		next[h]++
	}
	return l
}

// siblings are the nodes of a struct, or of the top level, with their lookup if there is one.
type siblings struct {
	n      int
	at     func(int) (Node, error)
	lookup flatread.Table
	hashed bool
}

// top are the top-level fields.
func (s *Schema) top() *siblings { return &siblings{s.NumFields(), s.Field, s.lookup, s.hashed} }

// inBucket yields the siblings with a name by the lookup, until yield returns false. ok is false if there is none, or if it is broken.
func (s *siblings) inBucket(name string, yield func(Node) bool) (ok bool) {
	if !s.hashed {
		return false
	}
	buckets, entries := s.lookup.Vector(lookupBuckets, 4), s.lookup.Vector(lookupEntries, 4)
	count := buckets.Len() - 1
	if s.lookup.Err != nil || count < 1 || count&(count-1) != 0 {
		return false
	}
	b := int(xxh3.HashString(name) & uint64(count-1))
	from, to := buckets.Uint32(b), buckets.Uint32(b+1)
	if from > to || uint64(to) > uint64(entries.Len()) {
		return false
	}
	for k := int(from); k < int(to); k++ {
		i := entries.Uint32(k)
		if uint64(i) >= uint64(s.n) {
			return false
		}
		c, err := s.at(int(i))
		if err != nil {
			return false
		}
		if string(c.name) == name && !yield(c) {
			return true
		}
	}
	return true
}

// scan is inBucket without a lookup.
func (s *siblings) scan(name string, yield func(Node) bool) error {
	for i := range s.n {
		c, err := s.at(i)
		if err != nil {
			return err
		}
		if string(c.name) == name && !yield(c) {
			return nil
		}
	}
	return nil
}

// find is the first sibling with exactly this name; ok is false if there is none.
func (s *siblings) find(name string) (node Node, ok bool, err error) {
	first := func(c Node) bool {
		node, ok = c, true
		return false
	}
	if !s.inBucket(name, first) {
		err = s.scan(name, first)
	}
	return node, ok, err
}

// Count is the number of top-level fields with exactly this name.
func (s *Schema) Count(name string) (n int, err error) {
	count := func(Node) bool {
		n++
		return true
	}
	top := s.top()
	if !top.inBucket(name, count) {
		n = 0
		err = top.scan(name, count)
	}
	return n, err
}

// Find is the top-level field with exactly this name; ok is false if there is none. It uses the
// lookup of the schema. If that is missing or broken, it searches all fields.
func (s *Schema) Find(name string) (n Node, ok bool, err error) {
	top := s.top()
	if n, ok, err = top.find(name); !ok && err == nil && strings.HasPrefix(name, internalPrefix) {
		top.hashed = false // it has the empty name of an internal field
		n, ok, err = top.find(name)
	}
	return n, ok, err
}

// ChildByName is the child with exactly this name; ok is false if there is none.
func (n Node) ChildByName(name string) (child Node, ok bool, err error) {
	t := n.table
	kids := siblings{n: n.NumChildren(), at: n.Child}
	kids.lookup, kids.hashed = t.Table(typeLookup)
	return kids.find(name)
}

// step appends the nodes that one part of a path leads to: "item", or the item's own name,
// to the item of a list, any other name by way of the item; "key" or "keys", "value" or
// "values" to those of a map.
func (n Node) step(nodes []Node, name string) (out []Node, ok bool, err error) {
	switch n.basic {
	case List, FixedSizeList:
		item, err := n.Child(0)
		if err != nil {
			return nodes, false, err
		}
		nodes = append(nodes, item)
		if name == "item" || name == item.Name() && name != "" {
			return nodes, true, nil
		}
		return item.step(nodes, name)
	case Map:
		for i, names := range [...][2]string{{"key", "keys"}, {"value", "values"}} {
			c, err := n.Child(i)
			if err != nil {
				return nodes, false, err
			}
			if name == names[0] || name == names[1] || name == c.Name() && name != "" {
				return append(nodes, c), true, nil
			}
		}
		return nodes, false, nil
	}
	c, ok, err := n.ChildByName(name)
	return append(nodes, c), ok, err
}

// hint suggests a field for an unknown part of a path below a node, or at the top level for
// nil.
func (s *Schema) hint(n *Node, name string) string {
	meant := suggest.Name(name, func(yield func(string) bool) { s.eachName(n, yield) })
	if meant == "" {
		return ""
	}
	return fmt.Sprintf(": is %s meant?", Escape(meant))
}

// eachName yields the names that a path may go on with from a node, or from the top for nil.
func (s *Schema) eachName(n *Node, yield func(string) bool) {
	count, at := s.NumFields(), s.Field
	for n != nil && (n.basic == List || n.basic == FixedSizeList) {
		item, err := n.Child(0)
		if err != nil || !yield("item") {
			return
		}
		n = &item
	}
	if n != nil {
		count, at = n.NumChildren(), n.Child
		if n.basic == Map && (!yield("key") || !yield("value")) {
			return
		}
	}
	for i := range count {
		if c, err := at(i); err != nil || !yield(c.Name()) {
			return
		}
	}
}

// Path is the node at a path (see [JoinPath]). If there is no such node, it is the top-level
// field whose name is the whole text, dots included. The error wraps [ErrNoField] if there is
// no such node.
func (s *Schema) Path(path string) (Node, error) {
	nodes, err := s.PathNodes(path)
	if err != nil {
		return Node{}, err
	}
	return nodes[len(nodes)-1], nil
}

// PathNodes are the nodes from the top-level field to the node of [Schema.Path], both included.
func (s *Schema) PathNodes(path string) ([]Node, error) {
	names := SplitPath(path)
	n, ok, err := s.Find(names[0])
	nodes, hint := []Node{n}, ""
	if !ok && err == nil {
		hint = s.hint(nil, names[0])
	}
	for _, name := range names[1:] {
		if !ok || err != nil {
			break
		}
		from := nodes[len(nodes)-1]
		if nodes, ok, err = from.step(nodes, name); !ok && err == nil {
			hint = s.hint(&from, name)
		}
	}
	if !ok && err == nil {
		n, ok, err = s.Find(path)
		nodes = []Node{n}
	}
	switch {
	case err != nil:
		return nil, fault.InColumn(err, path)
	case !ok:
		return nil, fmt.Errorf("%w %q%s", ErrNoField, path, hint)
	}
	return nodes, nil
}

// A path names a node: the names of the nodes that lead to it, separated by dots. A dot or
// backslash inside a name has a backslash before it. A path goes through a list to its items: a
// name behind a list is that of a field of the items. The item itself is "item", or has its own
// name if it has one. The key and value of a map are "key" and "value". An unknown name is an
// error.
//
//	price             a top-level field
//	orders.id         the field id of the structs in the list orders
//	orders.item.id    the same
//	v1\.2             a top-level field called "v1.2"
//
// Names of siblings are unique in a stored schema: a second field a is stored as a#2, and a
// field without a name as #1 (arrowmap.UniqueNames).

var escaper = strings.NewReplacer(`\`, `\\`, `.`, `\.`)

// Escape is name as one part of a path.
func Escape(name string) string {
	if !strings.ContainsAny(name, `.\`) {
		return name
	}
	return escaper.Replace(name)
}

// JoinPath is the path of the child called name of the node at parent; parent
// is "" for a top-level node.
func JoinPath(parent, name string) string {
	if parent == "" {
		return Escape(name)
	}
	return parent + "." + Escape(name)
}

// SplitPath is the names that a path consists of, at least one. Every text is a
// path: a backslash before anything but a dot or a backslash stands for itself.
func SplitPath(path string) []string {
	var names []string
	var name strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path) && (path[i+1] == '.' || path[i+1] == '\\'):
			i++
			name.WriteByte(path[i])
		case c == '.':
			names = append(names, name.String())
			name.Reset()
		default:
			name.WriteByte(c)
		}
	}
	return append(names, name.String())
}
