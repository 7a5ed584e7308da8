package gen

import (
	"encoding/binary"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	schemafb "github.com/amudai/amudai-go/gen/fbs/schema"
)

// schemaDecoder reads schema messages by the text of fbs/schema.fbs alone.
type schemaDecoder struct {
	definitions map[string][]slot         // fields of a table, in the order of their slots
	enums       map[string]map[uint8]bool // values of an enum
	root        string
	tables      map[string]int // numbers of occurrences
	seen        map[string]bool
}

// slot is a field of a table.
type slot struct {
	name, kind string
	required   bool
}

var (
	tablePattern = regexp.MustCompile(`(?s)\btable (\w+) \{(.*?)\}`)
	fieldPattern = regexp.MustCompile(`(\w+): ([\w\[\]]+)( \(required\))?;`)
	enumPattern  = regexp.MustCompile(`(?s)\benum (\w+) : ubyte \{(.*?)\}`)
	valuePattern = regexp.MustCompile(`\w+ = (\d+),`)
	rootPattern  = regexp.MustCompile(`\broot_type (\w+);`)
)

func newSchemaDecoder(t *testing.T) *schemaDecoder {
	t.Helper()
	raw, err := os.ReadFile("../fbs/schema.fbs")
	require.NoError(t, err)
	text := regexp.MustCompile(`//.*`).ReplaceAllString(string(raw), "")
	d := &schemaDecoder{map[string][]slot{}, map[string]map[uint8]bool{}, "", map[string]int{}, map[string]bool{}}
	for _, table := range tablePattern.FindAllStringSubmatch(text, -1) {
		for _, field := range fieldPattern.FindAllStringSubmatch(table[2], -1) {
			d.definitions[table[1]] = append(d.definitions[table[1]], slot{field[1], field[2], field[3] != ""})
		}
		require.Len(t, d.definitions[table[1]], strings.Count(table[2], ";"), "fields of %s", table[1])
	}
	for _, enum := range enumPattern.FindAllStringSubmatch(text, -1) {
		d.enums[enum[1]] = map[uint8]bool{}
		for _, value := range valuePattern.FindAllStringSubmatch(enum[2], -1) {
			number, err := strconv.ParseUint(value[1], 10, 8)
			require.NoError(t, err)
			d.enums[enum[1]][uint8(number)] = true
		}
	}
	require.Len(t, d.definitions, strings.Count(text, "table "))
	require.Len(t, d.enums, strings.Count(text, "enum "))
	d.root = rootPattern.FindStringSubmatch(text)[1]
	return d
}

// decode checks one schema message and returns the number of its type nodes.
func (d *schemaDecoder) decode(t *testing.T, message []byte) int {
	t.Helper()
	before := d.tables["DataType"]
	d.table(t, d.root, message, int(binary.LittleEndian.Uint32(message)))
	return d.tables["DataType"] - before
}

// A table starts with the distance back to its vtable: u16 bytes of the vtable, u16 bytes of the table, then for each
// slot the u16 offset of the field in the table, or 0. Trailing empty slots are left out.
func (d *schemaDecoder) table(t *testing.T, name string, message []byte, at int) {
	t.Helper()
	d.tables[name]++
	slots := d.definitions[name]
	require.NotEmpty(t, slots, name)
	vtable := at - int(int32(binary.LittleEndian.Uint32(message[at:])))
	count := int(binary.LittleEndian.Uint16(message[vtable:]))/2 - 2
	require.LessOrEqual(t, count, len(slots), "%s has slots that the definition lacks", name)
	for i, slot := range slots {
		offset := 0
		if i < count {
			offset = int(binary.LittleEndian.Uint16(message[vtable+4+2*i:]))
		}
		if offset == 0 {
			require.False(t, slot.required, "%s lacks %s", name, slot.name)
			continue
		}
		d.seen[name+"."+slot.name] = true
		d.value(t, slot.kind, message, at+offset)
	}
}

func (d *schemaDecoder) value(t *testing.T, kind string, message []byte, at int) {
	t.Helper()
	if values, ok := d.enums[kind]; ok {
		require.True(t, values[message[at]], "%s %d", kind, message[at])
		return
	}
	switch kind {
	case "bool":
		require.LessOrEqual(t, message[at], byte(1))
	case "ubyte":
		require.Less(t, at, len(message))
	case "uint32":
		require.LessOrEqual(t, at+4, len(message))
	case "uint64":
		require.LessOrEqual(t, at+8, len(message))
	default:
		d.reference(t, kind, message, at+int(binary.LittleEndian.Uint32(message[at:])))
	}
}

// reference reads the target of a field or element: a string, a vector or a table.
func (d *schemaDecoder) reference(t *testing.T, kind string, message []byte, at int) {
	t.Helper()
	element, isVector := strings.CutPrefix(strings.TrimSuffix(kind, "]"), "[")
	if !isVector && kind != "string" {
		d.table(t, kind, message, at)
		return
	}
	count := int(binary.LittleEndian.Uint32(message[at:]))
	if kind == "string" {
		require.True(t, utf8.Valid(message[at+4:at+4+count]))
		return
	}
	width := 4
	if element == "ubyte" {
		width = 1
	}
	for i := range count {
		d.value(t, element, message, at+4+width*i)
	}
}

