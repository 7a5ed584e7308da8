package otlp

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/blockpack/internal/wire"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// AppendTraces appends an encoded TracesData of rows of a batch of spans, all if rows is nil. Spans are grouped by
// resource and scope, in the order in which these appear first. Columns are those that [Builder.AddBatch] accepts.
func AppendTraces(dst []byte, batch arrow.RecordBatch, rows []int) ([]byte, error) {
	e, err := NewEncoder(batch)
	if err != nil {
		return dst, err
	}
	return e.Append(dst, rows)
}

// NewEncoder prepares the columns of a batch for several calls of [Encoder.Append]. The encoder does not keep the batch.
func NewEncoder(batch arrow.RecordBatch) (*Encoder, error) {
	columns, err := columnsOf(batch)
	if err != nil {
		return nil, err
	}
	return newEncoder(columns, int(batch.NumRows())), nil
}

// Append appends an encoded TracesData of some rows, all if rows is nil. After an error dst is as it was.
func (e *Encoder) Append(dst []byte, rows []int) ([]byte, error) {
	if rows == nil {
		rows = make([]int, e.rows)
		for i := range rows {
			rows[i] = i
		}
	}
	start := len(dst)
	e.err = nil
	for _, r := range e.group(rows) {
		if dst = e.resourceSpans(dst, r); e.err != nil {
			return dst[:start], e.err
		}
	}
	return dst, nil
}

// Encoder makes messages of columns.
type Encoder struct {
	rows   int
	fields map[string]*part
	shared [3][]*part // all columns of resources and scopes
	attrs  rowLists   // attributes of spans
	err    error      // the first one: what is appended after it is wrong
}

// part is a column as a field of a message.
type part struct {
	*column.Column
	key   string   // of an attribute; empty for other fields, and for an attribute with an empty key
	attr  bool     // an attribute
	value []int32  // for each row the index of its value, -1 for null
	codes []uint32 // for each value a number, the same for equal values
}

func newEncoder(columns []*column.Column, n int) *Encoder {
	e := &Encoder{rows: n, fields: map[string]*part{}}
	var attrs []*part
	for _, c := range columns {
		scope, key, attr := scopeOf(c.Name)
		p := &part{Column: c, key: key, attr: attr}
		if attr && scope == ofSpan {
			attrs = append(attrs, p)
			continue
		}
		p.value = p.ByRow()
		e.shared[scope] = append(e.shared[scope], p)
		if !attr {
			e.fields[c.Name] = p
		}
	}
	e.attrs = newRowLists(attrs, n)
	return e
}

// scopeOf is the scope of a column, and the key if it is of an attribute.
func scopeOf(name string) (scope int, key string, attr bool) {
	_, field := spans.Intrinsic(name)
	for scope, prefix := range prefixes {
		if field && strings.HasPrefix(name, prefix[:len(prefix)-1]+":") {
			return scope, "", false
		}
		if key, ok := strings.CutPrefix(name, prefix); ok && !field {
			return scope, key, true
		}
	}
	return ofSpan, "", false // of a trace
}

// rowLists are the attributes of each row, so that no row looks at all columns.
type rowLists struct {
	items []item
	ends  []int
}

// item is a value of a column.
type item struct {
	*part
	k int
}

func newRowLists(attrs []*part, n int) rowLists {
	next := make([]int, n+1) // first numbers of items, then positions
	for _, p := range attrs {
		for row := range p.Each() {
			next[row+1]++
		}
	}
	for i := range n {
		next[i+1] += next[i]
	}
	l := rowLists{items: make([]item, next[n]), ends: slices.Clone(next[1:])}
	for _, p := range attrs {
		for row, k := range p.Each() {
			l.items[next[row]] = item{p, k}
			next[row]++
		}
	}
	return l
}

// of is the attributes of a row.
func (l *rowLists) of(row int) []item {
	if row == 0 {
		return l.items[:l.ends[0]]
	}
	return l.items[l.ends[row-1]:l.ends[row]]
}

// group are rows of one resource or scope.
type group struct {
	rows   []int
	scopes []*group // of a resource
}

// group groups rows by resource and scope.
func (e *Encoder) group(rows []int) []*group {
	resources := e.split(rows, ofResource)
	for _, r := range resources {
		r.scopes = e.split(r.rows, ofScope)
	}
	return resources
}

