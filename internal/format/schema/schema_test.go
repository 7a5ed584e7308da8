package schema_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	schemafb "github.com/amudai/amudai-go/gen/fbs/schema"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// sample has every feature of a schema.
func sample() []schema.Field {
	i64 := func(name string) schema.Field { return schema.Field{Name: name, Type: schema.Int64, Signed: true} }
	shared := &schema.Extended{Label: "Geo", Properties: []schema.Property{
		{Name: "crs", Kind: schema.PropertyString, Data: []byte("EPSG:4326")}, {Name: "", Kind: 200, Data: []byte{}},
	}}
	wide := schema.Field{Name: "wide", Type: schema.Struct}
	for i := range 12 {
		wide.Children = append(wide.Children, i64(fmt.Sprintf("c%d", i)))
	}
	return []schema.Field{
		i64("id"),
		{Name: "v1.2", Type: schema.String, Aliases: []string{"version", "v"}, Extended: shared},
		{Name: `a\b`, Type: schema.Binary, Extended: &schema.Extended{Label: "Geo", Properties: shared.Properties}},
		{Name: "orders", Type: schema.List, Children: []schema.Field{{Type: schema.Struct, Children: []schema.Field{
			i64("id"), {Name: "price", Type: schema.FixedSizeBinary, FixedSize: 16, Extended: &schema.Extended{Label: schema.LabelDecimal}},
		}}}},
		{Name: "tags", Type: schema.Map, Children: []schema.Field{{Type: schema.String}, {Type: schema.Guid, FixedSize: 16}}},
		wide,
		{Name: "fsl", Type: schema.FixedSizeList, FixedSize: 3, Children: []schema.Field{{Name: "x", Type: schema.Float32}}},
		{Name: "deleted", Type: schema.Boolean, Internal: "deleted"},
		{Name: "u", Type: schema.Union, Children: []schema.Field{{Name: "a", Type: schema.Int8}, {Type: schema.Unit}}},
		{Name: "none", Type: schema.Struct},
	}
}

func build(t testing.TB, fields []schema.Field) *schema.Schema {
	b, err := schema.Build(fields)
	require.NoError(t, err)
	s, err := schema.Parse(b)
	require.NoError(t, err)
	return s
}

func TestBuildAndRead(t *testing.T) {
	s := build(t, sample())
	require.NoError(t, s.Check())
	require.Equal(t, sample(), describe(t, s))
	again, err := schema.Build(sample())
	require.NoError(t, err)
	require.Equal(t, s.Bytes(), again, "the same fields give the same bytes")

	n, err := s.Path("u")
	require.NoError(t, err)
	text, err := n.Text()
	require.NoError(t, err)
	require.Equal(t, "Union<a:UInt8,:Unit>", text)
	require.Equal(t, uint32(schema.NoParent), n.ParentID())
}

