package write

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
)

// A builder makes fields and columns of Arrow fields. Those of a top-level field stand together, each field
// in front of those below it:
//
//	bool, integers, float, double   plain field, a column
//	utf8                            std::string: index and characters
//	binary                          std::vector<std::byte>
//	list, map                       std::vector, std::map: index, and the item
//	fixed_size_list                 std::array
//	struct                          record without a type name
//	union                           std::variant: switch, and the alternatives
//	nullable fields                 std::optional: index, and the value
//	other types                     what [fields.Storage] says, with an annotation
//
// A field that was read from an RNTuple gets its C++ type back, if the Arrow type still is the one that the C++
// type is read as.
type builder struct {
	o    *Options
	s    *envelope.Schema
	cols []*col // by their IDs

	ids         map[string]uint32 // fields by their paths
	projected   *projected        // the field at the top that is being built, if it shows another one
	projections []*projected

	err error // the first
}

// fail keeps the first error. What is built after it is of no use.
func (b *builder) fail(err error) {
	b.err = cmp.Or(b.err, err)
}

// failed is the field of a type that cannot be stored.
func (b *builder) failed(p place, err error) *field {
	b.fail(err)
	return b.add(p, envelope.RolePlain)
}

// place is where a field goes.
type place struct {
	parent int64 // -1 for the top
	name   string
	path   string // as in projections
	want   string // C++ type that it should have, if its metadata has none
	inside bool   // of a collection or a variant: columns are not deferred
	repeat int64  // values for each of those of the field at the top
}

// below is the place of a child.
func (p place) below(f *field, name, want string) place {
	return place{parent: int64(f.id), name: name, path: p.path, want: want, inside: p.inside, repeat: p.repeat}
}

func (p place) within() place {
	p.inside = true
	return p
}

// add adds a field to the schema.
func (b *builder) add(p place, role envelope.Role) *field {
	id := uint32(len(b.s.Fields))
	parent := id
	if p.parent >= 0 {
		parent = uint32(p.parent)
	}
	b.s.Fields = append(b.s.Fields, envelope.Field{Parent: parent, Role: role, Name: p.name})
	return &field{id: id, path: p.path}
}

// column adds a column to a field.
func (b *builder) column(f *field, p place, kind column.Kind, enc Encoding) *col {
	c := &col{typ: enc.Type, bits: enc.Bits, kind: kind}
	d := envelope.Column{Type: enc.Type, Field: f.id}
	if low, high := enc.Type.Bits(); low == high {
		c.bits = low
	}
	d.Bits = c.bits
	if enc.Type == column.Real32Quant {
		d.Flags, d.Min, d.Max = envelope.ColumnRange, enc.Min, enc.Max
	}
	if !p.inside && b.o.entries > 0 {
		c.first = b.o.entries * p.repeat
		d.Flags, d.FirstElement = d.Flags|envelope.ColumnDeferred, c.first
	}
	if kind == 0 {
		c.unit = switchSize
	} else {
		c.unit = 0
		if kind != column.KindBool {
			c.unit = kind.Size(1)
		}
		if !column.Writable(enc.Type, kind) {
			b.fail(fault.Unsupportedf("values of type %v in a column of type %v", kind, enc.Type))
			return c
		}
		var err error
		if c.codec, err = column.NewCodec(enc.Type, c.bits, enc.Min, enc.Max, kind); err != nil {
			b.fail(err)
			return c
		}
	}
	if b.projected != nil {
		b.projected.shadows = append(b.projected.shadows, shadow{f.id, c, nil})
		c.shadow = true
		return c
	}
	c.id = uint32(len(b.s.Columns))
	b.s.Columns = append(b.s.Columns, d)
	b.cols = append(b.cols, c)
	return c
}

// index adds the index column of a collection.
func (b *builder) index(f *field, p place) *col {
	return b.column(f, p, column.KindOffset64, b.o.encoding(column.KindOffset64))
}