// split groups rows by the values of all columns of a resource or scope.
func (e *Encoder) split(rows []int, scope int) []*group {
	parts := e.shared[scope]
	for _, p := range parts {
		p.number()
	}
	var out []*group
	found := map[string]*group{}
	key := make([]byte, 4*len(parts))
	var last *group
	var lastKey []byte
	for _, row := range rows {
		for i, p := range parts {
			code := uint32(math.MaxUint32)
			if k := p.value[row]; k >= 0 {
				code = p.codes[k]
			}
			binary.LittleEndian.PutUint32(key[4*i:], code)
		}
		if last == nil || string(key) != string(lastKey) {
			if last = found[string(key)]; last == nil {
				last = &group{}
				found[string(key)] = last
				out = append(out, last)
			}
			lastKey = append(lastKey[:0], key...)
		}
		last.rows = append(last.rows, row)
	}
	return out
}

// number gives equal values the same code.
func (p *part) number() {
	if p.codes != nil {
		return
	}
	p.codes = make([]uint32, p.Values.Len())
	numbers, texts := map[uint64]uint32{}, map[string]uint32{}
	for k := range p.codes {
		var code uint32
		var ok bool
		if p.Type.Textual() {
			v := p.Values.Bytes(k)
			if code, ok = texts[string(v)]; !ok {
				code = uint32(len(texts))
				texts[string(v)] = code
			}
		} else {
			v := p.Values.Numbers[k]
			if code, ok = numbers[v]; !ok {
				code = uint32(len(numbers))
				numbers[v] = code
			}
		}
		p.codes[k] = code
	}
}

// text is the value of a field in a row, nil if it has none.
func (e *Encoder) text(name string, row int) []byte {
	p := e.fields[name]
	if p == nil || p.value[row] < 0 {
		return nil
	}
	return p.Values.Bytes(int(p.value[row]))
}

// number is the value of a field in a row, 0 if it has none.
func (e *Encoder) number(name string, row int) uint64 {
	p := e.fields[name]
	if p == nil || p.value[row] < 0 {
		return 0
	}
	return p.Values.Numbers[p.value[row]]
}

func (e *Encoder) resourceSpans(dst []byte, g *group) []byte {
	row := g.rows[0]
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	start := len(dst)
	dst = e.resource(dst, row)
	for _, s := range g.scopes {
		dst = e.scopeSpans(dst, s)
	}
	dst = wire.AppendText(dst, 3, e.text(spans.ResourceSchemaURL, row))
	dst = e.raw(dst, spans.ResourceUnknown, row, wire.ResourceSpans)
	return wire.InsertLen(dst, start)
}

func (e *Encoder) resource(dst []byte, row int) []byte {
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	start := len(dst)
	dst = e.sharedAttributes(dst, 1, ofResource, row)
	dst = e.list(dst, spans.ResourceAttrs, row, 1, wire.KeyValueMessage)
	dst = wire.AppendVarint(dst, 2, e.number(spans.ResourceDroppedAttrs, row))
	dst = e.list(dst, spans.ResourceEntityRefs, row, 3, wire.EntityRef)
	return endMessage(dst, start)
}

// endMessage puts the length in front of a message, or removes its tag of one byte if it is empty.
func endMessage(dst []byte, start int) []byte {
	if len(dst) == start {
		return dst[:start-1]
	}
	return wire.InsertLen(dst, start)
}

func (e *Encoder) scopeSpans(dst []byte, g *group) []byte {
	row := g.rows[0]
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	start := len(dst)
	dst = e.scope(dst, row)
	for _, row := range g.rows {
		if e.err != nil {
			return dst
		}
		dst = protowire.AppendTag(dst, 2, protowire.BytesType)
		at := len(dst)
		if dst = e.span(dst, row); e.err != nil {
			e.err = fmt.Errorf("row %d: %w", row, e.err)
		}
		dst = wire.InsertLen(dst, at)
	}
	dst = wire.AppendText(dst, 3, e.text(spans.ScopeSchemaURL, row))
	dst = e.raw(dst, spans.ScopeUnknown, row, wire.ScopeSpans)
	return wire.InsertLen(dst, start)
}

func (e *Encoder) scope(dst []byte, row int) []byte {
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	start := len(dst)
	dst = wire.AppendText(dst, 1, e.text(spans.ScopeName, row))
	dst = wire.AppendText(dst, 2, e.text(spans.ScopeVersion, row))
	dst = e.sharedAttributes(dst, 3, ofScope, row)
	dst = e.list(dst, spans.ScopeAttrs, row, 3, wire.KeyValueMessage)
	dst = wire.AppendVarint(dst, 4, e.number(spans.ScopeDroppedAttrs, row))
	return endMessage(dst, start)
}

