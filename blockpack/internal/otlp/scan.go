package otlp

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/wire"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// AddTraces adds the spans of an encoded TracesData or ExportTraceServiceRequest, which have the same bytes. After an
// error the builder has the rows that it had before. message is not kept.
func (b *Builder) AddTraces(message []byte) error {
	m := b.mark()
	if err := b.traces(message); err != nil {
		b.rollback(m)
		return err
	}
	return nil
}

// traces scans a TracesData:
//
//	1 repeated ResourceSpans
func (b *Builder) traces(msg []byte) error {
	r := wire.NewReader(msg, 0)
	var f wire.Field
	for n := 0; r.Next(&f); {
		if f.Num != 1 {
			b.stats.UnknownFields++
			continue
		}
		if !r.Is(&f, protowire.BytesType) {
			break
		}
		if err := b.resourceSpans(f.Data, f.At); err != nil {
			return fault.In(err, element("ResourceSpans", n), -1)
		}
		n++
	}
	return fault.In(r.Err, "TracesData", -1)
}

// shared are the values that all spans of a resource or scope have.
type shared struct {
	schemaURL, name, version []byte
	droppedAttrs             uint64
	values                   []sharedValue
	entityRefs, attrs        []byte
	inner, unknown           []byte // unknown fields of the Resource or InstrumentationScope, and of what is around it
}

// sharedValue is the value of an attribute: a number or a code.
type sharedValue struct {
	c    *columnBuilder
	bits uint64
}

func (s *shared) reset() {
	*s = shared{values: s.values[:0], entityRefs: s.entityRefs[:0], attrs: s.attrs[:0], inner: s.inner[:0], unknown: s.unknown[:0]}
}

// resourceSpans scans a ResourceSpans at an offset:
//
//	1 Resource, 2 repeated ScopeSpans, 3 schema_url
func (b *Builder) resourceSpans(msg []byte, base int) error {
	return b.around(msg, base, ofResource, "ScopeSpans", b.scopeSpans, &b.stats.EmptyResources)
}

// scopeSpans scans a ScopeSpans at an offset:
//
//	1 InstrumentationScope, 2 repeated Span, 3 schema_url
func (b *Builder) scopeSpans(msg []byte, base int) error {
	return b.around(msg, base, ofScope, "Span", b.addSpan, &b.stats.EmptyScopes)
}

// around scans a ResourceSpans or ScopeSpans. Its Resource or InstrumentationScope comes first, wherever it is.
func (b *Builder) around(msg []byte, base, scope int, name string, item func([]byte, int) error, empty *int64) error {
	s := &b.shared[scope]
	s.reset()
	b.list++
	if err := b.beside(msg, base, scope); err != nil {
		return fault.In(err, [...]string{ofResource: "Resource", ofScope: "InstrumentationScope"}[scope], -1)
	}
	first := b.rows
	r := wire.NewReader(msg, base)
	var f wire.Field
	for n := 0; r.Next(&f); {
		if f.Num != 2 {
			continue
		}
		if !r.Is(&f, protowire.BytesType) {
			break
		}
		if err := item(f.Data, f.At); err != nil {
			return fault.In(err, element(name, n), -1)
		}
		n++
	}
	if r.Err != nil {
		return r.Err
	}
	if b.rows == first {
		*empty++
		b.unusedValues = true
		return nil
	}
	return b.repeat(s, &b.f.shared[scope], first)
}

// beside scans the fields of a ResourceSpans or ScopeSpans but field 2.
func (b *Builder) beside(msg []byte, base, scope int) error {
	s := &b.shared[scope]
	r := wire.NewReader(msg, base)
	var f wire.Field
	for r.Next(&f) {
		switch f.Num {
		case 1:
			if r.Is(&f, protowire.BytesType) {
				r.Err = b.sharedFields(f.Data, f.At, scope)
			}
		case 2:
		case 3:
			r.Text(&f, &s.schemaURL)
		case 1000:
			r.Err = fault.Unsupportedf("instrumentation_library_spans, of OTLP before version 0.19")
		default:
			s.unknown = append(s.unknown, f.Raw...)
		}
		if r.Err != nil {
			return r.Err
		}
	}
	if len(s.inner) > 0 {
		s.unknown = protowire.AppendTag(s.unknown, 1, protowire.BytesType)
		s.unknown = protowire.AppendBytes(s.unknown, s.inner)
	}
	return r.Err
}

// sharedField is what a field of a Resource or an InstrumentationScope is.
type sharedField uint8

const (
	otherField sharedField = iota
	attributesField
	droppedField
	entityRefsField
	nameField
	versionField
)

// sharedNumbers are the fields by number.
var sharedNumbers = [3][5]sharedField{
	ofResource: {1: attributesField, 2: droppedField, 3: entityRefsField},
	ofScope:    {1: nameField, 2: versionField, 3: attributesField, 4: droppedField},
}

