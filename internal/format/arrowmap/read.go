package arrowmap

import (
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// ReadOptions choose the Arrow types of nodes without a recorded Arrow type, as in shards of
// other writers. The zero value is the default mapping.
type ReadOptions struct {
	// IgnoreAnnotations reads every node by the default mapping.
	IgnoreAnnotations bool

	// Decimals, DecimalPrecision and DecimalScale are for KustoDecimal nodes. A
	// precision of 0 is the default: decimal128(38, 16), decimal256(76, 34).
	Decimals         DecimalType
	DecimalPrecision int32
	DecimalScale     int32

	// DateTimes and TimeSpans are for nodes that count ticks.
	DateTimes TickType
	TimeSpans TickType

	// Dynamics is for KustoDynamic nodes.
	Dynamics DynamicType

	// Range gives the range statistics of a node, for TicksAuto: ok is false if
	// they are not known. It is asked for DateTime and timespan nodes without an
	// Arrow annotation only; nil is allowed.
	Range func(id uint32) (r TickRange, ok bool)
}

// TickRange is the smallest and the largest value of a node in ticks (100 ns),
// both included; those of timespans as two's complement.
type TickRange struct{ Min, Max uint64 }

// DecimalType is an Arrow type for decimals.
type DecimalType uint8

// The Arrow types of decimals. A value that does not fit is an error with its row.
const (
	DecimalsAs128  DecimalType = iota // decimal128
	DecimalsAs256                     // decimal256
	DecimalsAsText                    // large_utf8: every value fits
	DecimalsRaw                       // fixed_size_binary[16] with the extension name KustoDecimal
)

// TickType is an Arrow type for nodes that count ticks.
type TickType uint8

// The Arrow types of ticks.
const (
	TicksAuto    TickType = iota // nanoseconds if the range fits or is not known, else microseconds
	TicksAsNanos                 // timestamp[ns] or duration[ns]
	TicksAsMicro                 // timestamp[us] or duration[us]
	TicksRaw                     // uint64 with the extension name KustoDateTime, int64 with KustoTimeSpan
)

// DynamicType is an Arrow type for dynamic values.
type DynamicType uint8

// The Arrow types of dynamic values.
const (
	DynamicsAsJSON DynamicType = iota // extension arrow.json over large_utf8; bytes that are not UTF-8 are an error
	DynamicsAsText                    // large_utf8
	DynamicsRaw                       // large_binary with the extension name KustoDynamic
)

// ColumnOf gives the column of a node. It reads only that node and its descendants. A type
// without a corresponding Arrow type is an error that wraps [fault.ErrUnsupported].
func ColumnOf(node schema.Node, o ReadOptions) (Column, error) {
	place := named
	if node.Depth() > 1 {
		place = anyRole
	}
	r := newReader(node.Schema(), o)
	return r.column(node, place, nil)
}

// ToArrow returns the Arrow schema and the columns of all top-level fields that are not hidden. The
// metadata of the schema is empty, because it is not part of a shard's schema (see [MetadataFromIPC]).
func ToArrow(s *schema.Schema, o ReadOptions) (*arrow.Schema, []Column, error) {
	columns := make([]Column, 0, s.NumFields())
	fields := make([]arrow.Field, 0, s.NumFields())
	r := newReader(s, o)
	for i := range s.NumFields() {
		node, err := s.Field(i)
		if err != nil {
			return nil, nil, err
		}
		if node.Hidden() {
			continue
		}
		c, err := r.column(node, named, nil)
		if err != nil {
			return nil, nil, err
		}
		columns, fields = append(columns, c), append(fields, c.Arrow)
	}
	return arrow.NewSchema(fields, nil), columns, nil
}

type reader struct {
	o      ReadOptions
	budget *schema.Budget // a hostile schema may reach a node on many paths
	parsed map[*schema.Extended]*parsed
}

func newReader(s *schema.Schema, o ReadOptions) *reader {
	return &reader{o: o, budget: s.Budget(), parsed: map[*schema.Extended]*parsed{}}
}

// column maps a node and its wanted children p, nil for all.
func (r *reader) column(node schema.Node, place role, p *pick) (Column, error) {
	c := Column{ID: node.ID(), Parent: node.ParentID()}
	var err error
	if c.Stored, err = r.budget.Describe(node); err != nil {
		return c, err
	}
	if c.Children, err = r.children(node, p); err != nil {
		return c, err
	}
	if k := r.annotationOf(&c.Stored); k != nil && !r.o.IgnoreAnnotations {
		err := k.err
		if err == nil {
			if err = r.assemble(&c, k.annotation, place, p); err == nil {
				return c, nil
			}
		}
		c.AnnotationIgnored = fmt.Sprintf("Arrow annotation %.200q: %v", k.text, err)
	}
	if err := r.assemble(&c, annotation{}, place, p); err != nil {
		return c, fault.InColumn(fault.Unsupportedf("%w", err), schema.Escape(node.Name()))
	}
	return c, nil
}

func (r *reader) children(node schema.Node, p *pick) ([]Column, error) {
	if p.partial() && node.Type() != schema.Map {
		return r.picked(node, p)
	}
	n := node.NumChildren()
	if n == 0 {
		return nil, nil
	}
	columns := make([]Column, n)
	for i := range columns {
		child, err := node.Child(i)
		if err != nil {
			return nil, err
		}
		if columns[i], err = r.column(child, placeOf(node, i), p.child(child)); err != nil {
			return nil, err
		}
		columns[i].Ordinal = i
	}
	return columns, nil
}

// placeOf is the place of child i of node.
func placeOf(node schema.Node, i int) role {
	switch node.Type() {
	case schema.List, schema.FixedSizeList:
		return anItem
	case schema.Map:
		return [...]role{aKey, aValue}[i&1]
	}
	return named
}

// parsed is the parsed annotation of an extended type.
type parsed struct {
	annotation
	text string
	err  error
}

// annotationOf is the annotation of a node, or nil. An annotation that nodes share is parsed
// once.
func (r *reader) annotationOf(f *schema.Field) *parsed {
	if f.Extended == nil {
		return nil
	}
	p, ok := r.parsed[f.Extended]
	if ok {
		return p
	}
	if i := annotationAt(f); i >= 0 {
		p = &parsed{text: string(f.Extended.Properties[i].Data)}
		p.annotation, p.err = parseAnnotation(p.text)
	}
	r.parsed[f.Extended] = p
	return p
}

// assemble fills c from the annotation, and from the default mapping where the annotation has
// no type.
func (r *reader) assemble(c *Column, k annotation, place role, p *pick) error {
	if k.base.name == "" {
		text, err := r.defaultType(c)
		if err != nil {
			return err
		}
		d, err := parseAnnotation(text)
		if err != nil {
			return err
		}
		k.wraps, k.base = d.wraps, d.base
		k.meta = joinMetadata(d.meta, k.meta)
	}
	if p.partial() {
		k = k.ofPart()
	}
	kids := make([]arrow.Field, len(c.Children))
	for i := range kids {
		kids[i] = c.Children[i].Arrow
		kids[i].Nullable = kids[i].Nullable || k.base.name == "struct" && c.Stored.Type == schema.Union
	}
	plain, err := makeBase(k.base, kids)
	if err != nil {
		return err
	}
	row := stored(plain, &c.Stored)
	if row == nil {
		return fmt.Errorf("type %s is not stored as %s", plain, c.Stored.Type)
	}
	c.Plain = plain
	c.setRule(row)
	c.Arrow = arrow.Field{Name: place.defaultName(c.Stored.Name), Nullable: !k.required && place != aKey, Metadata: k.meta}
	if k.hasName {
		c.Arrow.Name = k.name
	}
	return c.wrap(k.wraps)
}

// wrap puts the wraps around c.Plain.
func (c *Column) wrap(wraps []term) error {
	c.Arrow.Type, c.Wraps = c.Plain, nil
	for i := len(wraps) - 1; i >= 0; i-- {
		w, err := makeWrap(wraps[i], c.Arrow.Type)
		if err != nil {
			return err
		}
		if w == nil { // an unregistered extension type: its storage, labelled
			c.Arrow.Metadata = labelled(c.Arrow.Metadata, wraps[i].args)
			continue
		}
		c.Arrow.Type = w
		c.Wraps = append([]arrow.DataType{w}, c.Wraps...)
	}
	return nil
}

// labelled adds the metadata by which Arrow names an extension type.
func labelled(m arrow.Metadata, args []string) arrow.Metadata {
	if m.FindKey(extNameKey) >= 0 {
		return m
	}
	keys, values := []string{extNameKey}, args[:1:1]
	if len(args) > 1 {
		keys, values = append(keys, extDataKey), append(values, args[1])
	}
	return joinMetadata(m, arrow.NewMetadata(keys, values))
}

func joinMetadata(a, b arrow.Metadata) arrow.Metadata {
	if a.Len() == 0 {
		return b
	}
	return arrow.NewMetadata(append(append([]string(nil), a.Keys()...), b.Keys()...), append(append([]string(nil), a.Values()...), b.Values()...))
}

// makeWrap is the type that a wrap makes of inner; nil for an extension type that is not registered.
func makeWrap(w term, inner arrow.DataType) (arrow.DataType, error) {
	switch {
	case len(w.args) == 0 || len(w.args) > 2:
		return nil, fmt.Errorf("%s with %d arguments", w.name, len(w.args))
	case w.name == "extension":
		return extensionType(w.args[0], strings.Join(w.args[1:], ""), inner)
	case w.name != "dictionary" && w.name != runs:
		return nil, fmt.Errorf("wrap %q is not known", w.name)
	}
	return kinds.Make(strings.Replace(w.name, runs, kinds.Name(arrow.RUN_END_ENCODED), 1), w.args, []arrow.Field{{Type: inner}})
}

// makeBase is the type of a term that is no wrap.
func makeBase(t term, kids []arrow.Field) (arrow.DataType, error) {
	if shape, ok := kinds.OfName(t.name); !ok || shape == kinds.Wrap {
		return nil, fmt.Errorf("type %q is not known", t.name)
	}
	return kinds.Make(t.name, t.args, kids)
}

// extensionType makes a registered extension type. A type that refuses the storage or the data
// counts as unregistered, because the data is untrusted.
func extensionType(name, data string, storage arrow.DataType) (dt arrow.DataType, err error) {
	registered := extension.Find(name)
	if registered == nil {
		return nil, nil
	}
	defer func() {
		if recover() != nil { // code of others met unexpected data
			dt, err = nil, nil
		}
	}()
	t, err := registered.Deserialize(storage, data)
	if err != nil || t == nil || !arrow.TypeEqual(t.StorageType(), storage) {
		return nil, nil
	}
	return t, nil
}

// defaultType is the annotation of the type that the default mapping gives.
func (r *reader) defaultType(c *Column) (string, error) {
	node := &c.Stored
	switch {
	case node.Label() == schema.LabelDecimal && node.Type == schema.FixedSizeBinary && node.FixedSize == 16:
		return r.o.decimalText()
	case node.Label() == schema.LabelDynamic && node.Type == schema.Binary:
		return [...]string{
			DynamicsAsJSON: "extension[" + extJSON + "]/large_utf8",
			DynamicsAsText: "large_utf8",
			DynamicsRaw:    "large_binary;meta=" + extNameKey + "," + extDynamic,
		}[min(r.o.Dynamics, DynamicsRaw)], nil
	case node.Label() == schema.LabelTimeSpan && node.Type == schema.Int64 && node.Signed:
		switch r.o.TimeSpans.resolve(r.o.Range, c.ID, fitsSpan) {
		case TicksAsNanos:
			return "duration[ns]", nil
		case TicksAsMicro:
			return "duration[us]", nil
		}
		return "int64;meta=" + extNameKey + "," + extTimeSpan, nil
	case node.Type == schema.DateTime:
		switch r.o.DateTimes.resolve(r.o.Range, c.ID, fitsInstant) {
		case TicksAsNanos:
			return "timestamp[ns]", nil
		case TicksAsMicro:
			return "timestamp[us]", nil
		}
		return "uint64;meta=" + extNameKey + "," + extDateTime, nil
	case knownLabel(node) != "":
		return "", fmt.Errorf("extended type %s on a node of type %s", node.Label(), node.Type)
	}
	text := defaultText(node)
	if text == "" {
		return "", fmt.Errorf("type %s cannot be read", node.Type)
	}
	if l := node.Label(); l != "" && l != AnnotationLabel && node.Type != schema.Guid {
		text += ";meta=" + extNameKey + "," + string(appendEscaped(nil, l))
	}
	return text, nil
}

// decimalText is the type of KustoDecimal nodes.
func (o *ReadOptions) decimalText() (string, error) {
	p, s := o.DecimalPrecision, o.DecimalScale
	switch o.Decimals {
	case DecimalsAsText:
		return "large_utf8", nil
	case DecimalsRaw:
		return "fixed_size_binary[16];meta=" + extNameKey + "," + extDecimal, nil
	case DecimalsAs256:
		if p == 0 {
			p, s = 76, 34
		}
		return fmt.Sprintf("decimal256[%d,%d]", p, s), nil
	}
	if p == 0 {
		p, s = 38, 16
	}
	return fmt.Sprintf("decimal128[%d,%d]", p, s), nil
}

// resolve chooses the unit for TicksAuto.
func (f TickType) resolve(rangeOf func(uint32) (TickRange, bool), id uint32, fits func(TickRange) bool) TickType {
	if f != TicksAuto {
		return f
	}
	if rangeOf != nil {
		if r, ok := rangeOf(id); ok && !fits(r) {
			return TicksAsMicro
		}
	}
	return TicksAsNanos
}

// maxNanoTicks is the number of ticks in the range of 64-bit nanoseconds.
const maxNanoTicks = math.MaxInt64 / 100

func fitsInstant(r TickRange) bool {
	return r.Min >= convert.Epoch-maxNanoTicks && r.Max <= convert.Epoch+maxNanoTicks
}

func fitsSpan(r TickRange) bool {
	return int64(r.Min) >= -maxNanoTicks && int64(r.Max) <= maxNanoTicks
}