// span appends the fields of a Span.
func (e *Encoder) span(dst []byte, row int) []byte {
	dst = wire.AppendText(dst, 1, e.text(spans.TraceID, row))
	dst = wire.AppendText(dst, 2, e.text(spans.SpanID, row))
	dst = wire.AppendText(dst, 3, e.text(spans.TraceState, row))
	dst = wire.AppendText(dst, 4, e.text(spans.ParentID, row))
	dst = wire.AppendText(dst, 5, e.text(spans.Name, row))
	dst = wire.AppendVarint(dst, 6, e.number(spans.Kind, row))
	dst = wire.AppendFixed64(dst, 7, e.number(spans.Start, row))
	dst = wire.AppendFixed64(dst, 8, e.number(spans.End, row))
	for _, a := range e.attrs.of(row) {
		dst = e.attribute(dst, 9, a.part, a.k)
	}
	dst = e.list(dst, spans.Attrs, row, 9, wire.KeyValueMessage)
	dst = wire.AppendVarint(dst, 10, e.number(spans.DroppedAttrs, row))
	dst = e.list(dst, spans.Events, row, 11, wire.Event)
	dst = wire.AppendVarint(dst, 12, e.number(spans.DroppedEvents, row))
	dst = e.list(dst, spans.Links, row, 13, wire.Link)
	dst = wire.AppendVarint(dst, 14, e.number(spans.DroppedLinks, row))
	dst = e.status(dst, row)
	if v := e.number(spans.Flags, row); v != 0 {
		dst = binary.LittleEndian.AppendUint32(protowire.AppendTag(dst, 16, protowire.Fixed32Type), uint32(v))
	}
	return e.raw(dst, spans.Unknown, row, wire.Span)
}

// status appends the Status of a span that has a code, which may be 0, or a message.
func (e *Encoder) status(dst []byte, row int) []byte {
	text := e.text(spans.StatusMessage, row)
	if p := e.fields[spans.Status]; (p == nil || p.value[row] < 0) && len(text) == 0 {
		return dst
	}
	dst = protowire.AppendTag(dst, 15, protowire.BytesType)
	start := len(dst)
	dst = wire.AppendText(dst, 2, text)
	dst = wire.AppendVarint(dst, 3, e.number(spans.Status, row))
	return wire.InsertLen(dst, start)
}

// sharedAttributes appends the attributes of a resource or scope.
func (e *Encoder) sharedAttributes(dst []byte, num protowire.Number, scope, row int) []byte {
	for _, p := range e.shared[scope] {
		if k := p.value[row]; p.attr && k >= 0 {
			dst = e.attribute(dst, num, p, int(k))
		}
	}
	return dst
}

// attribute appends a value of a column as a KeyValue.
func (e *Encoder) attribute(dst []byte, num protowire.Number, p *part, k int) []byte {
	dst = protowire.AppendTag(dst, num, protowire.BytesType)
	start := len(dst)
	dst = wire.AppendText(dst, 1, p.key)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	at := len(dst)
	switch p.Type {
	case column.String:
		dst = protowire.AppendBytes(protowire.AppendTag(dst, 1, protowire.BytesType), p.Values.Bytes(k))
	case column.Bytes:
		dst = protowire.AppendBytes(protowire.AppendTag(dst, 7, protowire.BytesType), p.Values.Bytes(k))
	case column.Bool:
		dst = protowire.AppendVarint(protowire.AppendTag(dst, 2, protowire.VarintType), p.Values.Numbers[k])
	case column.Float64:
		dst = binary.LittleEndian.AppendUint64(protowire.AppendTag(dst, 4, protowire.Fixed64Type), p.Values.Numbers[k])
	default:
		if p.Type == column.Uint64 && p.Values.Numbers[k] > math.MaxInt64 {
			e.fail(fault.InColumn(fault.Corruptf("%d is no attribute of OTLP, whose integers are int64", p.Values.Numbers[k]), p.Name))
		}
		dst = protowire.AppendVarint(protowire.AppendTag(dst, 3, protowire.VarintType), p.Values.Numbers[k])
	}
	return wire.InsertLen(wire.InsertLen(dst, at), start)
}

func (e *Encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// list appends messages that a column keeps encoded: fields of one number.
func (e *Encoder) list(dst []byte, name string, row int, num protowire.Number, m *wire.Message) []byte {
	v := e.text(name, row)
	r := wire.NewReader(v, 0)
	var f wire.Field
	for r.Err == nil && r.Next(&f) {
		if f.Num != num {
			r.Err = fault.Corruptf("has field %d, not only field %d", f.Num, num)
		} else if r.Is(&f, protowire.BytesType) {
			r.Err = m.Check(f.Data, f.At, 4)
		}
	}
	e.fail(fault.InColumn(r.Err, name))
	return append(dst, v...)
}

// raw appends fields that a column keeps encoded, of a message.
func (e *Encoder) raw(dst []byte, name string, row int, m *wire.Message) []byte {
	v := e.text(name, row)
	e.fail(fault.InColumn(m.Check(v, 0, 0), name))
	return append(dst, v...)
}
