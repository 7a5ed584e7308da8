package fields

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/projection"
)

// retype sets the types of a field by those of its children. Other fields have theirs.
func (f *Field) retype() {
	switch f.Layout {
	case List, FixedList:
		item := f.Children[0]
		f.Arrow.Type, f.Physical = f.listOf(item.Arrow, item.Arrow.Type), f.listOf(item.Arrow, item.Physical)
	case Map:
		key, value := f.Children[0].Children[0], f.Children[0].Children[1]
		f.Arrow.Type = mapOf(key.Arrow.Type, value.Arrow.Type, value.Arrow.Nullable)
		f.Physical = mapOf(key.Physical, value.Physical, value.Arrow.Nullable)
	case Optional:
		f.Arrow.Type, f.Physical = f.Children[0].Arrow.Type, f.Children[0].Physical
	case Struct:
		f.Arrow.Type, f.Physical = arrow.StructOf(f.fields(false, false)...), arrow.StructOf(f.fields(true, false)...)
	case Variant:
		f.Physical = arrow.StructOf(f.fields(true, true)...)
		if f.Arrow.Type = arrow.StructOf(f.fields(false, true)...); f.union {
			f.Arrow.Type = f.unionType()
		}
	default:
		f.Physical = f.Arrow.Type
		if e, ok := f.Arrow.Type.(arrow.ExtensionType); ok {
			f.Physical = e.StorageType()
		}
	}
}

// leaf tells whether values of the layout have no fields below them.
func (l Layout) leaf() bool { return l == Value || l == Text || l == Bytes || l == FixedBytes }

func (f *Field) listOf(item arrow.Field, dt arrow.DataType) arrow.DataType {
	item.Name, item.Type = "item", dt
	switch {
	case f.Layout == FixedList:
		return arrow.FixedSizeListOfField(int32(f.N), item)
	case f.large:
		return arrow.LargeListOfField(item)
	}
	return arrow.ListOfField(item)
}

func mapOf(key, value arrow.DataType, nullable bool) arrow.DataType {
	m := arrow.MapOf(key, value)
	m.SetItemNullable(nullable)
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

// With is the field with other children of the same nodes: some of a struct, parts of items.
func (f *Field) With(children []*Field) *Field {
	out := *f
	out.Children = children
	out.retype()
	return &out
}

// Prune is a part of a field, with the same nodes.
func (f *Field) Prune(p *projection.Part) *Field {
	if p.Whole() {
		return f
	}
	switch f.Layout {
	case Optional, Map: // Arrow's numbering of parts leaves out the item of both
		return f.With([]*Field{f.Children[0].Prune(p)})
	case List, FixedList:
		return f.With([]*Field{f.Children[0].Prune(p.Child(0))})
	case Struct, Variant:
		var kept []*Field
		for _, i := range p.Children(len(f.Children)) {
			kept = append(kept, f.Children[i].Prune(p.Child(i)))
		}
		return f.With(kept)
	}
	return f
}
