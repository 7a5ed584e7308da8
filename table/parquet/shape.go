package parquet

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// shapedType is the type that a column has by the rules of Parquet, where
// pqarrow reads another one, type t:
//
//   - INT96 is a time without a zone; pqarrow says UTC.
//
//   - Old writers nest lists in two levels, which pqarrow takes for lists of
//     structs with one field:
//
//     required group a (LIST) {            list<list<int32>>
//     repeated group array (LIST) {
//     repeated int32 array; } }
func shapedType(n schema.Node, t arrow.DataType) arrow.DataType {
	if leaf, ok := n.(*schema.PrimitiveNode); ok {
		return shapedLeaf(leaf, t)
	}
	group := n.(*schema.GroupNode)
	switch t := t.(type) {
	case *arrow.StructType:
		return shapedStruct(group, t)
	case *arrow.MapType:
		entries, ok := group.Field(0).(*schema.GroupNode)
		if !ok || entries.NumFields() != 2 {
			return t
		}
		key, item := t.KeyField(), t.ItemField()
		key.Type, item.Type = shapedType(entries.Field(0), key.Type), shapedType(entries.Field(1), item.Type)
		m := arrow.MapOfFields(key, item)
		m.KeysSorted = t.KeysSorted
		return m
	case *arrow.ListType:
		elem := t.ElemField()
		elem.Type = shapedElem(group, elem.Type)
		return arrow.ListOfField(elem)
	}
	return t
}

func shapedLeaf(n *schema.PrimitiveNode, t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.ListType: // a repeated leaf
		elem := t.ElemField()
		elem.Type = shapedLeaf(n, elem.Type)
		return arrow.ListOfField(elem)
	case *arrow.TimestampType:
		if n.PhysicalType() == pq.Types.Int96 {
			return &arrow.TimestampType{Unit: t.Unit}
		}
	}
	return t
}

func shapedStruct(n *schema.GroupNode, t *arrow.StructType) arrow.DataType {
	if n.NumFields() != t.NumFields() {
		return t
	}
	fields := t.Fields()
	for i := range fields {
		fields[i].Type = shapedType(n.Field(i), fields[i].Type)
	}
	return arrow.StructOf(fields...)
}

// shapedElem is the type of the elements of the list that a group is.
func shapedElem(n *schema.GroupNode, t arrow.DataType) arrow.DataType {
	st, isStruct := t.(*arrow.StructType)
	if n.RepetitionType() == pq.Repetitions.Repeated { // each of which is the group itself
		if isStruct {
			return shapedStruct(n, st)
		}
		return t
	}
	switch repeated := n.Field(0).(type) {
	case *schema.PrimitiveNode:
		return shapedLeaf(repeated, t)
	case *schema.GroupNode:
		if repeated.NumFields() == 1 && repeated.Name() != "array" && repeated.Name() != n.Name()+"_tuple" {
			return shapedType(repeated.Field(0), t)
		}
		if !isStruct {
			return t
		}
		shaped := shapedStruct(repeated, st)
		if repeated.ConvertedType() == schema.ConvertedTypes.List && repeated.NumFields() == 1 &&
			repeated.Field(0).RepetitionType() == pq.Repetitions.Repeated {
			return shaped.(*arrow.StructType).Field(0).Type
		}
		return shaped
	}
	return t
}

// shaped gives an array that pqarrow read the type that [shapedType] says. The
// caller releases it.
func shaped(a arrow.Array, t arrow.DataType) arrow.Array {
	if arrow.TypeEqual(a.DataType(), t) {
		a.Retain()
		return a
	}
	if s, ok := a.(*array.Struct); ok {
		if st, ok := t.(*arrow.StructType); ok {
			return shapedFields(s, st)
		}
		return shaped(s.Field(0), t)
	}
	var child arrow.Array
	switch a := a.(type) {
	case *array.Map:
		child = shaped(a.ListValues(), t.(*arrow.MapType).Elem())
	case *array.List:
		child = shaped(a.ListValues(), t.(*arrow.ListType).Elem())
	default:
		return relabel(a, t)
	}
	defer child.Release()
	return withItems(a, t, child)
}

func shapedFields(s *array.Struct, t *arrow.StructType) arrow.Array {
	kids := make([]arrow.ArrayData, s.NumField())
	for i := range kids {
		d := s.Data().Children()[i]
		child := array.MakeFromData(d)
		changed := shaped(child, t.Field(i).Type)
		child.Release()
		defer changed.Release()
		kids[i] = changed.Data()
	}
	d := s.Data()
	data := array.NewData(t, d.Len(), d.Buffers(), kids, d.NullN(), d.Offset())
	defer data.Release()
	return array.MakeFromData(data)
}
