// Package fields maps the fields of an RNTuple to Arrow types.
//
// A [Field] is a node of the tree that a reader walks: its layout, its Arrow
// field, and the columns that hold its values. Projected fields have the columns
// of the fields they show, and wrappers (enumerations, atomics) are one node with
// what they wrap. The mapping, by the role and the type name of a field:
//
//	bool, integers, float, double      the Arrow type of the same width
//	char, std::byte                    int8, uint8
//	std::string                        utf8
//	vector, RVec, set, proxies         list
//	std::vector<std::byte>, streamer   binary
//	map, unordered_map                 map; list of structs for multimaps
//	std::array, std::bitset            fixed_size_list
//	record, class, pair, tuple         struct, with the members of base classes in their place, where no names are the same
//	optional, unique_ptr               the item's type, nullable
//	variant                            dense_union with a null child for invalid variants, or a struct
//	RNTupleCardinality                 uint32 or uint64
//	an annotated field (annotation.go) the Arrow type that it was written from
//
// A top-level field that needs a column type, role or version of a newer format is
// left out and listed in [Tree.Skipped].
package fields

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// Layout is the form of a field's values: the columns and subfields that make up
// an array of them.
type Layout uint8

// The layouts.
const (
	Value       Layout = iota + 1 // a column of values
	Cardinality                   // an index column: the lengths of a collection
	Text                          // an index column, a column of characters
	Bytes                         // an index column, a column of bytes
	List                          // an index column, an item
	Map                           // an index column, a pair of key and value
	Optional                      // an index column with collections of 0 or 1 items; the array is that of the item with nulls
	Struct                        // fields
	FixedList                     // a number of items
	Variant                       // a switch column; the tag, then the alternatives, null but for the active one
	Tag                           // in a Variant: the number of the active alternative, from 1, or 0
	FixedBytes                    // a column of bytes, N of them a value
)

// Field is a node of the tree. It does not change once made.
type Field struct {
	Node   uint32 // its place in Tree.Nodes
	Layout Layout
	Arrow  arrow.Field
	Kind   column.Kind // of Value and Cardinality
	N      int64       // items of a FixedList, alternatives of a Variant, bytes of FixedBytes
	Tag    int         // number of an alternative of a Variant, from 1

	// Wraps are the dictionaries, runs and extension types around the values, the outermost first. Plain is the
	// type inside, which is Arrow.Type if there are none.
	Wraps []arrow.DataType
	Plain arrow.DataType

	// Physical is the type of arrays as they are read: that of Arrow, but without wraps and views at any depth,
	// and with structs in place of unions.
	Physical arrow.DataType

	// Columns are the physical columns, by representation, then in the order of the layout.
	// Every representation has the same number, none for layouts without columns.
	Columns [][]uint32

	Children []*Field

	large  bool // List: offsets have 64 bits
	view   bool // List: the Arrow type is a list view
	sorted bool // Map: keys are sorted
	union  bool // Variant: the Arrow type is a union
	names  Union

	unknown Extension // type that the program does not know
	bases   []string  // C++ types of base classes whose members are among the children
}

// Tree is the fields of an ntuple.
type Tree struct {
	Fields  []*Field  // top-level ones, in the order of the schema
	Nodes   []*Field  // all
	Skipped []Skipped // top-level ones that cannot be read
}

// Skipped is a top-level field that is left out, and the reason.
type Skipped struct {
	Name   string
	Reason string
}

// Options choose among possible mappings. The zero value is the default.
type Options struct {
	Binary         bool // std::string is binary: nothing guarantees UTF-8
	LargeOffsets   bool // texts, bytes and lists have 64-bit offsets
	VariantStructs bool // variants are structs
	NoProjected    bool // projected fields are left out
	NoArrowTypes   bool // Arrow types in descriptions are not looked at
	BaseClasses    bool // base classes are fields of their own, named ":_0", ":_1"
}

