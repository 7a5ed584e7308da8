package convert

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Shaper has the units of the INT96 leaves that are read as 12 bytes.
type Shaper map[schema.Node]arrow.TimeUnit

// TypeOf is the type that a column has by the rules of Parquet, where
// pqarrow reads another one, type t:
//
//   - INT96 is a time without a zone; pqarrow gets 12 bytes. See int96.go.
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
	parts := kinds.Fields(t)
	switch shape := kinds.Of(t); {
	case shape == kinds.Record:
		return s.structOf(group, t)
	case shape == kinds.List && len(parts) == 2:
		if entries, ok := group.Field(0).(*schema.GroupNode); ok && entries.NumFields() == 2 {
			return kinds.WithTypes(t, []arrow.DataType{s.TypeOf(entries.Field(0), parts[0].Type), s.TypeOf(entries.Field(1), parts[1].Type)})
		}
	case shape == kinds.List:
		return kinds.WithTypes(t, []arrow.DataType{s.elem(group, parts[0].Type)})
	}
	return t
}

func (s Shaper) leaf(n *schema.PrimitiveNode, t arrow.DataType) arrow.DataType {
	if kinds.Of(t) == kinds.List { // a repeated leaf
		return kinds.WithTypes(t, []arrow.DataType{s.leaf(n, kinds.Fields(t)[0].Type)})
	}
	if unit, ok := s[n]; ok && t.ID() == arrow.FIXED_SIZE_BINARY {
		return &arrow.TimestampType{Unit: unit}
	}
	return t
}

func (s Shaper) structOf(n *schema.GroupNode, t arrow.DataType) arrow.DataType {
	fields := kinds.Fields(t)
	if n.NumFields() != len(fields) {
		return t
	}
	for i := range fields {
		fields[i].Type = s.TypeOf(n.Field(i), fields[i].Type)
	}
	return arrow.StructOf(fields...)
}

// elem returns the type of the elements of a list group.
func (s Shaper) elem(n *schema.GroupNode, t arrow.DataType) arrow.DataType {
	isStruct := kinds.Of(t) == kinds.Record
	if n.RepetitionType() == pq.Repetitions.Repeated { // each element is the group itself
		if isStruct {
			return s.structOf(n, t)
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
		shaped := s.structOf(repeated, t)
		if repeated.ConvertedType() == schema.ConvertedTypes.List && repeated.NumFields() == 1 &&
			repeated.Field(0).RepetitionType() == pq.Repetitions.Repeated {
			return kinds.Fields(shaped)[0].Type
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
	if b, ok := a.(*array.FixedSizeBinary); ok {
		return Int96Times(mem, b, t.(*arrow.TimestampType))
	}
	if s, ok := a.(*array.Struct); ok && t.ID() != arrow.STRUCT {
		return Shaped(mem, s.Field(0), t)
	}
	fields := kinds.Fields(t)
	if len(fields) == 0 {
		return Relabel(a, t), nil
	}
	return arrowutil.Rebuild(mem, a, t, func(i int, part arrow.Array) (arrow.Array, error) { return Shaped(mem, part, fields[i].Type) })
}
