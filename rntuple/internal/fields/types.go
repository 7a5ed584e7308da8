package fields

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/projection"
)

// retype sets the types of a field by those of its children. Layouts without children have Plain already.
func (f *Field) retype() {
	switch f.Layout {
	case List, FixedList:
		item := f.Children[0]
		f.Plain, f.Physical = f.listOf(item.Arrow, item.Arrow.Type, f.view), f.listOf(item.Arrow, item.Physical, false)
	case Map:
		key, value := f.Children[0].Children[0], f.Children[0].Children[1]
		f.Plain = f.mapOf(key.Arrow, value.Arrow, key.Arrow.Type, value.Arrow.Type)
		f.Physical = f.mapOf(key.Arrow, value.Arrow, key.Physical, value.Physical)
	case Optional:
		item := f.Children[0]
		f.Plain, f.Physical, f.Wraps = item.Plain, item.Physical, item.Wraps
	case Struct:
		f.Plain, f.Physical = arrow.StructOf(f.fields(false, false)...), arrow.StructOf(f.fields(true, false)...)
	case Variant:
		f.Physical = arrow.StructOf(f.fields(true, true)...)
		if f.Plain = arrow.StructOf(f.fields(false, true)...); f.union {
			f.Plain = f.unionType()
		}
	default:
		f.Physical = arrowutil.WithoutView(f.Plain)
	}
	f.Arrow.Type, f.Wraps = wrapped(f.Plain, f.Wraps)
}

// wrapped puts wraps around a type. Those of the result have their new inner types.
func wrapped(dt arrow.DataType, wraps []arrow.DataType) (arrow.DataType, []arrow.DataType) {
	out := make([]arrow.DataType, len(wraps))
	for i := len(wraps) - 1; i >= 0; i-- {
		dt = kinds.WithTypes(wraps[i], []arrow.DataType{dt})
		out[i] = dt
	}
	return dt, out
}

// leaf tells whether values of the layout have no fields below them.
func (l Layout) leaf() bool { return l == Value || l == Text || l == Bytes || l == FixedBytes }

func (f *Field) listOf(item arrow.Field, dt arrow.DataType, view bool) arrow.DataType {
	item.Name, item.Type = "item", dt
	switch {
	case f.Layout == FixedList:
		return arrow.FixedSizeListOfField(int32(f.N), item)
	case f.large && view:
		return arrow.LargeListViewOfField(item)
	case f.large:
		return arrow.LargeListOfField(item)
	case view:
		return arrow.ListViewOfField(item)
	}
	return arrow.ListOfField(item)
}

func (f *Field) mapOf(key, value arrow.Field, keyType, valueType arrow.DataType) arrow.DataType {
	key.Name, key.Type = "key", keyType
	value.Name, value.Type = "value", valueType
	m := arrow.MapOfFields(key, value)
	m.KeysSorted = f.sorted
	return m
}

// fields are the fields of the children; nullable but for the first, if they are alternatives.
func (f *Field) fields(physical, alternatives bool) []arrow.Field {
	out := make([]arrow.Field, len(f.Children))
	for i, kid := range f.Children {
		out[i] = kid.Arrow
		if physical {
			out[i].Type = kid.Physical
		}
		out[i].Nullable = kid.Arrow.Nullable || alternatives && kid.Layout != Tag
	}
	return out
}

// unionType has the names and type codes of an annotation, else those of the tags, and a null for variants without a value.
func (f *Field) unionType() arrow.DataType {
	names := f.names
	if names == nil {
		names = defaultUnion(len(f.Children) - 1)
	}
	all := []arrow.Field{{Type: arrow.Null, Nullable: true}}
	for _, kid := range f.Children[1:] {
		all = append(all, kid.Arrow)
	}
	codes := make([]arrow.UnionTypeCode, len(all))
	for i, a := range names {
		all[i].Name, codes[i] = a.Name, a.Code
	}
	return arrow.DenseUnionOf(all, codes)
}

// IsUnion tells whether a variant's Arrow type is a union.
func (f *Field) IsUnion() bool { return f.Layout == Variant && f.union }

// With is the field with other children of the same nodes: some of a struct, parts of items. Its values are wrapped
// or not. Some alternatives of a union are a struct.
func (f *Field) With(children []*Field, isWrapped bool) *Field {
	out := *f
	out.Children = children
	if f.union {
		out.Children, out.union = f.alternatives(children), false
	}
	if !isWrapped {
		out.Wraps = nil
	}
	out.retype()
	return &out
}

// alternatives are children of a union with the names that they have in it. The tag stands for variants without a value.
func (f *Field) alternatives(children []*Field) []*Field {
	all, out := f.unionType().(arrow.NestedType).Fields(), make([]*Field, len(children))
	for i, kid := range children {
		own := *kid
		own.Arrow.Name = all[slices.IndexFunc(f.Children, func(c *Field) bool { return c.Node == kid.Node })].Name
		if kid.Layout == Tag {
			own.Plain, own.Physical, own.Arrow.Type, own.Arrow.Nullable = arrow.Null, arrow.Null, arrow.Null, true
		}
		out[i] = &own
	}
	return out
}

// Prune is a part of a field, with the same nodes.
func (f *Field) Prune(p *projection.Part) *Field {
	if p.Whole() {
		return f
	}
	switch f.Layout {
	case Optional, Map: // Arrow's numbering of parts leaves out the item of both
		return f.With([]*Field{f.Children[0].Prune(p)}, true)
	case List, FixedList:
		return f.With([]*Field{f.Children[0].Prune(p.Child(0))}, true)
	case Struct, Variant:
		var kept []*Field
		for _, i := range p.Children(len(f.Children)) {
			kept = append(kept, f.Children[i].Prune(p.Child(i)))
		}
		return f.With(kept, true)
	}
	return f
}
