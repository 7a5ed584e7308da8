package schema

import "fmt"

// BasicType is the layout of the values of a node. The numbers are those of the format.
type BasicType uint8

// The basic types.
const (
	Unit            BasicType = 0  // no values, only positions
	Boolean         BasicType = 1  // one bit
	Int8            BasicType = 2  // 8-bit integer, signed or not
	Int16           BasicType = 3  // 16-bit integer, signed or not
	Int32           BasicType = 4  // 32-bit integer, signed or not
	Int64           BasicType = 5  // 64-bit integer, signed or not
	Float32         BasicType = 6  // IEEE 754 binary32
	Float64         BasicType = 7  // IEEE 754 binary64
	Binary          BasicType = 8  // bytes
	FixedSizeBinary BasicType = 9  // FixedSize bytes
	String          BasicType = 10 // UTF-8
	Guid            BasicType = 11 // 16 bytes in the order they are printed in
	DateTime        BasicType = 12 // 100 ns ticks since 0001-01-01, unsigned 64-bit
	List            BasicType = 13 // one child: the item
	FixedSizeList   BasicType = 14 // one child: the item; FixedSize items each
	Struct          BasicType = 15 // named children
	Map             BasicType = 16 // two children: key and value
	Union           BasicType = 17 // one child per variant
)

var basicNames = [...]string{"Unit", "Boolean", "Int8", "Int16", "Int32", "Int64", "Float32", "Float64", "Binary",
	"FixedSizeBinary", "String", "Guid", "DateTime", "List", "FixedSizeList", "Struct", "Map", "Union"}

// Known reports whether t is one of the types above.
func (t BasicType) Known() bool { return int(t) < len(basicNames) }

// String is the name that the format's documents use.
func (t BasicType) String() string {
	if t.Known() {
		return basicNames[t]
	}
	return fmt.Sprintf("basic type %d", uint8(t))
}

// IsInteger reports whether t is one of Int8 to Int64.
func (t BasicType) IsInteger() bool { return t >= Int8 && t <= Int64 }

// children is the smallest and the largest number of children of a node.
func (t BasicType) children() (least, most int) {
	switch t {
	case List, FixedSizeList:
		return 1, 1
	case Map:
		return 2, 2
	case Struct, Union:
		return 0, MaxChildren
	}
	if !t.Known() {
		return 0, MaxChildren
	}
	return 0, 0
}

// The labels of the extended types that the format defines. A node with another label is
// treated as its basic type.
const (
	LabelDecimal  = "KustoDecimal"  // FixedSizeBinary 16: IEEE 754 decimal128
	LabelTimeSpan = "KustoTimeSpan" // Int64 signed: 100 ns ticks
	LabelDynamic  = "KustoDynamic"  // Binary: a JSON-like value, opaque
)

// The kinds of internal fields that the format defines.
const (
	internalPrefix   = "Kusto.Amudai."
	InternalDeleted  = internalPrefix + "DeletedRecord"      // Boolean: the row is deleted
	InternalIngested = internalPrefix + "IngestionTimestamp" // of the database system
	InternalIdentity = internalPrefix + "RecordIdentity"     // of the row in its table
)

const (
	// NoParent is the parent id of a top-level node.
	NoParent = 0xFFFFFFFF
	// MaxDepth is the maximum depth of a node; a top-level node has depth 1.
	MaxDepth = 64
	// MaxChildren is the maximum number of children of a struct.
	MaxChildren = 1_000_000
)

// Field is a node of a schema to be built, or the copy of a node.
type Field struct {
	Name      string    // non-empty and unique at the top level and inside a struct; "" for items of lists and maps, and internal fields
	Type      BasicType // layout of values, docs/format.md §4.2
	Signed    bool      // integers only
	FixedSize uint32    // bytes of a FixedSizeBinary or Guid, items of a FixedSizeList, else 0
	Children  []Field   // item; key and value; fields of a struct
	Extended  *Extended // nil for a plain node
	Aliases   []string  // other names of a struct's child; lookups do not use them
	Internal  string    // kind of an internal top-level field, "" for an ordinary one
}

// Extended is the meaning of the values of a node beyond their basic type. Fields with equal
// annotations share one copy in the message.
type Extended struct {
	Label      string     // one of the labels above, or any other
	Properties []Property // in order; names may repeat, the first counts
}

// Property is a named parameter of an extended type.
type Property struct {
	Name string       // case matters
	Kind PropertyKind // type of Data
	Data []byte       // UTF-8, or an encoded AnyValue
}

// PropertyKind is the type of the data of a [Property]. Unknown kinds are preserved.
type PropertyKind uint8

// The kinds of properties.
const (
	PropertyNull     PropertyKind = 0 // no data
	PropertyString   PropertyKind = 1 // UTF-8 text
	PropertyJSON     PropertyKind = 2 // JSON text
	PropertyAnyValue PropertyKind = 3 // protobuf AnyValue
)

// Label is the label of the extended type, "" if there is none.
func (f *Field) Label() string {
	if f.Extended == nil {
		return ""
	}
	return f.Extended.Label
}

// IsDecimal reports whether the node holds decimals, of 16 bytes each.
func (f *Field) IsDecimal() bool {
	return f.Type == FixedSizeBinary && f.Label() == LabelDecimal
}
