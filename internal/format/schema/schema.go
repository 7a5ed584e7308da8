// Package schema has the type tree of a shard: a FlatBuffers message that [Build] writes, and
// that is read in place, so that opening one of 50,000 fields reads only that field.
//
// The message (docs/format.md §4; every table has its slots in the order given):
//
//	Schema     fields [Field], schema_id_count u32, field_lookup HashLookup
//	Field      data_type DataType, internal_field_annotation {kind string}
//	DataType   basic_type u8, schema_id u32, parent_schema_id u32, field_name string,
//	           field_aliases [string], children [DataType], signed bool, fixed_size u64,
//	           extended_type ExtendedType, lookup HashLookup
//	ExtendedType  label string, properties [{name string, value {kind u8, data [u8]}}]
//	HashLookup buckets [u32], entries [u32]
//
// Schema ids number the nodes in pre-order: every field, then its children. Other parts of the
// shard refer to nodes by their ids.
//
// The message is untrusted: [Parse] checks the root, and each [Node] is checked when it is
// made. All types but [Budget] are safe for concurrent use.
package schema

import (
	"bytes"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/flatread"
)

// Slots of the tables.
const (
	schemaFields, schemaIDCount, schemaLookup = 0, 1, 2

	fieldDataType, fieldInternal = 0, 1

	typeBasic, typeID, typeParent, typeName, typeAliases = 0, 1, 2, 3, 4
	typeChildren, typeSigned, typeSize, typeExtended     = 5, 6, 7, 8
	typeLookup                                           = 9

	extendedLabel, extendedProperties = 0, 1
	propertyName, propertyValue       = 0, 1
	valueKind, valueData              = 0, 1
	internalKind                      = 0
	lookupBuckets, lookupEntries      = 0, 1
)

// Schema is a view of the message.
type Schema struct {
	buf    []byte
	fields flatread.Vector
	count  uint32
	lookup flatread.Table
	hashed bool // lookup is there
}

// minNode is the least number of bytes of a node: a table with its id and
// references to its name and children.
const minNode = 16

// Parse views a FlatBuffers schema message (without its frame). It keeps buf, which must not
// change afterwards. It reads only the root, for any number of fields. Errors wrap
// [fault.ErrCorrupt].
func Parse(buf []byte) (*Schema, error) {
	root, err := flatread.Root(buf)
	if err != nil {
		return nil, err
	}
	s := &Schema{buf: buf, count: root.Uint32(schemaIDCount, 0)}
	s.fields = root.Vector(schemaFields, 4)
	if root.Err == nil {
		// A broken lookup is ignored.
		s.lookup, s.hashed = root.Table(schemaLookup)
		root.Err = nil
	}
	switch {
	case root.Err != nil:
		return nil, root.Err
	case !s.fields.Present():
		return nil, fault.Corruptf("schema without a list of fields")
	case uint64(s.fields.Len()) > uint64(s.count):
		return nil, fault.Corruptf("schema of %d fields counts %d ids", s.fields.Len(), s.count)
	case uint64(s.count) > uint64(len(buf))/minNode:
		return nil, fault.Corruptf("schema of %d bytes counts %d ids", len(buf), s.count)
	}
	return s, nil
}

// Bytes is the message.
func (s *Schema) Bytes() []byte { return s.buf }

// NumFields is the number of top-level fields.
func (s *Schema) NumFields() int { return s.fields.Len() }

// IDCount is the number of schema ids: all ids are below it.
func (s *Schema) IDCount() uint32 { return s.count }

// Field is the i-th top-level field; 0 <= i < NumFields.
func (s *Schema) Field(i int) (Node, error) {
	t, err := s.fields.Table(i)
	if err != nil {
		return Node{}, err
	}
	dt, ok := t.Table(fieldDataType)
	internal := ""
	if note, ok := t.Table(fieldInternal); ok {
		internal = string(note.String(internalKind))
		if note.Err != nil {
			return Node{}, note.Err
		}
	}
	switch {
	case t.Err != nil:
		return Node{}, t.Err
	case !ok:
		return Node{}, fault.Corruptf("field %d of the schema has no type", i)
	}
	n, err := makeNode(s, dt, 1)
	if n.internal = internal; len(n.name) == 0 {
		n.name, n.nameless = []byte(internal), internal != ""
	}
	return n, err
}

