package rntuple

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// class is a struct that is a C++ class.
func class(name, typeName string, members ...arrow.Field) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.StructOf(members...), Metadata: arrow.NewMetadata([]string{"rntuple.type"}, []string{typeName})}
}

// Members of base classes stand in the place of these, at any depth, unless two members have the same name. Only classes have base classes.
func TestBaseClasses(t *testing.T) {
	number := func(name string) arrow.Field { return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32} }
	s := arrow.NewSchema([]arrow.Field{
		class("jet", "Jet", class(":_0", "Link", class(":_0", "Base", number("m_persKey")), number("m_persIndex")), class(":_1", "Other"), number("pt")),
		class("same", "Same", class(":_0", "Base", number("pt")), class(":_1", "Free", number("x")), number("pt")),
		{Name: "record", Type: arrow.StructOf(class(":_0", "Base", number("x")))},
		class("plain", "Plain", arrow.Field{Name: ":_0", Type: arrow.StructOf(number("x"))}),
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	rows := `{"jet": {":_0": {":_0": {"m_persKey": 1}, "m_persIndex": 2}, ":_1": {}, "pt": 3}, "same": {":_0": {"pt": 4}, ":_1": {"x": 5}, "pt": 6}, "record": {":_0": {"x": 7}}, "plain": {":_0": {"x": 8}}}`
	require.NoError(t, b.UnmarshalJSON([]byte(rows)))
	batch := b.NewRecordBatch()
	defer batch.Release()
	file := written(t, s, WriterOptions{}, batch)
	text := func(n ntuple) (schema, values string) {
		var all []string
		for _, f := range n.ArrowSchema().Fields() {
			all = append(all, f.Type.String())
		}
		for _, b := range scanAll(t, n, scan.Options{}) {
			json, err := b.MarshalJSON()
			require.NoError(t, err)
			values += string(json)
		}
		return strings.Join(all, "\n"), values
	}
	members := openBytes(t, file, Options{})
	schema, values := text(members)
	require.Equal(t, `struct<m_persKey: int32, m_persIndex: int32, pt: int32>
struct<:_0: struct<pt: int32>, x: int32, pt: int32>
struct<:_0: struct<x: int32>>
struct<:_0: struct<x: int32>>`, strings.ReplaceAll(schema, ", nullable", ""))
	require.JSONEq(t, `[{"jet": {"m_persKey": 1, "m_persIndex": 2, "pt": 3}, "same": {":_0": {"pt": 4}, "x": 5, "pt": 6}, "record": {":_0": {"x": 7}}, "plain": {":_0": {"x": 8}}}]`, values)
	require.EqualValues(t, 1, members.count(t, "jet.m_persKey = 1 and same.x = 5"))

	stored := openBytes(t, file, Options{BaseClasses: true})
	_, values = text(stored)
	require.JSONEq(t, "["+rows+"]", values)
	require.EqualValues(t, 1, stored.count(t, "jet.\":_0\".\":_0\".m_persKey = 1"))

	// What was read without base classes is not written as the class, which has them.
	again := openBytes(t, rewritten(t, members, WriterOptions{}), Options{})
	_, want := text(members)
	_, values = text(again)
	require.JSONEq(t, want, values)
	for _, f := range again.Schema().Fields {
		require.NotContains(t, []string{"Jet", "Same"}, f.TypeName)
	}
}

// The marker of structures of arrays is kept.
func TestStructureOfArrays(t *testing.T) {
	file := rebuilt(t, func(s *envelope.Schema, _ *envelope.Cluster) {
		s.Fields = append([]envelope.Field(nil), s.Fields...)
		s.Fields[0].Flags |= envelope.FieldSoA
	})
	for range 2 {
		n := openBytes(t, file, Options{})
		marker, _ := n.ArrowSchema().Field(0).Metadata.GetValue("rntuple.soa")
		require.Equal(t, "true", marker)
		require.NotZero(t, n.Schema().Fields[0].Flags&envelope.FieldSoA)
		file = rewritten(t, n, WriterOptions{})
	}
}