// Metadata keys of Arrow fields. A key is absent where its value is empty or 0.
const (
	KeyType        = "rntuple.type"         // C++ type
	KeyAlias       = "rntuple.type_alias"   // C++ type as written in the class
	KeyDescription = "rntuple.description"  // comment
	KeyTypeVersion = "rntuple.type_version" // version of the class
	KeyChecksum    = "rntuple.checksum"     // of the class, in hexadecimal
	KeyProjected   = "rntuple.projected"    // path of the field that a projected field shows
	KeyBases       = "rntuple.bases"        // C++ types of the base classes whose members stand in their place
	KeySoA         = "rntuple.soa"          // "true" of a collection that is a structure of arrays in C++
)

// New maps the fields of a schema.
func New(s *envelope.Schema, o Options) *Tree {
	b := builder{s: s, o: o}
	t := &Tree{}
	for _, id := range s.Top() {
		f := &s.Fields[id]
		if o.NoProjected && f.Projected() {
			continue
		}
		field, err := b.field(id)
		if err != nil {
			t.Skipped = append(t.Skipped, Skipped{f.Name, err.Error()})
			continue
		}
		t.Fields = append(t.Fields, field)
		t.number(field)
	}
	return t
}

func (t *Tree) number(f *Field) {
	f.Node = uint32(len(t.Nodes))
	t.Nodes = append(t.Nodes, f)
	for _, kid := range f.Children {
		t.number(kid)
	}
}

type builder struct {
	s *envelope.Schema
	o Options
}

// typeName is the C++ type of a field without blanks, which older files have in
// template arguments.
func typeName(f *envelope.Field) string { return strings.ReplaceAll(f.TypeName, " ", "") }

func (b *builder) field(id uint32) (*Field, error) {
	f := &b.s.Fields[id]
	if f.Version != 0 {
		return nil, fmt.Errorf("%s: field version %d is of a newer format", b.s.Path(id), f.Version)
	}
	out := &Field{Arrow: arrow.Field{Name: f.Name}}
	var err error
	if out.Columns, err = b.columns(id); err != nil {
		return nil, fmt.Errorf("%s: %w", b.s.Path(id), err)
	}
	kids := b.s.Children(id)
	out.Children = make([]*Field, len(kids))
	for i, kid := range kids {
		if out.Children[i], err = b.field(kid); err != nil {
			return nil, err
		}
	}
	if err := b.choose(f, out); err != nil {
		return nil, fmt.Errorf("%s: %w", b.s.Path(id), err)
	}
	description := b.restore(f, out)
	if out.Layout == Optional && out.unknown.Name == "" {
		out.unknown = out.Children[0].unknown
	}
	out.Arrow.Metadata = b.metadata(id, description, out)
	out.retype()
	return out, nil
}

// choose chooses the layout of a field whose columns and children are known.
func (b *builder) choose(f *envelope.Field, out *Field) error {
	if f.Flags&envelope.FieldRepetitive != 0 {
		return b.repetitive(f, out)
	}
	switch f.Role {
	case envelope.RolePlain:
		return b.plain(f, out)
	case envelope.RoleCollection:
		return b.collection(f, out)
	case envelope.RoleRecord:
		if f.TypeName != "" && !b.o.BaseClasses {
			out.flatten()
		}
		return b.lay(out, Struct)
	case envelope.RoleVariant:
		return b.variant(out)
	case envelope.RoleStreamer:
		return b.bytes(out)
	}
	return fmt.Errorf("role %d is of a newer format", f.Role)
}