// Marker is the field that marks deleted records, nil if there is none.
func (s *Schema) Marker() (marker *Node, err error) {
	if !bytes.Contains(s.buf, []byte(InternalDeleted)) {
		return nil, nil
	}
	for i := range s.NumFields() {
		n, err := s.Field(i)
		switch {
		case err != nil:
			return nil, err
		case n.internal != InternalDeleted:
			continue
		case marker != nil:
			return nil, fault.Corruptf("columns %q and %q both mark deleted records", marker.name, n.name)
		case n.basic != Boolean:
			return nil, fault.Corruptf("column %q marks deleted records with values of type %s", n.name, n.basic)
		}
		marker = &n
	}
	return marker, nil
}

// Nameless are the kinds of internal fields without a name, but for that of the marker.
func (s *Schema) Nameless() (kinds []string, err error) {
	for i := range s.NumFields() {
		n, err := s.Field(i)
		if err != nil {
			return nil, err
		}
		if n.nameless && n.internal != InternalDeleted {
			kinds = append(kinds, n.internal)
		}
	}
	return kinds, nil
}

// Many nodes may share a string or list, so that the cost of each is bounded: the bytes of a
// name or label, and the bytes and number of all aliases or property names of a node.
const (
	maxName       = 64 << 10
	maxProperties = 256
)

// Node is a checked view of one type node. It is a value, and cheap to copy.
type Node struct {
	s        *Schema
	table    flatread.Table
	name     []byte
	children flatread.Vector
	internal string
	nameless bool // the name is the kind of the internal field
	size     uint32
	id       uint32
	depth    uint8
	basic    BasicType
}

// makeNode checks a DataType table; children, aliases and properties are checked on access.
func makeNode(s *Schema, t flatread.Table, depth int) (Node, error) {
	n := Node{
		s: s, depth: uint8(depth),
		basic:    BasicType(t.Uint8(typeBasic, 0)),
		id:       t.Uint32(typeID, 0),
		name:     t.String(typeName),
		children: t.Vector(typeChildren, 4),
	}
	size := t.Uint64(typeSize, 0)
	t.Uint32(typeParent, 0)
	t.Bool(typeSigned)
	if t.Err != nil {
		return Node{}, t.Err
	}
	n.table, n.size = t, uint32(size)
	least, most := n.basic.children()
	switch k := n.children.Len(); {
	case depth > MaxDepth:
		return Node{}, fault.Limitf("schema nested more than %d deep", MaxDepth)
	case n.id >= s.count:
		return Node{}, fault.Corruptf("schema id %d, though ids end at %d", n.id, s.count)
	case len(n.name) > maxName:
		return Node{}, fault.Limitf("name of %d bytes on schema node %d", len(n.name), n.id)
	case n.name == nil:
		return Node{}, fault.Corruptf("schema node %d has no name", n.id)
	case !utf8.Valid(n.name):
		return Node{}, fault.Corruptf("name %q of schema node %d is not UTF-8", n.name, n.id)
	case !n.children.Present():
		return Node{}, fault.Corruptf("schema node %d has no list of children", n.id)
	case k < least || k > most:
		return Node{}, fault.Corruptf("schema node %d of type %s has %d children", n.id, n.basic, k)
	case size > 1<<32-1:
		return Node{}, fault.Corruptf("schema node %d has a fixed size of %d", n.id, size)
	}
	return n, nil
}

// Schema is the schema that the node belongs to.
func (n Node) Schema() *Schema { return n.s }

// Depth is 1 for a top-level node, 2 for its children, and so on.
func (n Node) Depth() int { return int(n.depth) }

// Type is the basic type; it may be one that this version does not know.
func (n Node) Type() BasicType { return n.basic }

// ID is the schema id.
func (n Node) ID() uint32 { return n.id }

