package envelope

import (
	"github.com/amudai/amudai-go/rntuple/internal/column"
)

// Schema is the header of an ntuple together with what its footer adds. Strings are parts of one copy of the envelope
// that they come from. Once read it does not change, and may be used concurrently.
type Schema struct {
	Format      Format
	Checksum    uint64 // of the header; footer and page lists repeat it
	Name        string
	Description string
	Writer      string // the program that wrote the ntuple

	Fields  []Field
	Columns []Column
	Aliases []Alias
	Extra   []ExtraType

	// Header says how much of the four lists stands in the header; the rest is the extension in the footer.
	Header Counts

	children, columns, aliases index
	top                        []uint32
}

// Counts are lengths of the four lists of a schema.
type Counts struct{ Fields, Columns, Aliases, Extra int }

// Counts are the lengths of the lists so far.
func (s *Schema) Counts() Counts {
	return Counts{len(s.Fields), len(s.Columns), len(s.Aliases), len(s.Extra)}
}

// Role is what a field is in the tree of fields. Newer files may have others than these.
type Role uint16

// The roles of fields.
const (
	RolePlain      Role = 0 // a value, or a wrapper of one child
	RoleCollection Role = 1
	RoleRecord     Role = 2
	RoleVariant    Role = 3
	RoleStreamer   Role = 4 // bytes that ROOT's streamer made
)

var roles = [...]string{RolePlain: "plain", RoleCollection: "collection", RoleRecord: "record", RoleVariant: "variant", RoleStreamer: "streamer"}

// String names the role.
func (r Role) String() string {
	if int(r) < len(roles) {
		return roles[r]
	}
	return "unknown"
}

// Flags of a field. Newer files may have others, which change nothing.
const (
	FieldRepetitive uint16 = 0x01 // has ArraySize values in an entry
	FieldProjected  uint16 = 0x02 // shows the values of another field, Source
	FieldChecksum   uint16 = 0x04 // has TypeChecksum
	FieldSoA        uint16 = 0x08 // is a structure of arrays in C++; since 1.0.2
)

// Field is a node of the schema. Its ID is its place in Schema.Fields.
type Field struct {
	Version      uint32 // of the field's layout: 0 is the only one known
	TypeVersion  uint32
	Parent       uint32 // its own ID for a field at the top
	Role         Role
	Flags        uint16
	Name         string
	TypeName     string // of C++; empty for untyped records and collections
	TypeAlias    string
	Description  string
	ArraySize    uint64
	Source       uint32
	TypeChecksum uint32
}

// Projected tells whether the field shows the values of another one.
func (f *Field) Projected() bool { return f.Flags&FieldProjected != 0 }

// Flags of a column.
const (
	ColumnDeferred uint16 = 0x01 // has FirstElement
	ColumnRange    uint16 = 0x02 // has Min and Max
)

// Column is the values of a field in one representation. Its ID is its place in Schema.Columns.
type Column struct {
	Type           column.Type // maybe one that is not known
	Bits           uint16      // of an element
	Field          uint32
	Flags          uint16
	Representation uint16
	FirstElement   int64 // elements before it are zeros without pages; negative if the column begins suppressed
	Min, Max       float64
}

// Alias is a column of a projected field: the values of a physical column.
type Alias struct {
	Column uint32 // the physical column
	Field  uint32 // the projected field
}

// ExtraStreamerInfo is the content of an [ExtraType] that is a TList of TStreamerInfo.
const ExtraStreamerInfo uint32 = 0

// ExtraType is more about a type. Content is the kind of Data.
type ExtraType struct {
	Content     uint32
	TypeVersion uint32
	TypeName    string
	Data        string
}

// Top gives the IDs of the fields that have no parent, in their order.
func (s *Schema) Top() []uint32 { return s.top }

// Children gives the IDs of the subfields of a field, in their order.
func (s *Schema) Children(field uint32) []uint32 { return s.children.of(field) }

// ColumnsOf gives the IDs of the columns of a field: all of the first representation, then those of the next.
func (s *Schema) ColumnsOf(field uint32) []uint32 { return s.columns.of(field) }

// AliasesOf gives the places in Aliases of the columns of a projected field.
func (s *Schema) AliasesOf(field uint32) []uint32 { return s.aliases.of(field) }

// Path is the names from the top down to a field, joined by dots.
func (s *Schema) Path(field uint32) string {
	path := s.Fields[field].Name
	for parent := s.Fields[field].Parent; parent != field; field, parent = parent, s.Fields[parent].Parent {
		path = s.Fields[parent].Name + "." + path
	}
	return path
}

// An index lists for each field the items that belong to it, in their order: those of field i are items[ends[i-1]:ends[i]].
type index struct {
	ends, items []uint32
}

func (x index) of(field uint32) []uint32 {
	from := uint32(0)
	if field > 0 {
		from = x.ends[field-1]
	}
	return x.items[from:x.ends[field]:x.ends[field]]
}

// newIndex sorts n items by their fields, of which there are fields. An item may belong to none, which owner tells by false.
func newIndex(fields, n int, owner func(item int) (uint32, bool)) index {
	x := index{ends: make([]uint32, fields)}
	total := uint32(0)
	for i := range n {
		if f, ok := owner(i); ok {
			x.ends[f]++
			total++
		}
	}
	sum := uint32(0)
	for f, count := range x.ends {
		x.ends[f] = sum // where the next item of f goes
		sum += count
	}
	x.items = make([]uint32, total)
	for i := range n {
		if f, ok := owner(i); ok {
			x.items[x.ends[f]] = uint32(i)
			x.ends[f]++
		}
	}
	return x
}