// describe fills in what the metadata of an Arrow field says of a field, whose C++ type is known.
func (b *builder) describe(out *field, f arrow.Field, dt arrow.DataType, typeName string) *field {
	out.typeName = typeName
	d := &b.s.Fields[out.id]
	d.TypeName = typeName
	if fields.NeedsType(f.Type) {
		dt = nil // is a part of the whole type
	}
	text, err := fields.Annotate(metadata(f, fields.KeyDescription), dt)
	if u, ok := f.Type.(arrow.UnionType); ok && err == nil {
		text, err = fields.AnnotateUnion(text, fields.UnionOf(u))
	}
	if err == nil {
		text, err = fields.AnnotateType(text, f.Type)
	}
	if err == nil {
		text, err = fields.AnnotateExtension(text, extensionOf(f))
	}
	if d.Description = text; err != nil {
		b.fail(err)
	}
	if b.projected != nil {
		b.projected.paths[out.id] = metadata(f, fields.KeyProjected)
	}
	if typeName != typeOf(f) || metadata(f, fields.KeyBases) != "" {
		return out // of another type
	}
	d.TypeAlias = metadata(f, fields.KeyAlias)
	if metadata(f, fields.KeySoA) != "" {
		d.Flags |= envelope.FieldSoA
	}
	d.TypeVersion, _ = number(f, fields.KeyTypeVersion, 10)
	if sum, ok := number(f, fields.KeyChecksum, 16); ok {
		d.Flags, d.TypeChecksum = d.Flags|envelope.FieldChecksum, sum
	}
	return out
}

// field adds an Arrow field and all below it.
func (b *builder) field(f arrow.Field, p place) *field {
	if err := checkName(p.name); err != nil {
		return b.failed(p, in(err, p.path))
	}
	if own := typeOf(f); own != "" {
		p.want = own
	}
	if _, ok := b.ids[p.path]; !ok {
		b.ids[p.path] = uint32(len(b.s.Fields)) // of a collection, not of its items, whose path is the same
	}
	out := b.value(f, p)
	b.err = in(b.err, p.path)
	return out
}

func (b *builder) value(f arrow.Field, p place) *field {
	dt := arrowutil.WithoutView(kinds.Unwrapped(f.Type))
	head, args := template(p.want)
	if _, union := dt.(arrow.UnionType); f.Nullable && !union && !b.o.NoNulls {
		return b.optional(f, p, head, args)
	}
	switch dt := dt.(type) {
	case *arrow.NullType:
		return b.failed(p, fault.Unsupportedf("the Arrow type null: RNTuple has no such values"))
	case *arrow.StringType, *arrow.LargeStringType:
		return b.text(f, p)
	case *arrow.BinaryType, *arrow.LargeBinaryType:
		return b.binary(f, p, head, args)
	case *arrow.MapType:
		return b.mapping(f, dt, p, head, args)
	case *arrow.FixedSizeListType:
		return b.fixedList(f, dt, p, head, args)
	case arrow.ListLikeType:
		return b.list(f, kinds.Fields(dt)[0], p, head, args)
	case *arrow.StructType:
		if head == "std::variant" && len(dt.Fields()) > 1 && dt.Field(0).Name == "tag" && dt.Field(0).Type.ID() == arrow.UINT8 {
			return b.variantStruct(f, dt, p, args)
		}
		return b.record(f, dt, p, head, args)
	case arrow.UnionType:
		return b.union(f, dt, p, args)
	}
	if _, bytes := fields.Storage(dt); bytes > 0 {
		return b.fixedBytes(f, dt, p, bytes)
	}
	return b.number(f, dt, p, head, args)
}

// extensionOf is the extension type of a field, which its metadata name if the program does not know it.
func extensionOf(f arrow.Field) fields.Extension {
	if e, ok := f.Type.(arrow.ExtensionType); ok {
		return fields.Extension{Name: e.ExtensionName(), Data: e.Serialize()}
	}
	return fields.Extension{Name: metadata(f, fields.KeyExtensionName), Data: metadata(f, fields.KeyExtensionData)}
}

// optional is a collection of one item or none.
func (b *builder) optional(f arrow.Field, p place, head string, args []string) *field {
	out := b.add(p, envelope.RoleCollection)
	index := b.index(out, p)
	out.nullable = true
	if head == "std::optional" || head == "std::unique_ptr" {
		p.want = arg(args, 0)
	} else {
		head = "std::optional"
	}
	below := p.within().below(out, "_0", p.want)
	item := arrow.Field{Name: "_0", Type: f.Type}
	node := &optional{indexed{index: index}}
	if inner, ok := onlyField(f.Type, p.want); ok {
		of := b.field(inner, below)
		node.item = &field{node: only{of}, id: of.id, typeName: of.typeName, path: of.path}
	} else {
		node.item = b.field(item, below)
	}
	out.node = node
	f.Type = nil
	return b.describe(out, f, nil, wanted(typeOf(f), head+"<"+node.item.typeName+">"))
}

