package convert

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Shaper has the units of the INT96 leaves that are read as 12 bytes.
type Shaper map[schema.Node]arrow.TimeUnit

// TypeOf is the type that a column has by the rules of Parquet, where
// pqarrow reads another one, type t:
//
//   - INT96 is a time without a zone; pqarrow says UTC. See int96.go.
//
//   - Old writers nest lists in two levels, which pqarrow takes for lists of
//     structs with one field:
//
//     required group a (LIST) {            list<list<int32>>
//     repeated group array (LIST) {
//     repeated int32 array; } }
func (s Shaper) TypeOf(n schema.Node, t arrow.DataType) arrow.DataType {
	if leaf, ok := n.(*schema.PrimitiveNode); ok {
		return s.leaf(leaf, t)
	}
	group := n.(*schema.GroupNode)
	switch t := t.(type) {
	case *arrow.StructType:
		return s.structOf(group, t)
	case *arrow.MapType:
		entries, ok := group.Field(0).(*schema.GroupNode)
		if !ok || entries.NumFields() != 2 {
			return t
		}
		key, item := t.KeyField(), t.ItemField()
		key.Type, item.Type = s.TypeOf(entries.Field(0), key.Type), s.TypeOf(entries.Field(1), item.Type)
		m := arrow.MapOfFields(key, item)
		m.KeysSorted = t.KeysSorted
		return m
	case *arrow.ListType:
		elem := t.ElemField()
		elem.Type = s.elem(group, elem.Type)
		return arrow.ListOfField(elem)
	}
	return t
}

func (s Shaper) leaf(n *schema.PrimitiveNode, t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.ListType: // a repeated leaf
		elem := t.ElemField()
		elem.Type = s.leaf(n, elem.Type)
		return arrow.ListOfField(elem)
	case *arrow.FixedSizeBinaryType:
		if unit, ok := s[n]; ok {
			return &arrow.TimestampType{Unit: unit}
		}
	case *arrow.TimestampType:
		if n.PhysicalType() == pq.Types.Int96 {
			return &arrow.TimestampType{Unit: t.Unit}
		}
	}
	return t
}

func (s Shaper) structOf(n *schema.GroupNode, t *arrow.StructType) arrow.DataType {
	if n.NumFields() != t.NumFields() {
		return t
	}
	fields := t.Fields()
	for i := range fields {
		fields[i].Type = s.TypeOf(n.Field(i), fields[i].Type)
	}
	return arrow.StructOf(fields...)
}

// elem returns the type of the elements of a list group.
func (s Shaper) elem(n *schema.GroupNode, t arrow.DataType) arrow.DataType {
	st, isStruct := t.(*arrow.StructType)
	if n.RepetitionType() == pq.Repetitions.Repeated { // each element is the group itself
		if isStruct {
			return s.structOf(n, st)
		}
		return t
	}
	switch repeated := n.Field(0).(type) {
	case *schema.PrimitiveNode:
		return s.leaf(repeated, t)
	case *schema.GroupNode:
		if repeated.NumFields() == 1 && repeated.Name() != "array" && repeated.Name() != n.Name()+"_tuple" {
			return s.TypeOf(repeated.Field(0), t)
		}
		if !isStruct {
			return t
		}
		shaped := s.structOf(repeated, st)
		if repeated.ConvertedType() == schema.ConvertedTypes.List && repeated.NumFields() == 1 &&
			repeated.Field(0).RepetitionType() == pq.Repetitions.Repeated {
			return shaped.(*arrow.StructType).Field(0).Type
		}
		return shaped
	}
	return t
}

// Shaped converts an array of pqarrow to the type of [Shaper.typeOf]. The caller releases it.
func Shaped(mem memory.Allocator, a arrow.Array, t arrow.DataType) (arrow.Array, error) {
	if arrow.TypeEqual(a.DataType(), t) {
		a.Retain()
		return a, nil
	}
	if s, ok := a.(*array.Struct); ok {
		if st, ok := t.(*arrow.StructType); ok {
			return shapedFields(mem, s, st)
		}
		return Shaped(mem, s.Field(0), t)
	}
	var child arrow.Array
	var err error
	switch a := a.(type) {
	case *array.Map:
		child, err = Shaped(mem, a.ListValues(), t.(*arrow.MapType).Elem())
	case *array.List:
		child, err = Shaped(mem, a.ListValues(), t.(*arrow.ListType).Elem())
	case *array.FixedSizeBinary:
		return Int96Times(mem, a, t.(*arrow.TimestampType))
	default:
		return Relabel(a, t), nil
	}
	if err != nil {
		return nil, err
	}
	defer child.Release()
	return withItems(a, t, child), nil
}

func shapedFields(mem memory.Allocator, s *array.Struct, t *arrow.StructType) (arrow.Array, error) {
	kids := make([]arrow.ArrayData, s.NumField())
	for i := range kids {
		d := s.Data().Children()[i]
		child := array.MakeFromData(d)
		changed, err := Shaped(mem, child, t.Field(i).Type)
		child.Release()
		if err != nil {
			return nil, err
		}
		defer changed.Release()
		kids[i] = changed.Data()
	}
	d := s.Data()
	data := array.NewData(t, d.Len(), d.Buffers(), kids, d.NullN(), d.Offset())
	defer data.Release()
	return array.MakeFromData(data), nil
}