func TestPaths(t *testing.T) {
	s := build(t, sample())
	for path, want := range map[string]string{
		"id": "id", `v1\.2`: "v1.2", "v1.2": "v1.2", `a\\b`: `a\b`, `a\b`: `a\b`, "orders.item.price": "price", "orders.id": "id",
		"tags.key": "", "tags.values": "", "wide.c11": "c11", "fsl.x": "x", "u.a": "a",
	} {
		n, err := s.Path(path)
		require.NoError(t, err, path)
		require.Equal(t, want, n.Name(), path)
	}
	for _, path := range []string{"", "ID", "orders.item.prices", "orders.item.price.x", "orders.anything.id", "orders.anything", "tags.item", "wide.c12", "id.x", "."} {
		_, err := s.Path(path)
		require.ErrorIs(t, err, schema.ErrNoField, path)
	}
	for path, meant := range map[string]string{
		"ID": "id", "orders.prcie": "price", "orders.item.Price": "price", "tags.kye": "key", "orders.itme.id": "item",
	} {
		_, err := s.Path(path)
		require.ErrorContains(t, err, ": is "+meant+" meant?", path)
	}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune(`ab.\`))), 1, 4).Draw(t, "names")
		path := schema.Escape(names[0])
		for _, n := range names[1:] {
			path += "." + schema.Escape(n)
		}
		require.Equal(t, names, schema.SplitPath(path))
	})
}

// The lookup of docs/format.md §4.3 in the bytes of the message.
func TestLookupVector(t *testing.T) {
	var fields []schema.Field
	for _, name := range []string{"id", "name", "score", "ts", "tags", "city"} {
		fields = append(fields, schema.Field{Name: name, Type: schema.Boolean})
	}
	b, err := schema.Build(fields)
	require.NoError(t, err)
	l := schemafb.GetRootAsSchema(b, 0).FieldLookup(nil)
	var buckets, entries []uint32
	for i := range l.BucketsLength() {
		buckets = append(buckets, l.Buckets(i))
	}
	for i := range l.EntriesLength() {
		entries = append(entries, l.Entries(i))
	}
	require.Equal(t, []uint32{0, 2, 4, 4, 6}, buckets)
	require.Equal(t, []uint32{4, 5, 1, 3, 0, 2}, entries)
}

// Code of flatc reads the messages of Build, required fields included.
func TestGeneratedCodeReadsIt(t *testing.T) {
	fields := sample()
	b, err := schema.Build(fields)
	require.NoError(t, err)
	root := schemafb.GetRootAsSchema(b, 0)
	require.Equal(t, len(fields), root.FieldsLength())
	next := uint32(0)
	for i := range fields {
		var f schemafb.Field
		require.True(t, root.Fields(&f, i))
		if fields[i].Internal != "" {
			require.Equal(t, fields[i].Internal, string(f.InternalFieldAnnotation(nil).Kind()))
		}
		requireGenerated(t, &fields[i], f.DataType(nil), schema.NoParent, &next)
	}
	require.Equal(t, next, root.SchemaIdCount())
}

func requireGenerated(t *testing.T, want *schema.Field, got *schemafb.DataType, parent uint32, next *uint32) {
	id := *next
	*next++
	require.Equal(t, id, got.SchemaId())
	require.Equal(t, parent, got.ParentSchemaId())
	require.NotNil(t, got.FieldName())
	require.Equal(t, want.Name, string(got.FieldName()))
	require.Equal(t, uint8(want.Type), uint8(got.BasicType()))
	require.Equal(t, want.Signed, got.Signed())
	require.Equal(t, uint64(want.FixedSize), got.FixedSize())
	require.Equal(t, len(want.Aliases), got.FieldAliasesLength())
	require.Equal(t, want.Type == schema.Struct && len(want.Children) >= 10, got.Lookup(nil) != nil)
	if want.Extended != nil {
		e := got.ExtendedType(nil)
		require.Equal(t, want.Extended.Label, string(e.Label()))
		require.Equal(t, len(want.Extended.Properties), e.PropertiesLength())
		for i, p := range want.Extended.Properties {
			var g schemafb.ExtendedTypeProperty
			require.True(t, e.Properties(&g, i))
			require.Equal(t, p.Name, string(g.Name()))
			require.Equal(t, uint8(p.Kind), uint8(g.Value(nil).Kind()))
			require.Equal(t, string(p.Data), string(g.Value(nil).DataBytes()))
		}
	}
	require.Equal(t, len(want.Children), got.ChildrenLength())
	for i := range want.Children {
		var c schemafb.DataType
		require.True(t, got.Children(&c, i))
		requireGenerated(t, &want.Children[i], &c, id, next)
	}
}

func TestBuildRefuses(t *testing.T) {
	leaf := schema.Field{Name: "x", Type: schema.Int8}
	deep := leaf
	for range schema.MaxDepth {
		deep = schema.Field{Name: "x", Type: schema.List, Children: []schema.Field{deep}}
	}
	for what, fields := range map[string][]schema.Field{
		"no name":           {{Type: schema.Int8}},
		"twice":             {leaf, leaf},
		"unnamed child":     {{Name: "s", Type: schema.Struct, Children: []schema.Field{{Type: schema.Int8}}}},
		"child twice":       {{Name: "s", Type: schema.Struct, Children: []schema.Field{leaf, leaf}}},
		"list without item": {{Name: "l", Type: schema.List}},
		"number with child": {{Name: "n", Type: schema.Int8, Children: []schema.Field{leaf}}},
		"signed float":      {{Name: "f", Type: schema.Float32, Signed: true}},
		"guid size":         {{Name: "g", Type: schema.Guid}},
		"not UTF-8":         {{Name: "\xff", Type: schema.Int8}},
		"unknown type":      {{Name: "x", Type: 18}},
		"depth":             {deep},
	} {
		_, err := schema.Build(fields)
		require.Error(t, err, what)
	}
}

// Opening a schema of 50,000 fields reads one of them.
func TestManyFields(t *testing.T) {
	const n = 50_000
	fields := make([]schema.Field, n)
	shared := &schema.Extended{Label: "Arrow", Properties: []schema.Property{{Name: "arrow", Kind: 1, Data: []byte("utf8")}}}
	for i := range fields {
		fields[i] = schema.Field{Name: fmt.Sprintf("column_%05d", i), Type: schema.String, Extended: shared}
	}
	b, err := schema.Build(fields)
	require.NoError(t, err)
	t.Logf("%.1f bytes a field", float64(len(b))/n)
	allocs := testing.AllocsPerRun(10, func() {
		s, err := schema.Parse(b)
		require.NoError(t, err)
		f, ok, err := s.Find("column_31415")
		require.True(t, ok && err == nil && f.ID() == 31415)
	})
	require.Less(t, allocs, 20.0)
}

// A damaged or missing lookup makes searches slower, and finds the same fields.
func TestLookupFallback(t *testing.T) {
	var fields []schema.Field
	for i := range 40 {
		fields = append(fields, schema.Field{Name: fmt.Sprint("f", i), Type: schema.Boolean})
	}
	b, err := schema.Build(fields)
	require.NoError(t, err)
	l := schemafb.GetRootAsSchema(b, 0).FieldLookup(nil)
	tab := l.Table()
	at := int(tab.Vector(flatbuffers.UOffsetT(tab.Offset(4))))
	for what, damage := range map[string]func([]byte){
		"bucket count":  func(b []byte) { binary.LittleEndian.PutUint32(b[at-4:], 12) },
		"bucket bounds": func(b []byte) { binary.LittleEndian.PutUint32(b[at+4:], 1<<31) },
	} {
		broken := append([]byte(nil), b...)
		damage(broken)
		s, err := schema.Parse(broken)
		require.NoError(t, err, what)
		for i := range fields {
			n, ok, err := s.Find(fields[i].Name)
			require.NoError(t, err)
			require.True(t, ok, "%s: %s", what, fields[i].Name)
			require.Equal(t, uint32(i), n.ID())
			requireCount(t, s, fields[i].Name, 1)
		}
		requireCount(t, s, "f40", 0)
	}
}

func requireCount(t *testing.T, s *schema.Schema, name string, want int) {
	n, err := s.Count(name)
	require.NoError(t, err)
	require.Equal(t, want, n, name)
}

// Fields with the same name, which writers refuse, are counted with a lookup and without.
func TestCountFields(t *testing.T) {
	b, err := schema.Build([]schema.Field{{Name: "one", Type: schema.Int8}, {Name: "two", Type: schema.Int8}, {Name: "six", Type: schema.Int8}})
	require.NoError(t, err)
	s, err := schema.Parse(b)
	require.NoError(t, err)
	requireCount(t, s, "one", 1)
	requireCount(t, s, "ten", 0)
	twice := bytes.Replace(b, []byte("six"), []byte("one"), 1)
	l := schemafb.GetRootAsSchema(twice, 0).FieldLookup(nil)
	tab := l.Table()
	at := int(tab.Vector(flatbuffers.UOffsetT(tab.Offset(4))))
	binary.LittleEndian.PutUint32(twice[at-4:], 12) // no lookup
	s, err = schema.Parse(twice)
	require.NoError(t, err)
	requireCount(t, s, "one", 2)
}

// field writes a Boolean field and finish a schema, both with code of flatc.
func field(fb *flatbuffers.Builder, name string, id uint32, children ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	return topLevel(fb, node(fb, name, id, schema.Boolean, children...))
}

func topLevel(fb *flatbuffers.Builder, dt flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	schemafb.FieldStart(fb)
	schemafb.FieldAddDataType(fb, dt)
	return schemafb.FieldEnd(fb)
}

func node(fb *flatbuffers.Builder, name string, id uint32, basic schema.BasicType, children ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	n := fb.CreateString(name)
	c := offsets(fb, children)
	schemafb.DataTypeStart(fb)
	schemafb.DataTypeAddBasicType(fb, schemafb.BasicType(basic))
	schemafb.DataTypeAddSchemaId(fb, id)
	schemafb.DataTypeAddFieldName(fb, n)
	schemafb.DataTypeAddChildren(fb, c)
	return schemafb.DataTypeEnd(fb)
}

func offsets(fb *flatbuffers.Builder, items []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	fb.StartVector(4, len(items), 4)
	for i := len(items) - 1; i >= 0; i-- {
		fb.PrependUOffsetT(items[i])
	}
	return fb.EndVector(len(items))
}

func finish(fb *flatbuffers.Builder, fields []flatbuffers.UOffsetT, ids uint32) []byte {
	v := offsets(fb, fields)
	schemafb.SchemaStart(fb)
	schemafb.SchemaAddFields(fb, v)
	schemafb.SchemaAddSchemaIdCount(fb, ids)
	fb.Finish(schemafb.SchemaEnd(fb))
	return fb.FinishedBytes()
}

// With 2^60 paths to the same node, every walk soon ends with an error.
func TestSharedTablesDoNotExplode(t *testing.T) {
	for _, ids := range []uint32{1, 100, 140, 1<<32 - 1} {
		fb := flatbuffers.NewBuilder(0)
		dt := node(fb, "leaf", 0, schema.Boolean)
		for range schema.MaxDepth - 4 {
			dt = node(fb, "s", 0, schema.Struct, dt, dt)
		}
		s, err := schema.Parse(finish(fb, []flatbuffers.UOffsetT{topLevel(fb, dt)}, ids))
		if ids == 1<<32-1 { // more than the number of bytes
			require.ErrorIs(t, err, fault.ErrCorrupt)
			continue
		}
		require.NoError(t, err)
		steps := 0
		err = s.Walk(func(string, schema.Node) error { steps++; return nil })
		require.ErrorIs(t, err, fault.ErrCorrupt)
		require.Less(t, steps, 5000)
		n, err := s.Field(0)
		require.NoError(t, err)
		_, err = n.Text()
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
}

func TestTooDeep(t *testing.T) {
	fb := flatbuffers.NewBuilder(0)
	dt := node(fb, "leaf", 0, schema.Boolean)
	for range 10_000 {
		dt = node(fb, "l", 0, schema.List, dt)
	}
	s, err := schema.Parse(finish(fb, []flatbuffers.UOffsetT{topLevel(fb, dt)}, 20_000))
	require.NoError(t, err)
	err = s.Walk(func(string, schema.Node) error { return nil })
	require.ErrorIs(t, err, fault.ErrLimit)
	_, err = s.Path("l" + strings.Repeat(".item", 9_000))
	require.ErrorIs(t, err, fault.ErrLimit)
}

func TestCheckFindsWhatNodesCannotShow(t *testing.T) {
	type leaf struct {
		name string
		id   uint32
	}
	for what, fields := range map[string][]leaf{
		"id twice":        {{"a", 0}, {"b", 0}},
		"name twice":      {{"a", 0}, {"a", 1}},
		"parent 0 on top": {{"a", 0}},
		"no name":         {{"", 0}},
	} {
		fb := flatbuffers.NewBuilder(0)
		var items []flatbuffers.UOffsetT
		for _, f := range fields {
			items = append(items, field(fb, f.name, f.id))
		}
		s, err := schema.Parse(finish(fb, items, 2))
		require.NoError(t, err)
		require.ErrorIs(t, s.Check(), fault.ErrCorrupt, what)
	}
}

func TestParseRefuses(t *testing.T) {
	one := func(ids uint32) []byte {
		fb := flatbuffers.NewBuilder(0)
		return finish(fb, []flatbuffers.UOffsetT{field(fb, "a", 0)}, ids)
	}
	good := one(1)
	for n := range len(good) - 3 { // the last bytes are the terminating zero and the padding of a string
		s, err := schema.Parse(good[:n])
		if err == nil {
			err = walkAll(s)
		}
		require.Error(t, err, "cut at %d of %d", n, len(good))
	}
	_, err := schema.Parse(finish(flatbuffers.NewBuilder(0), nil, 0))
	require.NoError(t, err)
	_, err = schema.Parse(one(0))
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

// walkAll calls every accessor of every node.
func walkAll(s *schema.Schema) error {
	for i := range s.NumFields() {
		if _, err := s.Field(i); err != nil {
			return err
		}
	}
	return s.Walk(func(path string, n schema.Node) error {
		if _, err := n.Schema().Budget().Describe(n); err != nil {
			return err
		}
		n.ParentID()
		if n.Depth() == 1 {
			if _, err := n.Text(); err != nil {
				return err
			}
		}
		if _, _, err := n.ChildByName("x"); err != nil {
			return err
		}
		_, err := s.Path(path)
		return err
	})
}

func FuzzSchema(f *testing.F) {
	b, err := schema.Build(sample())
	require.NoError(f, err)
	f.Add(b)
	fb := flatbuffers.NewBuilder(0)
	f.Add(append([]byte(nil), finish(fb, []flatbuffers.UOffsetT{field(fb, "a", 0)}, 1)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4096 {
			return
		}
		s, err := schema.Parse(b)
		if err != nil {
			return
		}
		_ = walkAll(s)
		_ = s.Check()
		_, _, _ = s.Find("orders")
	})
}
