package projection

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Type is the part of a type. A part of an extension type is one of its storage type, and some alternatives of a union are a struct, in which
// they are null where another one is chosen.
func (p *Part) Type(t arrow.DataType) arrow.DataType {
	if p.Whole() {
		return t
	}
	var kept []arrow.Field
	for i, f := range kinds.Fields(t) {
		if child, ok := p.in(t, i); ok {
			f.Type = child.Type(f.Type)
			kept = append(kept, f)
		}
	}
	if kinds.Of(t) == kinds.Choice {
		for i := range kept {
			kept[i].Nullable = true
		}
		return arrow.StructOf(kept...)
	}
	return kinds.With(t, kept)
}

// in is the part of a part of a type. ok is false if it is left out: only structs and unions do without some.
func (p *Part) in(t arrow.DataType, i int) (child *Part, ok bool) {
	switch kinds.Of(t) {
	case kinds.Wrap:
		return p, true
	case kinds.Record, kinds.Choice:
		return p.children[i], p.children[i] != nil
	}
	return p.children[i], true
}

// Array is the part of an array, of the type that Type says. It shares the array's memory, but for alternatives of unions;
// the caller releases it.
func (p *Part) Array(a arrow.Array) (arrow.Array, error) {
	if p.Whole() {
		a.Retain()
		return a, nil
	}
	d, err := p.data(a.Data())
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

// data is the part of what an array consists of; the caller releases it.
func (p *Part) data(d arrow.ArrayData) (arrow.ArrayData, error) {
	dt := d.DataType()
	switch {
	case p.Whole() || kinds.Of(dt) == kinds.Leaf:
		d.Retain()
		return d, nil
	case kinds.Of(dt) == kinds.Choice:
		return p.alternatives(d)
	}
	return kinds.Rebuild(d, p.Type(dt), func(i int, part arrow.ArrayData) (arrow.ArrayData, error) {
		if child, ok := p.in(dt, i); ok {
			return child.data(part)
		}
		return nil, nil
	})
}

// alternatives is the struct of some alternatives of a union.
func (p *Part) alternatives(d arrow.ArrayData) (arrow.ArrayData, error) {
	union := array.MakeFromData(d)
	defer union.Release()
	var parts []arrow.ArrayData
	for i := range kinds.Fields(d.DataType()) {
		child, ok := p.in(d.DataType(), i)
		if !ok {
			continue
		}
		rows, err := arrowutil.Alternative(memory.DefaultAllocator, union, i)
		if err != nil {
			return nil, err
		}
		defer rows.Release()
		part, err := child.data(rows.Data())
		if err != nil {
			return nil, err
		}
		defer part.Release()
		parts = append(parts, part)
	}
	return array.NewData(p.Type(d.DataType()), d.Len(), []*memory.Buffer{nil}, parts, 0, 0), nil
}