// onlyField is the field of a struct that was made because an optional value is optional itself, or a union.
func onlyField(dt arrow.DataType, want string) (arrow.Field, bool) {
	s, ok := dt.(*arrow.StructType)
	if !ok || len(s.Fields()) != 1 || want == "" {
		return arrow.Field{}, false
	}
	f := s.Field(0)
	_, union := f.Type.(arrow.UnionType)
	return f, f.Name == "_0" && (f.Nullable || union) && typeOf(f) == want
}

// wanted is a name as it was spelled, if it names the type.
func wanted(want, name string) string {
	if same(want, name) {
		return want
	}
	return name
}

// strings adds an index, and a column of the bytes of all values: that of the field, or of its items.
func (b *builder) strings(p place, role envelope.Role, kind column.Kind, items bool) *field {
	out := b.add(p, role)
	node, of := &byteStrings{index: b.index(out, p)}, out
	if items {
		of = b.add(p.within().below(out, "_0", ""), envelope.RolePlain)
		b.s.Fields[of.id].TypeName = "std::byte"
	}
	node.content = b.column(of, p.within(), kind, Encoding{Type: column.TypeOf(kind, false)})
	out.node = node
	return out
}

func (b *builder) text(f arrow.Field, p place) *field {
	return b.describe(b.strings(p, envelope.RolePlain, column.KindChar, false), f, nil, "std::string")
}

func (b *builder) binary(f arrow.Field, p place, head string, args []string) *field {
	switch {
	case p.want == "std::string":
		return b.text(f, p) // read as binary, because C++ strings may hold any bytes
	case isUser(p.want) && !vectors[head]: // an object of a class as ROOT's streamer makes bytes of it
		b.o.streamed = true
		return b.describe(b.strings(p, envelope.RoleStreamer, column.KindByte, false), f, nil, p.want)
	}
	name := "std::vector<std::byte>"
	if vectors[head] && len(args) == 1 && args[0] == "std::byte" {
		name = p.want
	}
	return b.describe(b.strings(p, envelope.RoleCollection, column.KindByte, true), f, nil, name)
}

func (b *builder) list(f, item arrow.Field, p place, head string, args []string) *field {
	out := b.add(p, envelope.RoleCollection)
	index := b.index(out, p)
	want := ""
	switch {
	case vectors[head]:
		want = arg(args, 0)
	case maps[head]:
		want = "std::pair<" + arg(args, 0) + "," + arg(args, 1) + ">"
	}
	node := &list{indexed{index: index, item: b.field(item, p.within().below(out, "_0", want))}}
	out.node = node
	name := ""
	if node.item.typeName != "" {
		name = "std::vector<" + node.item.typeName + ">"
	}
	inner, pair := template(node.item.typeName)
	switch {
	case vectors[head] && len(args) == 1 && same(args[0], node.item.typeName) && node.item.typeName != "std::byte",
		maps[head] && len(args) >= 2 && inner == "std::pair" && same(args[0], arg(pair, 0)) && same(args[1], arg(pair, 1)),
		isUser(p.want) && !vectors[head]:
		name = p.want
	}
	return b.describe(out, f, nil, name)
}

func (b *builder) mapping(f arrow.Field, dt *arrow.MapType, p place, head string, args []string) *field {
	out := b.add(p, envelope.RoleCollection)
	index := b.index(out, p)
	if !maps[head] {
		head, args = "std::map", nil
	}
	inside := p.within()
	pair := b.add(inside.below(out, "_0", ""), envelope.RoleRecord)
	node := &record{}
	var names []string
	for i, kid := range []arrow.Field{dt.KeyField(), dt.ItemField()} {
		kid.Nullable = kid.Nullable && i == 1
		at := inside.below(pair, "_"+strconv.Itoa(i), arg(args, i))
		at.path = p.path + "." + kid.Name
		k := b.field(kid, at)
		node.fields, names = append(node.fields, k), append(names, k.typeName)
	}
	both := strings.Join(names, ",")
	pair.node, pair.typeName = node, "std::pair<"+both+">"
	b.s.Fields[pair.id].TypeName = pair.typeName
	out.node = &list{indexed{index: index, item: pair}}
	name := head + "<" + both + ">"
	if len(args) > 2 && same(args[0], names[0]) && same(args[1], names[1]) {
		name = p.want // with a comparison or an allocator
	}
	return b.describe(out, f, nil, wanted(p.want, name))
}

