package schema

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// ErrNoField means that a schema has no field with a name or path.
var ErrNoField = errors.New("there is no column")

// childLookupFrom is the least number of children of a struct with a lookup.
const childLookupFrom = 10

// Build writes the schema message of fields. Ids are numbered in pre-order; the lookups are
// those of docs/format.md §4.3. Fields that break a rule of the format (names, number of
// children, depth, sizes) are an error. The same fields give the same bytes.
func Build(fields []Field) ([]byte, error) {
	b := &builder{
		fb: flatbuffers.NewBuilder(256 + 96*len(fields)), extended: map[string]flatbuffers.UOffsetT{},
		byPointer: map[*Extended]flatbuffers.UOffsetT{},
	}
	if err := checkUnique("", fields); err != nil {
		return nil, err
	}
	b.noChildren = b.offsets(nil)
	b.noName = b.fb.CreateString("")
	var id uint32
	items := make([]flatbuffers.UOffsetT, len(fields))
	for i := range fields {
		f := &fields[i]
		dt, next, err := b.node(f, id, NoParent, 1)
		if err != nil {
			return nil, fault.InColumn(err, Escape(f.Name))
		}
		id, items[i] = next, b.field(dt, f.Internal)
	}
	vector := b.offsets(items)
	lookup := b.lookup(fields)
	b.fb.StartObject(3)
	b.fb.PrependUOffsetTSlot(schemaFields, vector, 0)
	b.fb.PrependUint32Slot(schemaIDCount, id, 0)
	b.fb.PrependUOffsetTSlot(schemaLookup, lookup, 0)
	b.fb.Finish(b.fb.EndObject())
	return b.fb.FinishedBytes(), nil
}

type builder struct {
	fb         *flatbuffers.Builder
	noChildren flatbuffers.UOffsetT // the empty vector that all leaves share
	noName     flatbuffers.UOffsetT
	extended   map[string]flatbuffers.UOffsetT // by contents
	byPointer  map[*Extended]flatbuffers.UOffsetT
}

// field wraps a top-level node.
func (b *builder) field(dt flatbuffers.UOffsetT, internal string) flatbuffers.UOffsetT {
	var note flatbuffers.UOffsetT
	if internal != "" {
		kind := b.fb.CreateString(internal)
		b.fb.StartObject(1)
		b.fb.PrependUOffsetTSlot(internalKind, kind, 0)
		note = b.fb.EndObject()
	}
	b.fb.StartObject(2)
	b.fb.PrependUOffsetTSlot(fieldDataType, dt, 0)
	b.fb.PrependUOffsetTSlot(fieldInternal, note, 0)
	return b.fb.EndObject()
}

// node writes f with the given id, and its descendants. next is the id after them.
func (b *builder) node(f *Field, id, parent uint32, depth int) (dt flatbuffers.UOffsetT, next uint32, err error) {
	if err := f.check(depth); err != nil {
		return 0, 0, err
	}
	next = id + 1
	children := b.noChildren
	if len(f.Children) > 0 {
		items := make([]flatbuffers.UOffsetT, len(f.Children))
		for i := range f.Children {
			if items[i], next, err = b.node(&f.Children[i], next, id, depth+1); err != nil {
				return 0, 0, err
			}
		}
		children = b.offsets(items)
	}
	var lookup, aliases flatbuffers.UOffsetT
	if f.Type == Struct && len(f.Children) >= childLookupFrom || f.Type == Union && len(f.Children) >= childLookupFrom && f.Children[0].Name != "" {
		lookup = b.lookup(f.Children)
	}
	if len(f.Aliases) > 0 {
		items := make([]flatbuffers.UOffsetT, len(f.Aliases))
		for i, a := range f.Aliases {
			items[i] = b.fb.CreateString(a)
		}
		aliases = b.offsets(items)
	}
	name := b.noName
	if f.Name != "" {
		name = b.fb.CreateString(f.Name)
	}
	extended := b.extendedType(f.Extended)

	b.fb.StartObject(10)
	b.fb.PrependUint64Slot(typeSize, uint64(f.FixedSize), 0)
	b.fb.PrependUint32Slot(typeID, id, 0)
	b.fb.PrependUint32Slot(typeParent, parent, 0)
	b.fb.PrependUOffsetTSlot(typeName, name, 0)
	b.fb.PrependUOffsetTSlot(typeAliases, aliases, 0)
	b.fb.PrependUOffsetTSlot(typeChildren, children, 0)
	b.fb.PrependUOffsetTSlot(typeExtended, extended, 0)
	b.fb.PrependUOffsetTSlot(typeLookup, lookup, 0)
	b.fb.PrependByteSlot(typeBasic, byte(f.Type), 0)
	b.fb.PrependBoolSlot(typeSigned, f.Signed, false)
	return b.fb.EndObject(), next, nil
}