// flatten puts the members of base classes in their place, unless another member has the name of one.
func (f *Field) flatten() {
	members, count := make([][]*Field, len(f.Children)), map[string]int{}
	for i, kid := range f.Children {
		members[i] = []*Field{kid}
		if strings.HasPrefix(kid.Arrow.Name, ":_") && kid.Layout == Struct && kid.typeName() != "" && !kid.Arrow.Nullable && len(kid.Wraps) == 0 {
			members[i] = kid.Children
		}
		for _, m := range members[i] {
			count[m.Arrow.Name]++
		}
	}
	var all []*Field
	for i, kid := range f.Children {
		same := slices.ContainsFunc(members[i], func(m *Field) bool { return count[m.Arrow.Name] > 1 })
		switch {
		case same || len(members[i]) == 1 && members[i][0] == kid:
			all = append(all, kid)
		default:
			all = append(all, members[i]...)
			f.bases = append(f.bases, kid.typeName())
		}
	}
	f.Children = all
}

// typeName is the C++ type in the metadata.
func (f *Field) typeName() string {
	name, _ := f.Arrow.Metadata.GetValue(KeyType)
	return name
}

// plain is a value, a string, a cardinality, or a wrapper.
func (b *builder) plain(f *envelope.Field, out *Field) error {
	name := typeName(f)
	switch {
	case len(out.Children) == 1 && len(out.Columns) == 0:
		inner := out.Children[0]
		*out = *inner
		out.Arrow.Name = f.Name
		return nil
	case len(out.Children) > 0:
		return fmt.Errorf("plain field with %d subfields and %d columns", len(out.Children), out.perRepresentation())
	case name == "std::string":
		out.Plain = b.text()
		return b.lay(out, Text)
	case strings.HasPrefix(name, "ROOT::RNTupleCardinality<"), out.perRepresentation() == 1 && b.s.Columns[out.Columns[0][0]].Type.Index():
		return b.cardinality(name, out) // files from before 1.0 have integers that show index columns
	}
	return b.value(name, out)
}

func (b *builder) cardinality(name string, out *Field) error {
	out.Kind, out.Plain = column.KindUint64, arrow.PrimitiveTypes.Uint64
	if strings.Contains(name, "uint32") {
		out.Kind, out.Plain = column.KindUint32, arrow.PrimitiveTypes.Uint32
	}
	return b.lay(out, Cardinality)
}

// value is a field of one column. A type name that is not known leaves the choice to
// the column.
func (b *builder) value(name string, out *Field) error {
	if out.perRepresentation() != 1 {
		return fmt.Errorf("plain field of %d columns", out.perRepresentation())
	}
	kind := column.KindOf(name)
	if kind == 0 {
		if kind = b.s.Columns[out.Columns[0][0]].Type.Native(); kind == column.KindFloat16 {
			kind = column.KindFloat32
		}
	}
	for _, columns := range out.Columns {
		if t := b.s.Columns[columns[0]].Type; !column.Readable(t, kind) {
			return fmt.Errorf("a column of type %v does not hold %s", t, name)
		}
	}
	dt := arrowTypes[kind]
	if dt == nil {
		return fmt.Errorf("no Arrow type holds %s", name)
	}
	out.Layout, out.Kind, out.Plain = Value, kind, dt
	return nil
}

var arrowTypes = map[column.Kind]arrow.DataType{
	column.KindBool: arrow.FixedWidthTypes.Boolean, column.KindByte: arrow.PrimitiveTypes.Uint8, column.KindChar: arrow.PrimitiveTypes.Int8,
	column.KindInt8: arrow.PrimitiveTypes.Int8, column.KindUint8: arrow.PrimitiveTypes.Uint8,
	column.KindInt16: arrow.PrimitiveTypes.Int16, column.KindUint16: arrow.PrimitiveTypes.Uint16,
	column.KindInt32: arrow.PrimitiveTypes.Int32, column.KindUint32: arrow.PrimitiveTypes.Uint32,
	column.KindInt64: arrow.PrimitiveTypes.Int64, column.KindUint64: arrow.PrimitiveTypes.Uint64,
	column.KindFloat32: arrow.PrimitiveTypes.Float32, column.KindFloat64: arrow.PrimitiveTypes.Float64,
}

