package arrowmap

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// TimeEncoding is the stored form of timestamps, dates and durations.
type TimeEncoding uint8

const (
	// TimesAuto is TimesAsIntegers for nanoseconds and TimesAsTicks for all others.
	TimesAuto TimeEncoding = iota
	// TimesAsTicks stores DateTime and KustoTimeSpan, which count steps of 100 ns, and which other
	// readers understand as times. A value that is not a multiple of 100 ns, or out of range
	// (before year 1), is an error.
	TimesAsTicks
	// TimesAsIntegers stores the Arrow integers unchanged, in Int32 or Int64. Every value fits;
	// other readers see numbers.
	TimesAsIntegers
)

// Options choose among the ways to store a type. The zero value is edition
// reference with TimesAuto.
type Options struct {
	// Features are those that the shard may use (edition.Edition.Features).
	Features edition.Set
	// Times applies to all columns that TimesOf does not name.
	Times TimeEncoding
	// TimesOf applies to single columns, by their path ([schema.JoinPath] of stored names, with
	// "item", "key" and "value" inside lists and maps).
	TimesOf map[string]TimeEncoding
}

// extNameKey and extDataKey are the metadata keys that Arrow keeps extension
// types under.
const (
	extNameKey = "ARROW:extension:name"
	extDataKey = "ARROW:extension:metadata"
)

// FromArrow maps an Arrow schema to the fields of a stored schema, and to columns with the
// conversions of values. Schema ids are numbered in pre-order, as by [schema.Build]. The error
// wraps [fault.ErrUnsupported] for types that cannot be stored, and [fault.ErrLimit] for nesting
// that is too deep.
func FromArrow(s *arrow.Schema, o Options) ([]schema.Field, []Column, error) {
	w := &writer{o: o, shared: map[extKey]*schema.Extended{}}
	return w.fields(s.Fields(), "", 1)
}

type writer struct {
	o      Options
	nextID uint32
	shared map[extKey]*schema.Extended
}

type extKey struct{ label, text string }

// role is the place of a node in its parent.
type role uint8

const (
	named   role = iota // top level, or field of a struct
	anItem              // of a list
	aKey                // of a map
	aValue              // of a map
	anyRole             // a nested node that is projected alone
)

// defaultName is the Arrow name of a node with the given stored name.
func (r role) defaultName(stored string) string {
	if stored != "" && r == anyRole {
		return stored
	}
	return [...]string{named: stored, anItem: "item", aKey: "key", aValue: "value", anyRole: "item"}[r]
}

// fields maps the fields of a schema or struct.
func (w *writer) fields(fields []arrow.Field, path string, depth int) ([]schema.Field, []Column, error) {
	nodes := make([]schema.Field, len(fields))
	columns := make([]Column, len(fields))
	for i, name := range UniqueNames(fields) {
		var err error
		nodes[i], columns[i], err = w.field(fields[i], named, name, schema.JoinPath(path, name), depth)
		if err != nil {
			return nil, nil, err
		}
		columns[i].Ordinal = i
	}
	return nodes, columns, nil
}

// field maps one field and its descendants.
func (w *writer) field(f arrow.Field, place role, name, path string, depth int) (schema.Field, Column, error) {
	fail := func(err error) (schema.Field, Column, error) {
		return schema.Field{}, Column{}, fault.InColumn(err, path)
	}
	if depth > schema.MaxDepth {
		return fail(fault.Limitf("types nested more than %d deep", schema.MaxDepth))
	}
	k, wraps, plain, err := describe(f, place, name)
	if err != nil {
		return fail(err)
	}
	r := toStore(plain, extensionAt(f, wraps), w.timeEncoding(path, plain), w.o.Features)
	if r == nil {
		return fail(fault.Unsupportedf("Arrow type %s cannot be stored", plain))
	}
	col := Column{Arrow: f, Wraps: wraps, Plain: plain, ID: w.nextID}
	col.Stored = schema.Field{Name: name, Type: r.stored, Signed: r.signed, FixedSize: fixedSize(r, plain)}
	col.setRule(r)
	w.nextID++
	col.Stored.Extended = w.extended(r.label, k, &col.Stored)
	node := col.Stored
	node.Children, col.Children, err = w.children(&col, path, depth+1)
	return node, col, err
}

// setRule sets the rule and its parameters.
func (c *Column) setRule(r *row) {
	c.Rule = r.rule
	switch c.Rule {
	case Ticks, Span:
		c.Unit = unitOf(c.Plain)
	case Decimal:
		c.Scale = c.Plain.(arrow.DecimalType).GetScale()
	}
}