func (b *builder) fixedList(f arrow.Field, dt *arrow.FixedSizeListType, p place, head string, args []string) *field {
	if dt.Len() <= 0 {
		return b.failed(p, fault.Unsupportedf("the Arrow type %v: RNTuple has no arrays without items", dt))
	}
	out := b.array(&p, int(dt.Len()))
	n := strconv.Itoa(int(dt.Len()))
	item := dt.ElemField()
	if head == "std::bitset" && arg(args, 0) == n && item.Type.ID() == arrow.BOOL && (!item.Nullable || b.o.NoNulls) {
		c := b.column(out, p, column.KindBool, Encoding{Type: column.Bit})
		out.node = &fixedList{n: int(dt.Len()), item: &field{node: &values{c, 1}, path: p.path}}
		return b.describe(out, f, nil, p.want)
	}
	want := ""
	if head == "std::array" {
		want = arg(args, 0)
	}
	kid := b.field(item, p.below(out, "_0", want))
	out.node = &fixedList{n: int(dt.Len()), item: kid}
	return b.describe(out, f, nil, wanted(p.want, "std::array<"+kid.typeName+","+n+">"))
}

// array adds a field of n items, whose place p becomes.
func (b *builder) array(p *place, n int) *field {
	out := b.add(*p, envelope.RolePlain)
	b.s.Fields[out.id].Flags = envelope.FieldRepetitive
	b.s.Fields[out.id].ArraySize = uint64(n)
	if p.repeat *= int64(n); p.repeat > math.MaxInt32 {
		b.fail(fault.Unsupportedf("arrays of %d items in an entry", p.repeat))
	}
	return out
}

// fixedBytes is an array of bytes with an annotation.
func (b *builder) fixedBytes(f arrow.Field, dt arrow.DataType, p place, bytes int) *field {
	out := b.array(&p, bytes)
	item := b.add(p.below(out, "_0", ""), envelope.RolePlain)
	b.s.Fields[item.id].TypeName = "std::byte"
	c := b.column(item, p, column.KindByte, Encoding{Type: column.Byte})
	out.node = &values{c, bytes}
	return b.describe(out, f, dt, fmt.Sprintf("std::array<std::byte,%d>", bytes))
}

func (b *builder) record(f arrow.Field, dt *arrow.StructType, p place, head string, args []string) *field {
	out := b.add(p, envelope.RoleRecord)
	node := &record{}
	tuple := (head == "std::pair" || head == "std::tuple") && len(args) == len(dt.Fields())
	seen := map[string]bool{}
	as := isUser(p.want) // of which kinds the wanted type may be
	both := tuple
	for i, kid := range dt.Fields() {
		if seen[kid.Name] {
			return b.failed(p, fault.Unsupportedf("two fields of the name %q", kid.Name))
		}
		seen[kid.Name] = true
		want := ""
		if tuple {
			want = args[i]
		}
		at := p.below(out, kid.Name, want)
		at.path = p.path + "." + kid.Name
		k := b.field(kid, at)
		node.fields = append(node.fields, k)
		both = both && kid.Name == "_"+strconv.Itoa(i) && same(want, k.typeName)
	}
	out.node = node
	name := ""
	if as || both {
		name = p.want
	}
	return b.describe(out, f, nil, name)
}

// union is a variant. Fields of type null are variants without a value.
func (b *builder) union(f arrow.Field, dt arrow.UnionType, p place, args []string) *field {
	out, node := b.variant(p)
	for i, kid := range dt.Fields() {
		code := dt.TypeCodes()[i]
		if code < 0 {
			return b.failed(p, fault.Unsupportedf("type code %d", code))
		}
		if node.tags[code] = 0; kid.Type.ID() == arrow.NULL {
			continue
		}
		b.alternative(node, out, p, kid, i, args)
		node.tags[code] = int8(len(node.kids))
	}
	return b.variantType(f, out, node, p)
}

// variantStruct is a variant that was read as a struct of a tag and alternatives, null but for the active one.
func (b *builder) variantStruct(f arrow.Field, dt *arrow.StructType, p place, args []string) *field {
	out, node := b.variant(p)
	node.tags[0] = 0
	for i, kid := range dt.Fields()[1:] {
		head, _ := template(typeOf(kid))
		kid.Nullable = head == "std::optional" || head == "std::unique_ptr"
		b.alternative(node, out, p, kid, i+1, args)
		node.tags[i+1] = int8(i + 1)
	}
	return b.variantType(f, out, node, p)
}