// unseen lists the defined fields that no message contained.
func (d *schemaDecoder) unseen() []string {
	var names []string
	for table, slots := range d.definitions {
		for _, slot := range slots {
			if name := table + "." + slot.name; !d.seen[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// The generated builders write messages that agree with the definition, for every field of every table.
func TestGeneratedSchemaMatchesTheDefinition(t *testing.T) {
	d := newSchemaDecoder(t)
	b := flatbuffers.NewBuilder(0)
	b.Finish(buildSchema(b))
	require.Equal(t, 2, d.decode(t, b.FinishedBytes()))
	require.Empty(t, d.unseen())

	schema := schemafb.GetRootAsSchema(b.FinishedBytes(), 0)
	require.EqualValues(t, 2, schema.SchemaIdCount())
	var field schemafb.Field
	require.True(t, schema.Fields(&field, 0))
	node := field.DataType(nil)
	require.Equal(t, schemafb.BasicTypeStruct, node.BasicType())
	require.Equal(t, "name", string(node.FieldName()))
	require.Equal(t, uint32(1), node.Lookup(nil).Buckets(2))
	require.Equal(t, "kind", string(field.InternalFieldAnnotation(nil).Kind()))
	var property schemafb.ExtendedTypeProperty
	require.True(t, node.ExtendedType(nil).Properties(&property, 0))
	require.Equal(t, schemafb.PropertyValueKindJsonString, property.Value(nil).Kind())
}

// buildSchema makes a schema in which no field of any table has its default.
func buildSchema(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	name, child := b.CreateString("name"), buildNode(b, 0, 0, 0, 0)
	schemafb.DataTypeStartChildrenVector(b, 1)
	b.PrependUOffsetT(child)
	children := b.EndVector(1)
	schemafb.DataTypeStartFieldAliasesVector(b, 1)
	b.PrependUOffsetT(name)
	aliases := b.EndVector(1)
	node := buildNode(b, children, aliases, buildExtendedType(b), buildLookup(b))

	kind := b.CreateString("kind")
	schemafb.InternalFieldAnnotationStart(b)
	schemafb.InternalFieldAnnotationAddKind(b, kind)
	annotation := schemafb.InternalFieldAnnotationEnd(b)
	schemafb.FieldStart(b)
	schemafb.FieldAddDataType(b, node)
	schemafb.FieldAddInternalFieldAnnotation(b, annotation)
	field := schemafb.FieldEnd(b)

	schemafb.SchemaStartFieldsVector(b, 1)
	b.PrependUOffsetT(field)
	fields, lookup := b.EndVector(1), buildLookup(b)
	schemafb.SchemaStart(b)
	schemafb.SchemaAddFields(b, fields)
	schemafb.SchemaAddSchemaIdCount(b, 2)
	schemafb.SchemaAddFieldLookup(b, lookup)
	return schemafb.SchemaEnd(b)
}

// buildNode makes a type node. Parts that are 0 are omitted, except for the required list of children.
func buildNode(b *flatbuffers.Builder, children, aliases, extended, lookup flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	name := b.CreateString("name")
	if children == 0 {
		schemafb.DataTypeStartChildrenVector(b, 0)
		children = b.EndVector(0)
	}
	schemafb.DataTypeStart(b)
	schemafb.DataTypeAddBasicType(b, schemafb.BasicTypeStruct)
	schemafb.DataTypeAddSchemaId(b, 1)
	schemafb.DataTypeAddParentSchemaId(b, 0xFFFFFFFF)
	schemafb.DataTypeAddFieldName(b, name)
	schemafb.DataTypeAddFieldAliases(b, aliases)
	schemafb.DataTypeAddChildren(b, children)
	schemafb.DataTypeAddSigned(b, true)
	schemafb.DataTypeAddFixedSize(b, 16)
	schemafb.DataTypeAddExtendedType(b, extended)
	schemafb.DataTypeAddLookup(b, lookup)
	return schemafb.DataTypeEnd(b)
}

func buildExtendedType(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	name, data := b.CreateString("name"), b.CreateByteVector([]byte("{}"))
	schemafb.PropertyValueStart(b)
	schemafb.PropertyValueAddKind(b, schemafb.PropertyValueKindJsonString)
	schemafb.PropertyValueAddData(b, data)
	value := schemafb.PropertyValueEnd(b)
	schemafb.ExtendedTypePropertyStart(b)
	schemafb.ExtendedTypePropertyAddName(b, name)
	schemafb.ExtendedTypePropertyAddValue(b, value)
	property := schemafb.ExtendedTypePropertyEnd(b)
	schemafb.ExtendedTypeAnnotationStartPropertiesVector(b, 1)
	b.PrependUOffsetT(property)
	properties := b.EndVector(1)
	schemafb.ExtendedTypeAnnotationStart(b)
	schemafb.ExtendedTypeAnnotationAddLabel(b, name)
	schemafb.ExtendedTypeAnnotationAddProperties(b, properties)
	return schemafb.ExtendedTypeAnnotationEnd(b)
}

func buildLookup(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	schemafb.HashLookupStartBucketsVector(b, 3)
	for _, end := range []uint32{1, 1, 0} { // vectors are built back to front
		b.PrependUint32(end)
	}
	buckets := b.EndVector(3)
	schemafb.HashLookupStartEntriesVector(b, 1)
	b.PrependUint32(0)
	entries := b.EndVector(1)
	schemafb.HashLookupStart(b)
	schemafb.HashLookupAddBuckets(b, buckets)
	schemafb.HashLookupAddEntries(b, entries)
	return schemafb.HashLookupEnd(b)
}