// describe removes the wraps of f's type, and records all properties of f that the stored type
// does not express.
func describe(f arrow.Field, place role, name string) (k annotation, wraps []arrow.DataType, plain arrow.DataType, err error) {
	for plain = f.Type; kinds.Of(plain) == kinds.Wrap; plain = kinds.Inner(plain) {
		if len(wraps) == maxWraps {
			return k, nil, nil, fault.Limitf("type %s has more than %d wraps", f.Type, maxWraps)
		}
		w := termOf(plain)
		if _, err := makeWrap(w, kinds.Inner(plain)); err != nil {
			return k, nil, nil, fault.Unsupportedf("%s: %w", plain, err)
		}
		wraps, k.wraps = append(wraps, plain), append(k.wraps, w)
	}
	if k.base = termOf(plain); k.base.name == "" {
		return k, nil, nil, fault.Unsupportedf("Arrow type %s cannot be stored", plain)
	}
	if kinds.Of(plain) == kinds.Leaf { // Arrow can construct types that no array can have
		if _, err := makeBase(k.base, nil); err != nil {
			return k, nil, nil, fault.Unsupportedf("%s: %w", plain, err)
		}
	}
	k.required = !f.Nullable && place != aKey
	k.meta = f.Metadata
	k.name, k.hasName = f.Name, f.Name != place.defaultName(name)
	return k, wraps, plain, nil
}

// extensionAt is the name of the extension type next to the plain type: that of
// the innermost wrap, or for fields without wraps that of their metadata.
func extensionAt(f arrow.Field, wraps []arrow.DataType) string {
	if len(wraps) == 0 {
		name, _ := f.Metadata.GetValue(extNameKey)
		return name
	}
	if t, ok := wraps[len(wraps)-1].(arrow.ExtensionType); ok {
		return t.ExtensionName()
	}
	return ""
}

// timeEncoding is the chosen form of the times of the column at path.
func (w *writer) timeEncoding(path string, plain arrow.DataType) TimeEncoding {
	form, ok := w.o.TimesOf[path]
	if !ok {
		form = w.o.Times
	}
	if form != TimesAuto {
		return form
	}
	if t, ok := plain.(arrow.TemporalWithUnit); ok && t.TimeUnit() == arrow.Nanosecond {
		return TimesAsIntegers
	}
	return TimesAsTicks
}

// extended is the annotation of a node: its label, and the Arrow annotation if the default
// mapping would give something else. Equal annotations are shared.
func (w *writer) extended(label string, k annotation, node *schema.Field) *schema.Extended {
	typ := k.typeText()
	if label == "" && typ == defaultText(node) {
		typ = ""
	}
	key := extKey{label, k.text(typ)}
	if key == (extKey{}) {
		return nil
	}
	if e := w.shared[key]; e != nil {
		return e
	}
	e := &schema.Extended{Label: label}
	if label == "" {
		e.Label = AnnotationLabel
	}
	if key.text != "" {
		e.Properties = []schema.Property{{Name: AnnotationProperty, Kind: schema.PropertyString, Data: []byte(key.text)}}
	}
	w.shared[key] = e
	return e
}

// children maps the children of a column whose own node is complete.
func (w *writer) children(c *Column, path string, depth int) ([]schema.Field, []Column, error) {
	fields := kinds.Fields(c.Plain)
	switch {
	case c.Rule == DayTime || c.Rule == MonthDayNano:
		return w.fields(parts(c.Plain), path, depth)
	case len(fields) == 0:
		return nil, nil, nil
	case kinds.HasNames(c.Plain):
		return w.fields(fields, path, depth)
	}
	roles := []role{anItem}
	if len(fields) == 2 {
		roles = []role{aKey, aValue}
	}
	nodes, columns := make([]schema.Field, len(fields)), make([]Column, len(fields))
	for i, f := range fields {
		var err error
		if nodes[i], columns[i], err = w.field(f, roles[i], "", schema.JoinPath(path, roles[i].defaultName("")), depth); err != nil {
			return nil, nil, err
		}
	}
	return nodes, columns, nil
}

// parts are the fields of the struct that an interval is stored as.
func parts(dt arrow.DataType) []arrow.Field {
	part := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	i32, i64 := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	if dt.ID() == arrow.INTERVAL_DAY_TIME {
		return []arrow.Field{part("days", i32), part("milliseconds", i32)}
	}
	return []arrow.Field{part("months", i32), part("days", i32), part("nanoseconds", i64)}
}

// defaultText is the type text that a node has under the default mapping, ""
// where that depends on options.
func defaultText(node *schema.Field) string {
	if knownLabel(node) != "" {
		return ""
	}
	switch node.Type {
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64:
		name := strings.ToLower(node.Type.String())
		if !node.Signed {
			name = "u" + name
		}
		return name
	case schema.FixedSizeBinary:
		return fmt.Sprintf("fixed_size_binary[%d]", node.FixedSize)
	case schema.FixedSizeList:
		return fmt.Sprintf("fixed_size_list[%d]", node.FixedSize)
	}
	return defaultTexts[node.Type]
}

var defaultTexts = map[schema.BasicType]string{
	schema.Unit: "null", schema.Boolean: "bool", schema.Float32: "float32", schema.Float64: "float64",
	schema.Binary: "large_binary", schema.String: "large_utf8", schema.Guid: "extension[" + extUUID + "]/fixed_size_binary[16]",
	schema.List: "large_list", schema.Struct: "struct", schema.Map: "map", schema.Union: "dense_union",
}
