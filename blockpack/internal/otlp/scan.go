package otlp

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/spans"
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

// value is that of a field: what the last one has or, of fields that are kept encoded, all of them.
type value struct {
	data []byte
	bits uint64
	set  bool // a number that may be 0
}

func (v *value) empty() bool { return len(v.data) == 0 && v.bits == 0 && !v.set }

// attributeValue is the value of an attribute: a number or a code.
type attributeValue struct {
	c    *columnBuilder
	bits uint64
}

// resourceSpans scans a ResourceSpans at an offset:
//
//	1 Resource, 2 repeated ScopeSpans, 3 schema_url
func (b *Builder) resourceSpans(msg []byte, base int) error {
	return b.around(resourceSpansMessage, msg, base, "ScopeSpans", b.scopeSpans, &b.stats.EmptyResources)
}

// scopeSpans scans a ScopeSpans at an offset:
//
//	1 InstrumentationScope, 2 repeated Span, 3 schema_url
func (b *Builder) scopeSpans(msg []byte, base int) error {
	return b.around(scopeSpansMessage, msg, base, "Span", b.addSpan, &b.stats.EmptyScopes)
}

// around scans a ResourceSpans or ScopeSpans. Its Resource or InstrumentationScope comes first, wherever it is.
func (b *Builder) around(m *messageType, msg []byte, base int, name string, item func([]byte, int) error, empty *int64) error {
	if err := b.begin(m, msg, base); err != nil {
		return err
	}
	first := b.rows
	r := wire.NewReader(msg, base)
	var f wire.Field
	for n := 0; r.Next(&f); {
		if f.Num != 2 {
			continue
		}
		if err := item(f.Data, f.At); err != nil {
			return fault.In(err, element(name, n), -1)
		}
		n++
	}
	if b.rows == first {
		*empty++
		b.unusedValues = true
		return nil
	}
	return b.add(m.scope, first, b.rows)
}

// addSpan scans a Span at an offset, and adds it as a row.
func (b *Builder) addSpan(msg []byte, base int) error {
	b.size = 0
	if err := b.begin(spanMessage, msg, base); err != nil {
		return err
	}
	b.values[durationColumn].bits = duration(b.values[startColumn].bits, b.values[endColumn].bits)
	if err := b.add(ofSpan, b.rows, b.rows+1); err != nil {
		return err
	}
	b.rows++
	b.sizes = append(b.sizes, uint32(b.size)) // as addSizes has it
	b.stats.Spans++
	return nil
}

// duration is 0 for a span that ends before it starts.
func duration(start, end uint64) uint64 {
	if end < start {
		return 0
	}
	return end - start
}

// begin takes the values of a message and of the one in it, in place of those that its scope had.
func (b *Builder) begin(m *messageType, msg []byte, base int) error {
	for _, i := range ofScopes[m.scope] {
		v := &b.values[i]
		v.data, v.bits, v.set = v.data[:0], 0, false
	}
	b.taken[m.scope], b.inner = b.taken[m.scope][:0], b.inner[:0]
	b.list++
	unknown := &b.values[m.unknown].data
	if err := b.scan(m, msg, base, unknown); err != nil {
		return err
	}
	if len(b.inner) > 0 {
		*unknown = protowire.AppendBytes(protowire.AppendTag(*unknown, m.number, protowire.BytesType), b.inner)
	}
	return nil
}

// libraries is the number of instrumentation_library_spans, of OTLP before version 0.19.
const libraries = 1000

// scan takes the fields of a message at an offset. Those that OTLP does not have go to unknown.
func (b *Builder) scan(m *messageType, msg []byte, base int, unknown *[]byte) error {
	r := wire.NewReader(msg, base)
	var f wire.Field
	prev := &b.attrs[m.scope].head
	for r.Next(&f) {
		d := m.Field(f.Num)
		if d == nil {
			if f.Num == libraries && m.scope != ofSpan && m.inner != nil {
				return fault.Unsupportedf("instrumentation_library_spans, of OTLP before version 0.19")
			}
			*unknown = append(*unknown, f.Raw...)
			continue
		}
		if !r.Is(&f, d.Kind.Type()) {
			break
		}
		v := &b.values[m.columns[f.Num]]
		switch d.Kind {
		case wire.Text, wire.ID:
			v.data = f.Data
		case wire.SpanKind, wire.StatusCode:
			v.bits = uint64(int64(int32(f.Bits)))
		case wire.Count:
			v.bits = uint64(uint32(f.Bits))
		case wire.Group:
			prev, r.Err = b.group(m, d, &f, v, prev)
		default:
			v.bits = f.Bits
		}
		if r.Err != nil {
			break
		}
	}
	return r.Err
}