// sharedFields scans a Resource or an InstrumentationScope.
func (b *Builder) sharedFields(msg []byte, base, scope int) error {
	s := &b.shared[scope]
	r := wire.NewReader(msg, base)
	var f wire.Field
	prev := &b.attrs[scope].head
	for r.Next(&f) {
		field := otherField
		if int(f.Num) < len(sharedNumbers[scope]) {
			field = sharedNumbers[scope][f.Num]
		}
		switch field {
		case attributesField:
			if r.Is(&f, protowire.BytesType) {
				prev, r.Err = b.sharedAttribute(s, scope, prev, &f)
			}
		case droppedField:
			r.Count(&f, &s.droppedAttrs)
		case entityRefsField:
			if r.Is(&f, protowire.BytesType) {
				r.Err = wire.EntityRef.Check(f.Data, f.At, 3)
				s.entityRefs = append(s.entityRefs, f.Raw...)
			}
		case nameField:
			r.Text(&f, &s.name)
		case versionField:
			r.Text(&f, &s.version)
		default:
			s.inner = append(s.inner, f.Raw...)
		}
		if r.Err != nil {
			return r.Err
		}
	}
	return r.Err
}

// sharedAttribute scans an attribute of a resource or scope.
func (b *Builder) sharedAttribute(s *shared, scope int, prev *attribute, f *wire.Field) (*attribute, error) {
	k, kv, err := b.attribute(scope, prev, f)
	if err != nil {
		return prev, err
	}
	if !kv.Plain {
		s.attrs = append(s.attrs, f.Raw...)
		return k, nil
	}
	c, err := b.columnOf(scope, k, kv.Type)
	if err != nil {
		return k, err
	}
	if c.coded {
		v, err := b.value(c.name, kv.Data)
		if err != nil {
			return k, err
		}
		code, err := c.intern(v)
		if err != nil {
			return k, err
		}
		kv.Bits = uint64(code)
	}
	s.values = append(s.values, sharedValue{c, kv.Bits})
	return k, nil
}

// attribute parses an encoded KeyValue and finds its key. A key that its list had already is not plain.
func (b *Builder) attribute(scope int, prev *attribute, f *wire.Field) (*attribute, wire.KeyValue, error) {
	var kv wire.KeyValue
	if err := kv.Parse(f.Data, f.At, depths[scope]); err != nil {
		return prev, kv, fault.In(err, "attribute", -1)
	}
	if len(prefixes[scope])+len(kv.Key) > b.o.MaxNameLen {
		if !b.o.Truncate {
			return prev, kv, b.nameTooLong(scope, kv.Key)
		}
		kv.Plain = false // kept among the others, with its whole key
		return prev, kv, nil
	}
	k := b.attrs[scope].after(prev, kv.Key)
	if k.list == b.list {
		kv.Plain = false
	}
	k.list = b.list
	return k, kv, nil
}

// repeat gives the values of a resource or scope to the rows from first on.
func (b *Builder) repeat(s *shared, f *sharedColumns, first int) error {
	for _, v := range s.values {
		var err error
		if v.c.coded {
			err = v.c.addCode(uint32(v.bits), first, b.rows)
		} else {
			err = v.c.addNumber(v.bits, first, b.rows)
		}
		if err != nil {
			return err
		}
	}
	if err := b.repeatValue(f.schemaURL, s.schemaURL, first); err != nil || b.o.Strict {
		return err
	}
	if s.droppedAttrs != 0 {
		if err := f.droppedAttrs.addNumber(s.droppedAttrs, first, b.rows); err != nil {
			return err
		}
	}
	for _, t := range [...]struct {
		c *columnBuilder
		v []byte
	}{{f.name, s.name}, {f.version, s.version}, {f.entityRefs, s.entityRefs}, {f.attrs, s.attrs}, {f.unknown, s.unknown}} {
		if err := b.repeatValue(t.c, t.v, first); err != nil {
			return err
		}
	}
	return nil
}

// repeatValue gives a string or encoded fields to the rows from first on, unless they are empty.
func (b *Builder) repeatValue(c *columnBuilder, v []byte, first int) error {
	if len(v) == 0 {
		return nil
	}
	v, err := b.fit(c, v)
	if err != nil || len(v) == 0 {
		return err
	}
	return c.repeat(v, first, b.rows)
}

// loses tells whether something has no column in the specification.
func (s *shared) loses() bool {
	return len(s.name)+len(s.version)+len(s.entityRefs)+len(s.attrs)+len(s.unknown) > 0 || s.droppedAttrs != 0
}

// element is the name of a part of a message in errors.
func element(name string, n int) string { return name + " " + strconv.Itoa(n) }
