package arrowmap

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/schema"
)

func projectSchema(t testing.TB) *schema.Schema {
	i32, str := arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String
	abc := arrow.StructOf(arrow.Field{Name: "a", Type: i32}, arrow.Field{Name: "b", Type: str}, arrow.Field{Name: "c", Type: i32, Nullable: true})
	nodes, _, err := FromArrow(arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: abc, Nullable: true, Metadata: meta("k", "v")},
		{Name: "l", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: abc}, arrow.Field{Name: "y", Type: i32}))},
		{Name: "m", Type: arrow.MapOf(str, abc)},
		{Name: "d", Type: &arrow.DictionaryType{IndexType: i32, ValueType: abc}},
		{Name: "v", Type: extensions.NewDefaultVariantType()},
		{Name: "iv", Type: arrow.FixedWidthTypes.DayTimeInterval},
		{Name: "a.b", Type: i32},
	}, nil), Options{})
	require.NoError(t, err)
	b, err := schema.Build(nodes)
	require.NoError(t, err)
	s, err := schema.Parse(b)
	require.NoError(t, err)
	return s
}

func TestProject(t *testing.T) {
	s := projectSchema(t)
	for _, c := range []struct {
		paths []string
		want  []string
	}{
		{[]string{"s.b"}, []string{"s: type=struct<b: utf8>, nullable\n   metadata: [\"k\": \"v\"]"}},
		{[]string{"s.c", "a\\.b", "s.a"}, []string{"s: type=struct<a: int32, c: int32 nullable>, nullable\n   metadata: [\"k\": \"v\"]", "a.b: type=int32"}},
		{[]string{"l.item.x.b"}, []string{"l: type=list<item: struct<x: struct<b: utf8>>, nullable>"}},
		{[]string{"l.item.x.b", "l.item.y"}, []string{"l: type=list<item: struct<x: struct<b: utf8>, y: int32>, nullable>"}},
		{[]string{"l.item.x.b", "l.item.x"}, []string{"l: type=list<item: struct<x: struct<a: int32, b: utf8, c: int32 nullable>>, nullable>"}},
		{[]string{"l.x.b", "l.item.x.b", "l.y", "l.y"}, []string{"l: type=list<item: struct<x: struct<b: utf8>, y: int32>, nullable>"}},
		{[]string{"a\\.b", "iv", "a\\.b"}, []string{"a.b: type=int32", "iv: type=day_time_interval"}},
		{[]string{"m.value.b"}, []string{"m: type=map<utf8, struct<b: utf8>, items_nullable>"}},
		{[]string{"d.a"}, []string{"d: type=dictionary<values=struct<a: int32>, indices=int32, ordered=false>"}},
		{[]string{"v.value"}, []string{"v: type=struct<value: binary>"}},
		{[]string{"iv.milliseconds"}, []string{"iv: type=struct<milliseconds: int32 nullable>"}},
		{[]string{"iv"}, []string{"iv: type=day_time_interval"}},
		{[]string{}, nil},
	} {
		columns, err := Project(s, c.paths, ReadOptions{})
		require.NoError(t, err, "%v", c.paths)
		var got []string
		for _, col := range columns {
			got = append(got, col.Arrow.String())
			require.Empty(t, col.AnnotationIgnored)
		}
		require.Equal(t, c.want, got, "%v", c.paths)
	}
	all, err := Project(s, nil, ReadOptions{})
	require.NoError(t, err)
	require.Len(t, all, 7)
	for _, path := range []string{"s.d", "x", "l.item.z", "iv.months"} {
		_, err := Project(s, []string{path}, ReadOptions{})
		require.ErrorIs(t, err, schema.ErrNoField)
	}
	columns, err := Project(s, []string{"l.item.x.b"}, ReadOptions{})
	require.NoError(t, err)
	node, err := s.Path("l.item.x.b")
	require.NoError(t, err)
	require.Equal(t, node.ID(), columns[0].Children[0].Children[0].Children[0].ID)
}
