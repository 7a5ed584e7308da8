package envelope

import (
	"fmt"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
)

// ParseHeader reads and checks the header of an ntuple, in format 1.0 or 0.2.0.0.
func ParseHeader(env []byte, format Format) (*Schema, error) {
	s, err := parseHeader(env, format)
	if err != nil {
		return nil, fault.In(err, KindHeader.String(), -1)
	}
	return s, nil
}

func parseHeader(env []byte, format Format) (*Schema, error) {
	if format.ListedOnly() {
		return nil, fault.Unsupportedf("format %v", format)
	}
	w, err := open(env, KindHeader, format)
	if err != nil {
		return nil, err
	}
	s := &Schema{Format: format, Checksum: Checksum(env)}
	w.featureFlags()
	w.names(s)
	w.description(s, s.counts(), Counts{})
	if w.err != nil {
		return nil, w.err
	}
	s.Header = s.counts()
	return s, s.Check()
}

// AppendHeader appends the header of a schema in format 1.0 and sets its checksum: fields and columns up to s.Header.
func AppendHeader(dst []byte, s *Schema) ([]byte, error) {
	w := begin(dst)
	w.featureFlags()
	w.names(s)
	w.description(s, Counts{}, s.Header)
	dst, err := w.finish(KindHeader)
	if err == nil {
		s.Checksum = Checksum(dst)
	}
	return dst, err
}

func (w *wire) names(s *Schema) {
	w.says(headerLabels)
	w.str(&s.Name)
	w.str(&s.Description)
	w.str(&s.Writer)
}

// The smallest items of the lists of a schema in bytes.
const (
	minField  = recordHead + 16 + 4*4
	minColumn = recordHead + 12
	minAlias  = recordHead + 8
	minExtra  = recordHead + 8 + 4
)

// description is the part of a schema that header and extension have in common: a list of fields, of columns, of
// aliases, of extra information. Read items are appended to those of the schema; from and to bound the written ones.
func (w *wire) description(s *Schema, from, to Counts) {
	list(w, "field", &s.Fields, from.Fields, to.Fields, minField, (*Field).wire)
	list(w, "column", &s.Columns, from.Columns, to.Columns, minColumn, (*Column).wire)
	list(w, "alias column", &s.Aliases, from.Aliases, to.Aliases, minAlias, (*Alias).wire)
	list(w, "extra type information", &s.Extra, from.Extra, to.Extra, minExtra, (*ExtraType).wire)
}

// list is a list of record frames, which are items from to to of a slice. Read items are appended to it.
func list[T any](w *wire, name string, items *[]T, from, to, itemSize int, describe func(*T, *wire)) {
	w.next(name, -1)
	f, n := w.openList(to-from, itemSize)
	if !w.writing {
		from, to = len(*items), len(*items)+n
		if n > 0 {
			*items = append(make([]T, 0, to), *items...)[:to]
		}
	}
	for i := from; i < to && w.err == nil; i++ {
		w.next(name, i)
		record := w.open()
		describe(&(*items)[i], w)
		w.close(record)
		if w.err != nil {
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
func (f *Field) wire(w *wire) {
	w.says(fieldLabels)
	w.u32(&f.Version)
	w.u32(&f.TypeVersion)
	w.u32(&f.Parent)
	w.u16((*uint16)(&f.Role))
	w.u16(&f.Flags)
	if w.format != V1 {
		f.options(w)
	}
	w.str(&f.Name)
	w.str(&f.TypeName)
	w.str(&f.TypeAlias)
	w.str(&f.Description)
	if w.format == V1 {
		f.options(w)
	}
}

// options are the numbers that flags announce.
func (f *Field) options(w *wire) {
	if f.Flags&FieldRepetitive != 0 {
		w.u64(&f.ArraySize)
	}
	if f.Flags&FieldProjected != 0 {
		w.u32(&f.Source)
	}
	if f.Flags&FieldChecksum != 0 {
		w.u32(&f.TypeChecksum)
	}
}

// wire describes a column:
//
//	u16 type, u16 bits, u32 field, u16 flags, u16 representation
//	i64 first element, f64 minimum and f64 maximum, each if its flag is set
//
// Before 1.0, types have other codes, and flags are u32.
func (c *Column) wire(w *wire) {
	w.says(columnLabels)
	w.u16((*uint16)(&c.Type))
	w.u16(&c.Bits)
	w.u32(&c.Field)
	w.u16(&c.Flags)
	w.u16(&c.Representation)
	if w.format != V1 {
		c.Type = w.earlyType(uint16(c.Type))
		c.Flags = c.Flags & v02Deferred / v02Deferred * ColumnDeferred
	}
	if c.Flags&ColumnDeferred != 0 {
		w.i64(&c.FirstElement)
	}
	if c.Flags&ColumnRange != 0 {
		w.f64(&c.Min)
		w.f64(&c.Max)
	}
}

// v02Deferred is the flag of a deferred column before 1.0; those below it were about sorted values.
const v02Deferred = 0x08

// earlyType translates a type of a format before 1.0. Those of pre-releases have codes of their own, which are not known.
func (w *wire) earlyType(code uint16) column.Type {
	if w.format == V02 {
		return column.FromV02(code)
	}
	return column.Unknown | column.Type(code)
}

func (a *Alias) wire(w *wire) {
	w.says(aliasLabels)
	w.u32(&a.Column)
	w.u32(&a.Field)
}

// wire describes extra information: u32 content, u32 type version, string type, string data. Before 1.0, it
// was laid out differently; no file is known to have any.
func (e *ExtraType) wire(w *wire) {
	if w.format != V1 {
		return
	}
	w.says(extraLabels)
	w.u32(&e.Content)
	w.u32(&e.TypeVersion)
	w.str(&e.TypeName)
	w.str(&e.Data)
}
