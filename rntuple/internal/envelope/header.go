package envelope

import (
	"fmt"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
)

// ParseHeader reads and checks the header of an ntuple, in format 1.0 or 0.2.0.0.
func ParseHeader(env []byte, format Format) (_ *Schema, err error) {
	defer func() { err = fault.In(err, KindHeader.String(), -1) }()
	if format.ListedOnly() {
		return nil, fault.Unsupportedf("format %v", format)
	}
	w, err := open(env, KindHeader, format)
	if err != nil {
		return nil, err
	}
	s := &Schema{Format: format, Checksum: Checksum(env)}
	if w.header(s); w.Err != nil {
		return nil, w.Err
	}
	s.Header = s.Counts()
	return s, s.Check()
}

// AppendHeader appends the header of a schema in format 1.0 and sets its checksum: fields and columns up to s.Header.
func AppendHeader(dst []byte, s *Schema) ([]byte, error) {
	w := begin(dst)
	w.header(s)
	dst, err := w.finish(KindHeader)
	if err == nil {
		s.Checksum = Checksum(dst)
	}
	return dst, err
}

func (w *coder) header(s *Schema) {
	w.featureFlags()
	w.names(s)
	w.description(s, Counts{}, s.Header)
}

func (w *coder) names(s *Schema) {
	w.str("name", &s.Name)
	w.str("description", &s.Description)
	w.str("writer", &s.Writer)
}

// The smallest items of the lists of a schema in bytes.
const (
	minField  = recordHead + 16 + 4*4
	minColumn = recordHead + 12
	minAlias  = recordHead + 8
	minExtra  = recordHead + 8 + 4
)

// description is the part of a schema that header and extension have in common: a list of fields, of columns, of
// aliases, of extra information. Read items are appended to those of the schema; from and to bound the written ones only.
func (w *coder) description(s *Schema, from, to Counts) {
	list(w, "field", &s.Fields, from.Fields, to.Fields, minField, (*Field).wire)
	list(w, "column", &s.Columns, from.Columns, to.Columns, minColumn, (*Column).wire)
	list(w, "alias column", &s.Aliases, from.Aliases, to.Aliases, minAlias, (*Alias).wire)
	list(w, "extra type information", &s.Extra, from.Extra, to.Extra, minExtra, (*ExtraType).wire)
}

// list is a list of record frames, which are items from to to of a slice. Read items are appended to it.
func list[T any](w *coder, name string, items *[]T, from, to, itemSize int, describe func(*T, *coder)) {
	w.name(name, -1)
	f, n := w.openList(to-from, itemSize)
	if !w.Writing {
		from, to = len(*items), len(*items)+n
		if n > 0 {
			*items = append(make([]T, 0, to), *items...)[:to]
		}
	}
	for i := from; i < to && w.Err == nil; i++ {
		w.name(name, i)
		record := w.open()
		describe(&(*items)[i], w)
		w.close(record)
		if w.Err != nil {
			w.in(fmt.Sprintf("%s %d", name, i))
		}
	}
	w.close(f)
}

// wire describes a field:
//
//	u32 field version, u32 type version, u32 parent, u16 role, u16 flags
//	4 strings: name, type, alias of the type, description
//	u64 array size, u32 source, u32 type checksum, each if its flag is set
//
// Before 1.0, the strings come last.
func (f *Field) wire(w *coder) {
	w.U32("field version", &f.Version)
	w.U32("type version", &f.TypeVersion)
	w.U32("parent", &f.Parent)
	w.U16("role", (*uint16)(&f.Role))
	w.U16("flags", &f.Flags)
	if w.format != V1 {
		f.options(w)
	}
	w.str("name", &f.Name)
	w.str("type", &f.TypeName)
	w.str("type alias", &f.TypeAlias)
	w.str("description", &f.Description)
	if w.format == V1 {
		f.options(w)
	}
}

// options are the numbers that flags announce.
func (f *Field) options(w *coder) {
	if f.Flags&FieldRepetitive != 0 {
		w.U64("array size", &f.ArraySize)
	}
	if f.Flags&FieldProjected != 0 {
		w.U32("source", &f.Source)
	}
	if f.Flags&FieldChecksum != 0 {
		w.U32("type checksum", &f.TypeChecksum)
	}
}

// wire describes a column:
//
//	u16 type, u16 bits, u32 field, u16 flags, u16 representation
//	i64 first element, f64 minimum and f64 maximum, each if its flag is set
//
// Before 1.0, types have other codes, and flags are u32.
func (c *Column) wire(w *coder) {
	w.U16("type", (*uint16)(&c.Type))
	w.U16("bits", &c.Bits)
	w.U32("field", &c.Field)
	w.U16("flags", &c.Flags)
	w.U16("representation", &c.Representation)
	if w.format != V1 {
		c.Type = w.earlyType(uint16(c.Type))
		c.Flags = c.Flags & v02Deferred / v02Deferred * ColumnDeferred
	}
	if c.Flags&ColumnDeferred != 0 {
		w.i64("first element", &c.FirstElement)
	}
	if c.Flags&ColumnRange != 0 {
		w.f64("minimum", &c.Min)
		w.f64("maximum", &c.Max)
	}
}

// v02Deferred is the flag of a deferred column before 1.0; those below it were about sorted values.
const v02Deferred = 0x08

// earlyType translates a type of a format before 1.0. Those of pre-releases have codes of their own, which are not known.
func (w *coder) earlyType(code uint16) column.Type {
	if w.format == V02 {
		return column.FromV02(code)
	}
	return column.Unknown | column.Type(code)
}

func (a *Alias) wire(w *coder) {
	w.U32("column", &a.Column)
	w.U32("projected field", &a.Field)
}

// wire describes extra information: u32 content, u32 type version, string type, string data. Before 1.0, it
// was laid out differently; no file is known to have any.
func (e *ExtraType) wire(w *coder) {
	if w.format != V1 {
		return
	}
	w.U32("content", &e.Content)
	w.U32("type version", &e.TypeVersion)
	w.str("type", &e.TypeName)
	w.str("data", &e.Data)
}