// check verifies the rules for one node and for the names of its children.
func (f *Field) check(depth int) error {
	least, most := f.Type.children()
	switch {
	case depth > MaxDepth:
		return fault.Limitf("types nested more than %d deep", MaxDepth)
	case !f.Type.Known():
		return fmt.Errorf("field %q has the unknown type %s", f.Name, f.Type)
	case len(f.Children) < least || len(f.Children) > most:
		return fmt.Errorf("field %q of type %s has %d children", f.Name, f.Type, len(f.Children))
	case f.Signed && !f.Type.IsInteger():
		return fmt.Errorf("field %q of type %s cannot be signed", f.Name, f.Type)
	case f.Type == Guid && f.FixedSize != 16:
		return fmt.Errorf("field %q of type Guid has %d bytes instead of 16", f.Name, f.FixedSize)
	case !utf8.ValidString(f.Name) || len(f.Name) > maxName:
		return fmt.Errorf("field name %.80q is not UTF-8 of at most %d bytes", f.Name, maxName)
	case f.FixedSize > math.MaxInt32:
		return fmt.Errorf("field %q has a fixed size of %d", f.Name, f.FixedSize)
	case len(f.Aliases) > maxProperties || f.Extended != nil && len(f.Extended.Properties) > maxProperties:
		return fmt.Errorf("field %q has more than %d aliases or properties", f.Name, maxProperties)
	case f.Type == Struct:
		return checkUnique(f.Name, f.Children)
	}
	return nil
}

// checkUnique verifies that siblings have unique names.
func checkUnique(parent string, fields []Field) error {
	seen := make(map[string]bool, len(fields))
	for i := range fields {
		switch name := fields[i].Name; {
		case name == "" && fields[i].Internal != "":
		case name == "":
			return fmt.Errorf("field %d of %q has no name", i, parent)
		case seen[name]:
			return fmt.Errorf("field name %q occurs twice in %q", name, parent)
		default:
			seen[name] = true
		}
	}
	return nil
}

// offsets writes a vector of references.
func (b *builder) offsets(items []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.fb.StartVector(4, len(items), 4)
	for i := len(items) - 1; i >= 0; i-- {
		b.fb.PrependUOffsetT(items[i])
	}
	return b.fb.EndVector(len(items))
}

func (b *builder) numbers(items []uint32) flatbuffers.UOffsetT {
	b.fb.StartVector(4, len(items), 4)
	for i := len(items) - 1; i >= 0; i-- {
		b.fb.PrependUint32(items[i])
	}
	return b.fb.EndVector(len(items))
}

func (b *builder) lookup(fields []Field) flatbuffers.UOffsetT {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	l := buildLookup(names)
	buckets, entries := b.numbers(l.buckets), b.numbers(l.entries)
	b.fb.StartObject(2)
	b.fb.PrependUOffsetTSlot(lookupBuckets, buckets, 0)
	b.fb.PrependUOffsetTSlot(lookupEntries, entries, 0)
	return b.fb.EndObject()
}

// extendedType writes an annotation, or refers to an equal one that is there.
func (b *builder) extendedType(e *Extended) flatbuffers.UOffsetT {
	if e == nil {
		return 0
	}
	if at, ok := b.byPointer[e]; ok {
		return at
	}
	key := e.key()
	at, ok := b.extended[key]
	if !ok {
		at = b.writeExtended(e)
		b.extended[key] = at
	}
	b.byPointer[e] = at
	return at
}

// key is equal for equal annotations only.
func (e *Extended) key() string {
	var k strings.Builder
	fmt.Fprintf(&k, "%q", e.Label)
	for _, p := range e.Properties {
		fmt.Fprintf(&k, "%q%d%q", p.Name, p.Kind, p.Data)
	}
	return k.String()
}

func (b *builder) writeExtended(e *Extended) flatbuffers.UOffsetT {
	items := make([]flatbuffers.UOffsetT, len(e.Properties))
	for i, p := range e.Properties {
		name := b.fb.CreateSharedString(p.Name)
		data := b.fb.CreateByteVector(p.Data)
		b.fb.StartObject(2)
		b.fb.PrependUOffsetTSlot(valueData, data, 0)
		b.fb.PrependByteSlot(valueKind, byte(p.Kind), 0)
		value := b.fb.EndObject()
		b.fb.StartObject(2)
		b.fb.PrependUOffsetTSlot(propertyName, name, 0)
		b.fb.PrependUOffsetTSlot(propertyValue, value, 0)
		items[i] = b.fb.EndObject()
	}
	properties := b.offsets(items)
	label := b.fb.CreateSharedString(e.Label)
	b.fb.StartObject(2)
	b.fb.PrependUOffsetTSlot(extendedLabel, label, 0)
	b.fb.PrependUOffsetTSlot(extendedProperties, properties, 0)
	return b.fb.EndObject()
}