// group takes a message in another one. The next level is not looked at.
func (b *Builder) group(m *messageType, d *wire.Definition, f *wire.Field, v *value, prev *attribute) (*attribute, error) {
	switch {
	case d.Of == wire.KeyValueMessage:
		return b.attribute(m.scope, prev, f, v)
	case m.inner != nil && f.Num == m.number:
		v.set = true
		return prev, fault.In(b.scan(m.inner, f.Data, f.At, &b.inner), d.Of.Name, -1)
	case m.columns[f.Num] == none:
		return prev, nil
	}
	err := d.Of.Check(f.Data, f.At, depths[m.scope])
	v.data = append(v.data, f.Raw...)
	return prev, fault.In(err, d.Of.Name, -1)
}

// attribute takes an attribute: one of a span is added to its row. Those that are not plain, or whose key their list had already, go to others.
func (b *Builder) attribute(scope int, prev *attribute, f *wire.Field, others *value) (*attribute, error) {
	var kv wire.KeyValue
	if err := kv.Parse(f.Data, f.At, depths[scope]); err != nil {
		return prev, fault.In(err, "attribute", -1)
	}
	if len(prefixes[scope])+len(kv.Key) > b.o.MaxNameLen {
		others.data = append(others.data, f.Raw...) // with its whole key
		return prev, nil
	}
	k := b.attrs[scope].after(prev, kv.Key)
	again := k.list == b.list
	k.list = b.list
	if again || !kv.Plain {
		others.data = append(others.data, f.Raw...)
		return k, nil
	}
	c, err := b.columnOf(scope, k, kv.Type)
	if err != nil {
		return k, err
	}
	if c.textual() {
		if err := b.check(c, kv.Data); err != nil {
			return k, err
		}
		if scope == ofSpan {
			return k, c.addBytes(kv.Data, b.rows, b.rows+1)
		}
		code, err := c.intern(kv.Data)
		if err != nil {
			return k, err
		}
		kv.Bits = uint64(code)
	}
	if scope == ofSpan {
		return k, c.addNumber(kv.Bits, b.rows, b.rows+1)
	}
	b.taken[scope] = append(b.taken[scope], attributeValue{c, kv.Bits})
	return k, nil
}

// add gives the values of a scope to rows from first up to end: those of a span to one row.
func (b *Builder) add(scope, first, end int) (err error) {
	for _, a := range b.taken[scope] {
		if err := a.c.addNumber(a.bits, first, end); err != nil {
			return err
		}
	}
	for _, i := range ofScopes[scope] {
		v, c := &b.values[i], b.fields[i]
		if v.empty() && !c.always {
			continue
		}
		if c.textual() {
			err = b.addContent(c, v.data, first, end)
		} else {
			err = c.addNumber(v.bits, first, end)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addContent adds an id, a string or encoded fields to rows.
func (b *Builder) addContent(c *columnBuilder, v []byte, first, end int) error {
	if c.idLen > 0 {
		return b.addID(c, v, c.idLen, first)
	}
	if err := b.check(c, v); err != nil {
		return err
	}
	return c.addBytes(v, first, end)
}

var zeros [spans.TraceIDLen]byte

// addID adds an id of n bytes to a row. That of a parent may be empty.
func (b *Builder) addID(c *columnBuilder, id []byte, n, row int) error {
	switch {
	case len(id) == n:
		return c.addBytes(id, row, row+1)
	case len(id) == 0 && !c.always:
		return nil
	case !b.o.PadIDs || len(id) == 0 || len(id) > n:
		return fault.InColumn(fault.Corruptf("id of %d bytes, not %d", len(id), n), c.name)
	}
	b.stats.Padded++
	var padded [spans.TraceIDLen]byte
	return c.addBytes(append(append(padded[:0], zeros[:n-len(id)]...), id...), row, row+1)
}

// element is the name of a part of a message in errors.
func element(name string, n int) string { return name + " " + strconv.Itoa(n) }