// collection is an index column and an item.
func (b *builder) collection(f *envelope.Field, out *Field) error {
	if len(out.Children) != 1 { // of files from before 1.0: the items are records without a field of their own
		item := &Field{Layout: Struct, Children: out.Children}
		item.retype()
		out.Children = []*Field{item}
	}
	item, name := out.Children[0], typeName(f)
	switch {
	case item.Layout == Value && item.Kind == column.KindByte && len(item.Columns) == 1 && len(out.Columns) == 1 &&
		hasPrefix(name, "std::vector<std::byte", "ROOT::VecOps::RVec<std::byte", "ROOT::RVec<std::byte"):
		out.Columns[0] = append(out.Columns[0], item.Columns[0]...)
		out.Children = nil
		return b.bytes(out)
	case hasPrefix(name, "std::optional<", "std::unique_ptr<"):
		return b.optional(out)
	case hasPrefix(name, "std::map<", "std::unordered_map<") && item.Layout == Struct && len(item.Children) == 2 && !item.Arrow.Nullable &&
		!item.Children[0].Arrow.Nullable:
		return b.lay(out, Map)
	}
	out.large = b.o.LargeOffsets
	return b.lay(out, List)
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func (b *builder) bytes(out *Field) error {
	out.Plain = b.binary()
	return b.lay(out, Bytes)
}

// optional is the item with nulls. An item that has nulls itself, or whose type has
// no room for them, becomes the one field of a nullable struct.
func (b *builder) optional(out *Field) error {
	item := out.Children[0]
	out.Arrow.Nullable = true
	if item.Arrow.Nullable || item.Layout == Variant && item.union {
		wrap := &Field{Layout: Struct, Children: []*Field{item}}
		wrap.retype()
		out.Children = []*Field{wrap}
	}
	return b.lay(out, Optional)
}

// repetitive is a std::array of an item, or the bits of a std::bitset.
func (b *builder) repetitive(f *envelope.Field, out *Field) error {
	if f.ArraySize == 0 || f.ArraySize > 1<<31-1 {
		return fmt.Errorf("array of %d items", f.ArraySize)
	}
	var item *Field
	switch {
	case len(out.Children) == 1 && len(out.Columns) == 0:
		item = out.Children[0]
	case len(out.Children) == 0:
		item = &Field{Columns: out.Columns, Arrow: arrow.Field{Name: "_0"}}
		if err := b.value("bool", item); err != nil {
			return err
		}
		item.retype()
	default:
		return fmt.Errorf("array with %d subfields and %d columns", len(out.Children), out.perRepresentation())
	}
	out.Layout, out.N, out.Columns, out.Children = FixedList, int64(f.ArraySize), nil, []*Field{item}
	return nil
}

// maxAlternatives is the number of type codes that Arrow has for a union.
const maxAlternatives = 126

func (b *builder) variant(out *Field) error {
	if n := len(out.Children); n == 0 || n > maxAlternatives {
		return fmt.Errorf("variant with %d alternatives", n)
	}
	out.N, out.union = int64(len(out.Children)), !b.o.VariantStructs
	for i, kid := range out.Children {
		kid.Tag = i + 1
	}
	tag := &Field{Layout: Tag, Plain: arrow.PrimitiveTypes.Uint8, Arrow: arrow.Field{Name: "tag"}}
	tag.retype()
	out.Children = append([]*Field{tag}, out.Children...)
	return b.lay(out, Variant)
}

func (b *builder) text() arrow.DataType {
	switch {
	case b.o.Binary:
		return b.binary()
	case b.o.LargeOffsets:
		return arrow.BinaryTypes.LargeString
	}
	return arrow.BinaryTypes.String
}

func (b *builder) binary() arrow.DataType {
	if b.o.LargeOffsets {
		return arrow.BinaryTypes.LargeBinary
	}
	return arrow.BinaryTypes.Binary
}
