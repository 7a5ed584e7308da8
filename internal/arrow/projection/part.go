package projection

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// Type is the part of a type. A part of an extension type is one of its storage type.
func (p *Part) Type(t arrow.DataType) arrow.DataType {
	if p.Whole() {
		return t
	}
	switch t := t.(type) {
	case arrow.ExtensionType:
		return p.Type(t.StorageType())
	case *arrow.DictionaryType:
		return &arrow.DictionaryType{IndexType: t.IndexType, ValueType: p.Type(t.ValueType), Ordered: t.Ordered}
	case *arrow.RunEndEncodedType:
		runs := arrow.RunEndEncodedOf(t.RunEnds(), p.Type(t.Encoded()))
		runs.ValueNullable = t.ValueNullable
		return runs
	case *arrow.StructType:
		var kept []arrow.Field
		for _, i := range p.Children(t.NumFields()) {
			f := t.Field(i)
			f.Type = p.Child(i).Type(f.Type)
			kept = append(kept, f)
		}
		return arrow.StructOf(kept...)
	case *arrow.MapType:
		return arrowutil.WithChildren(t, []arrow.DataType{p.Child(0).Type(t.KeyType()), p.Child(1).Type(t.ItemType())})
	case arrow.ListLikeType:
		return arrowutil.WithChildren(t, []arrow.DataType{p.Child(0).Type(t.Elem())})
	}
	return t
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
	if p.Whole() {
		d.Retain()
		return d
	}
	t := p.Type(d.DataType())
	switch from := d.DataType().(type) {
	case arrow.ExtensionType:
		storage := withChildren(d, from.StorageType(), d.Children())
		defer storage.Release()
		return p.data(storage)
	case *arrow.DictionaryType:
		values := p.data(d.Dictionary())
		defer values.Release()
		return array.NewDataWithDictionary(t, d.Len(), d.Buffers(), d.NullN(), d.Offset(), values.(*array.Data))
	case *arrow.RunEndEncodedType:
		values := p.data(d.Children()[1])
		defer values.Release()
		return withChildren(d, t, []arrow.ArrayData{d.Children()[0], values})
	case *arrow.MapType:
		entries := d.Children()[0]
		keys, items := p.Child(0).data(entries.Children()[0]), p.Child(1).data(entries.Children()[1])
		defer keys.Release()
		defer items.Release()
		kept := withChildren(entries, t.(*arrow.MapType).Elem(), []arrow.ArrayData{keys, items})
		defer kept.Release()
		return withChildren(d, t, []arrow.ArrayData{kept})
	case *arrow.StructType, arrow.ListLikeType:
		var kept []arrow.ArrayData
		for _, i := range p.Children(len(d.Children())) {
			child := p.Child(i).data(d.Children()[i])
			defer child.Release()
			kept = append(kept, child)
		}
		return withChildren(d, t, kept)
	}
	d.Retain()
	return d
}

// withChildren is data of another type with other children.
func withChildren(d arrow.ArrayData, t arrow.DataType, children []arrow.ArrayData) arrow.ArrayData {
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		return array.NewDataWithDictionary(t, d.Len(), d.Buffers(), d.NullN(), d.Offset(), dict)
	}
	return array.NewData(t, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}