func (b *builder) variant(p place) (*field, *variant) {
	out := b.add(p, envelope.RoleVariant)
	node := &variant{name: p.path, c: b.column(out, p, 0, Encoding{Type: column.Switch})}
	for i := range node.tags {
		node.tags[i] = -1
	}
	out.node = node
	return out, node
}

// maxAlternatives is the number of tags that readers of Arrow have type codes for.
const maxAlternatives = 126

func (b *builder) alternative(node *variant, out *field, p place, kid arrow.Field, child int, args []string) {
	i := len(node.kids)
	if i >= maxAlternatives {
		b.fail(fault.Unsupportedf("a union of more than %d fields", maxAlternatives))
		return
	}
	at := p.within().below(out, "_"+strconv.Itoa(i), arg(args, i))
	at.path = p.path + "._" + strconv.Itoa(i)
	node.kids, node.child, node.items = append(node.kids, b.field(kid, at)), append(node.child, child), append(node.items, 0)
}

func (b *builder) variantType(f arrow.Field, out *field, node *variant, p place) *field {
	if len(node.kids) == 0 {
		b.fail(fault.Unsupportedf("a union of nothing but nulls"))
	}
	names := make([]string, len(node.kids))
	for i, k := range node.kids {
		names[i] = k.typeName
	}
	return b.describe(out, f, nil, wanted(p.want, "std::variant<"+strings.Join(names, ",")+">"))
}

// numbers are the C++ types of Arrow's numbers.
var numbers = map[arrow.Type]column.Kind{
	arrow.BOOL: column.KindBool,
	arrow.INT8: column.KindInt8, arrow.UINT8: column.KindUint8, arrow.INT16: column.KindInt16, arrow.UINT16: column.KindUint16,
	arrow.INT32: column.KindInt32, arrow.UINT32: column.KindUint32, arrow.INT64: column.KindInt64, arrow.UINT64: column.KindUint64,
	arrow.FLOAT32: column.KindFloat32, arrow.FLOAT64: column.KindFloat64,
}

// number is a plain field with a column, or an atomic or enumeration of one.
func (b *builder) number(f arrow.Field, dt arrow.DataType, p place, head string, args []string) *field {
	kind := numbers[dt.ID()]
	if kind == 0 {
		kind, _ = fields.Storage(dt)
	}
	if kind == 0 {
		return b.failed(p, fault.Unsupportedf("the Arrow type %v", dt))
	}
	name := kind.String()
	switch {
	case head == cardinality && b.projected != nil && (kind == column.KindUint32 || kind == column.KindUint64):
		out := b.add(p, envelope.RolePlain)
		out.node = &counts{index: b.index(out, p), wide: kind == column.KindUint64}
		return b.describe(out, f, nil, p.want)
	case kind == column.KindInt8 && p.want == column.KindChar.String():
		kind, name = column.KindChar, p.want
	case kind == column.KindUint8 && p.want == column.KindByte.String():
		kind, name = column.KindByte, p.want
	case head == "std::atomic" && len(args) == 1, isUser(head) && enumerable(kind, dt) && head != cardinality:
		out := b.add(p, envelope.RolePlain)
		inner := b.number(arrow.Field{Name: "_0", Type: dt}, dt, p.below(out, "_0", arg(args, 0)), arg(args, 0), nil)
		out.node = inner.node
		if name = p.want; len(args) == 1 {
			name = wanted(p.want, head+"<"+inner.typeName+">")
		}
		return b.describe(out, f, nil, name)
	}
	out := b.add(p, envelope.RolePlain)
	enc := b.o.encoding(kind)
	if dt.ID() == arrow.FLOAT16 {
		kind, enc = column.KindFloat16, Encoding{Type: column.Real16}
	} else if chosen, ok := b.o.Encodings[p.path]; ok {
		b.o.used[p.path] = true
		if enc = chosen; enc.Type == column.Real32 {
			enc = b.o.encoding(column.KindFloat32)
		}
		if err := enc.checkRange(kind); err != nil {
			b.fail(err)
		}
	}
	c := b.column(out, p, kind, enc)
	out.node = &values{c, 1}
	return b.describe(out, f, dt, name)
}

const cardinality = "ROOT::RNTupleCardinality"

// enumerable tells whether numbers may be an enumeration.
func enumerable(k column.Kind, dt arrow.DataType) bool {
	return numbers[dt.ID()] == k && k != column.KindBool && k < column.KindFloat16
}
