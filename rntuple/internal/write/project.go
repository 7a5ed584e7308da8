package write

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// projected is a field at the top that was read from an RNTuple as one that shows another field. It is written
// as such if that field is there, too. Its values are not stored, but compared with those of the other field, a
// cluster at a time.
type projected struct {
	name    string
	paths   map[uint32]string // of the fields that it and those below it show, where the metadata has them
	first   uint32            // its ID
	end     uint32            // that behind the last below it
	shadows []shadow
}

// A shadow is a column that is not stored: its elements must be those of another one.
type shadow struct {
	field  uint32
	c      *col
	source *col
}

// resolve finds the fields and columns that the field shows.
func (b *builder) resolve(p *projected, ids map[string]uint32) error {
	sources := map[uint32]uint32{}
	for id := p.first; id < p.end; id++ {
		f := &b.s.Fields[id]
		source, ok := ids[p.paths[id]]
		if up, known := sources[f.Parent]; !ok && known && id != p.first {
			source, ok = b.child(up, f.Name)
		}
		if !ok {
			return fmt.Errorf("field %q shows a field that is not there", f.Name)
		}
		sources[id] = source
		f.Flags, f.Source = f.Flags|envelope.FieldProjected, source
	}
	next := map[uint32]int{}
	for i := range p.shadows {
		s := &p.shadows[i]
		of := b.columnsOf(sources[s.field])
		k := next[s.field]
		next[s.field]++
		if k >= len(of) || of[k].kind != s.c.kind {
			return fmt.Errorf("field %q shows a field of other columns", b.s.Fields[s.field].Name)
		}
		s.source = of[k]
	}
	return nil
}

func (b *builder) child(parent uint32, name string) (uint32, bool) {
	for id := range b.s.Fields {
		f := &b.s.Fields[id]
		if f.Parent == parent && uint32(id) != parent && f.Name == name {
			return uint32(id), true
		}
	}
	return 0, false
}

func (b *builder) columnsOf(id uint32) (all []*col) {
	for _, c := range b.cols {
		if b.s.Columns[c.id].Field == id {
			all = append(all, c)
		}
	}
	return all
}

// link makes the shadows aliases of their columns.
func (b *builder) link(p *projected) {
	for _, s := range p.shadows {
		b.s.Aliases = append(b.s.Aliases, envelope.Alias{Column: s.source.id, Field: s.field})
		for _, c := range []*col{s.c, s.source} {
			c.watch()
		}
	}
}

// sourceIDs are the fields that are not projected, by their names from the top down.
func (b *builder) sourceIDs() map[string]uint32 {
	ids := map[string]uint32{}
	paths := make([]string, len(b.s.Fields))
	for id := range b.s.Fields {
		f := &b.s.Fields[id]
		paths[id] = f.Name
		if f.Parent != uint32(id) {
			paths[id] = paths[f.Parent] + "." + f.Name
		}
		if f.Flags&envelope.FieldProjected == 0 {
			ids[paths[id]] = uint32(id)
		}
	}
	return ids
}

// project adds a field that shows another one, or a part of the items of a collection.
func (b *builder) project(p Projection) error {
	if err := checkName(p.Name); err != nil {
		return err
	}
	source, ok := b.ids[p.Source]
	if !ok {
		return fmt.Errorf("projection %q: no field %q", p.Name, p.Source)
	}
	var chain []uint32 // collections that the field lies in, the outermost first
	for id := source; b.s.Fields[id].Parent != id; {
		id = b.s.Fields[id].Parent
		f := &b.s.Fields[id]
		switch {
		case f.Role == envelope.RoleCollection && !isOptional(f.TypeName):
			chain = append(chain, id)
		case f.Role == envelope.RoleRecord && f.Flags&envelope.FieldRepetitive == 0:
		default:
			return fault.Unsupportedf("projection %q of %q, which is a part of %s", p.Name, p.Source, f.TypeName)
		}
	}
	slices.Reverse(chain)
	name := b.s.Fields[source].TypeName
	for range chain {
		if name != "" {
			name = "std::vector<" + name + ">"
		}
	}
	parent, at := int64(-1), p.Name
	for _, id := range chain {
		f := envelope.Field{Role: envelope.RoleCollection, Name: at, TypeName: name}
		if _, args := template(name); len(args) == 1 {
			name = args[0]
		}
		parent, at = int64(b.projectField(f, parent, id)), "_0"
	}
	b.projectTree(source, parent, at)
	return nil
}

func isOptional(typeName string) bool {
	head, _ := template(typeName)
	return head == "std::optional" || head == "std::unique_ptr"
}

// projectField adds a field with aliases of all columns of another one.
func (b *builder) projectField(f envelope.Field, parent int64, source uint32) uint32 {
	id := uint32(len(b.s.Fields))
	if f.Parent = id; parent >= 0 {
		f.Parent = uint32(parent)
	}
	f.Flags, f.Source = f.Flags|envelope.FieldProjected, source
	b.s.Fields = append(b.s.Fields, f)
	for _, c := range b.columnsOf(source) {
		b.s.Aliases = append(b.s.Aliases, envelope.Alias{Column: c.id, Field: id})
	}
	return id
}

// projectTree adds a field that shows another one with all below it.
func (b *builder) projectTree(source uint32, parent int64, name string) {
	f := b.s.Fields[source]
	f.Name = name
	id := b.projectField(f, parent, source)
	for i := range int(id) {
		if kid := b.s.Fields[i]; kid.Parent == source && uint32(i) != source {
			b.projectTree(uint32(i), int64(id), kid.Name)
		}
	}
}

// counts are the numbers of items of collections, which another field has.
type counts struct {
	index *col
	wide  bool
	items int64
}

func (n *counts) reset() { n.items = 0 }

func (n *counts) append(e *encoder, arr arrow.Array, rows spans) error {
	if n.wide {
		return appendCounts(n, e, arrowutil.Values[uint64](arr), rows)
	}
	return appendCounts(n, e, arrowutil.Values[uint32](arr), rows)
}

func appendCounts[T uint32 | uint64](n *counts, e *encoder, all []T, rows spans) error {
	for _, r := range rows {
		err := n.index.ends(e, r.to-r.from, func(i int) int64 {
			n.items += int64(all[r.from+i])
			return n.items
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// compare tells whether the elements of the cluster are those of the source.
func (s shadow) compare(schema *envelope.Schema) error {
	if s.c.count != s.source.count || s.c.digest.Sum128() != s.source.digest.Sum128() {
		return in(fault.Unsupportedf("the values differ from those of field %q, which it shows: remove the metadata %q to store them",
			schema.Path(schema.Fields[s.field].Source), "rntuple.projected"), schema.Path(s.field))
	}
	return nil
}
