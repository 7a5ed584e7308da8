package projection

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Type is the part of a type. A part of an extension type is one of its storage type.
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
	return kinds.With(t, kept)
}

// in is the part of a part of a type. ok is false if it is left out: only structs do without some.
func (p *Part) in(t arrow.DataType, i int) (child *Part, ok bool) {
	switch kinds.Of(t) {
	case kinds.Wrap:
		return p, true
	case kinds.Record:
		return p.children[i], p.children[i] != nil
	}
	return p.children[i], true
}

// Array is the part of an array, of the type that Type says. It shares the array's memory;
// the caller releases it.
func (p *Part) Array(a arrow.Array) arrow.Array {
	if p.Whole() {
		a.Retain()
		return a
	}
	d := p.data(a.Data())
	defer d.Release()
	return array.MakeFromData(d)
}

// data is the part of what an array consists of; the caller releases it.
func (p *Part) data(d arrow.ArrayData) arrow.ArrayData {
	if p.Whole() || kinds.Of(d.DataType()) == kinds.Leaf {
		d.Retain()
		return d
	}
	kept, _ := kinds.Rebuild(d, p.Type(d.DataType()), func(i int, part arrow.ArrayData) (arrow.ArrayData, error) {
		child, ok := p.in(d.DataType(), i)
		if !ok {
			return nil, nil
		}
		return child.data(part), nil
	})
	return kept
}