// ParentID is the stored schema id of the parent: [NoParent] for a top-level node, or 0 from
// some writers.
func (n Node) ParentID() uint32 { return n.table.Uint32(typeParent, 0) }

// Name is the field name; "" for most children of lists and maps. An internal field without a name goes by its kind.
func (n Node) Name() string { return string(n.name) }

// Signed reports whether an integer is signed.
func (n Node) Signed() bool { return n.table.Bool(typeSigned) }

// FixedSize is the bytes of a FixedSizeBinary or Guid, or the items of a FixedSizeList.
func (n Node) FixedSize() uint32 { return n.size }

// Internal is the kind of an internal top-level field, "" for ordinary ones.
func (n Node) Internal() string { return n.internal }

// Hidden reports whether a scan of all columns leaves the field out: the marker of deleted records, and internal fields without a name.
func (n Node) Hidden() bool { return n.nameless || n.internal == InternalDeleted }

// NumChildren is the number of children.
func (n Node) NumChildren() int { return n.children.Len() }

// Child is the i-th child; 0 <= i < NumChildren.
func (n Node) Child(i int) (Node, error) {
	t, err := n.children.Table(i)
	if err != nil {
		return Node{}, err
	}
	return makeNode(n.s, t, int(n.depth)+1)
}

// Aliases are other names of the node. Lookups do not use them.
func (n Node) Aliases() ([]string, error) {
	t := n.table
	v := t.Vector(typeAliases, 4)
	if t.Err != nil || v.Len() == 0 {
		return nil, t.Err
	}
	if v.Len() > maxProperties {
		return nil, fault.Limitf("%d aliases on schema node %d", v.Len(), n.id)
	}
	out, total := make([]string, v.Len()), 0
	for i := range out {
		b, err := v.String(i)
		if err != nil {
			return nil, err
		}
		if total += len(b); total > maxName {
			return nil, fault.Limitf("aliases of %d bytes on schema node %d", total, n.id)
		}
		out[i] = string(b)
	}
	return out, nil
}

// Label is the label of the extended type, "" if there is none.
func (n Node) Label() (string, error) {
	t := n.table
	ext, ok := t.Table(typeExtended)
	if !ok {
		return "", t.Err
	}
	label := ext.String(extendedLabel)
	if len(label) > maxName {
		return "", fault.Limitf("label of %d bytes on schema node %d", len(label), n.id)
	}
	if ext.Err == nil && !utf8.Valid(label) {
		return "", fault.Corruptf("label %q of schema node %d is not UTF-8", label, n.id)
	}
	return string(label), ext.Err
}

// Extended is the whole annotation of the extended type, nil if there is none.
// Data of its properties alias the message.
func (n Node) Extended() (*Extended, error) {
	t := n.table
	ext, ok := t.Table(typeExtended)
	if !ok {
		return nil, t.Err
	}
	label, err := n.Label()
	if err != nil {
		return nil, err
	}
	out := &Extended{Label: label}
	v := ext.Vector(extendedProperties, 4)
	if ext.Err != nil {
		return nil, ext.Err
	}
	if v.Len() > maxProperties {
		return nil, fault.Limitf("%d properties on schema node %d", v.Len(), n.id)
	}
	total := 0
	for i := range v.Len() {
		p, err := property(v, i, &total)
		if err != nil {
			return nil, err
		}
		out.Properties = append(out.Properties, p)
	}
	return out, nil
}

// property is the i-th property of v; total is the size of the names so far.
func property(v flatread.Vector, i int, total *int) (Property, error) {
	t, err := v.Table(i)
	if err != nil {
		return Property{}, err
	}
	name := t.String(propertyName)
	if *total += len(name); *total > maxName {
		return Property{}, fault.Limitf("property names of %d bytes", *total)
	}
	p := Property{Name: string(name)}
	if value, ok := t.Table(propertyValue); ok {
		p.Kind = PropertyKind(value.Uint8(valueKind, 0))
		p.Data = value.String(valueData)
		if value.Err != nil {
			return Property{}, value.Err
		}
	}
	return p, t.Err
}
