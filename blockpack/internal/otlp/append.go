package otlp

import (
	"cmp"
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
	fields []*part    // as in spans.Intrinsics, nil for columns that are missing; and one that always is
	shared [3][]*part // all columns of resources and scopes
	attrs  rowLists   // attributes of spans
	err    error      // the first one: what is appended after it is wrong
}

// part is a column as a field of a message.
type part struct {
	*column.Column
	key   string  // of an attribute; empty for other fields, and for an attribute with an empty key
	attr  bool    // an attribute
	value []int32 // for each row the index of its value, -1 for null
}

func newEncoder(columns []*column.Column, n int) *Encoder {
	e := &Encoder{rows: n, fields: make([]*part, len(spans.Intrinsics)+1)}
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
		if i, ok := spans.Index(c.Name); ok {
			e.fields[i] = p
		}
	}
	e.attrs = newRowLists(attrs, n)
	return e
}

// scopeOf is the scope of a column, and the key if it is of an attribute.
func scopeOf(name string) (scope int, key string, attr bool) {
	_, field := spans.Index(name)
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
	items  []item
	starts []int // of rows in items, and the end
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
	l := rowLists{items: make([]item, next[n]), starts: slices.Clone(next)}
	for _, p := range attrs {
		for row, k := range p.Each() {
			l.items[next[row]] = item{p, k}
			next[row]++
		}
	}
	return l
}

// of is the attributes of a row.
func (l *rowLists) of(row int) []item { return l.items[l.starts[row]:l.starts[row+1]] }

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
	var out []*group
	found := map[string]*group{}
	var last *group
	var key, lastKey []byte
	for _, row := range rows {
		key = key[:0]
		for _, p := range e.shared[scope] {
			key = p.appendKey(key, row)
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

// appendKey appends the value of a row, or null: equal bytes to equal values.
func (p *part) appendKey(key []byte, row int) []byte {
	k := int(p.value[row])
	switch {
	case k < 0:
		return append(key, 0)
	case p.Type.Textual():
		v := p.Values.Bytes(k)
		return append(binary.AppendUvarint(key, uint64(len(v))+1), v...)
	}
	return binary.LittleEndian.AppendUint64(append(key, 1), p.Values.Numbers[k])
}

// value is the value of a field in a row. ok is false if it has none.
func (e *Encoder) value(i, row int) (data []byte, bits uint64, ok bool) {
	p := e.fields[i]
	if p == nil || p.value[row] < 0 {
		return nil, 0, false
	}
	if k := int(p.value[row]); p.Type.Textual() {
		return p.Values.Bytes(k), 0, true
	} else {
		return nil, p.Values.Numbers[k], true
	}
}

func (e *Encoder) resourceSpans(dst []byte, g *group) []byte {
	return appendMessage(dst, 1, true, func(dst []byte) []byte {
		return e.fieldsOf(dst, resourceSpansMessage, g.rows[0], func(dst []byte) []byte {
			for _, s := range g.scopes {
				dst = e.scopeSpans(dst, s)
			}
			return dst
		})
	})
}

func (e *Encoder) scopeSpans(dst []byte, g *group) []byte {
	return appendMessage(dst, 2, true, func(dst []byte) []byte {
		return e.fieldsOf(dst, scopeSpansMessage, g.rows[0], func(dst []byte) []byte {
			for _, row := range g.rows {
				if e.err != nil {
					return dst
				}
				dst = appendMessage(dst, 2, true, func(dst []byte) []byte { return e.fieldsOf(dst, spanMessage, row, nil) })
				if e.err != nil {
					e.err = fmt.Errorf("row %d: %w", row, e.err)
				}
			}
			return dst
		})
	})
}

// appendMessage appends a message as a field, an empty one only if empty is set.
func appendMessage(dst []byte, num protowire.Number, empty bool, body func(dst []byte) []byte) []byte {
	before := len(dst)
	dst = protowire.AppendTag(dst, num, protowire.BytesType)
	start := len(dst)
	if dst = body(dst); len(dst) == start && !empty {
		return dst[:before]
	}
	return wire.InsertLen(dst, start)
}

// fieldsOf appends the fields of a message that a row has; items those of the next level.
func (e *Encoder) fieldsOf(dst []byte, m *messageType, row int, items func(dst []byte) []byte) []byte {
	for i, column := range m.columns {
		num := protowire.Number(i)
		d := m.Field(num)
		if d == nil {
			continue
		}
		data, bits, ok := e.value(column, row)
		switch {
		case d.Kind != wire.Group && d.Kind.Type() == protowire.BytesType:
			dst = wire.AppendText(dst, num, data)
		case d.Kind != wire.Group:
			dst = wire.AppendNumber(dst, num, d.Kind, bits)
		case m.inner != nil && num == m.number:
			dst = appendMessage(dst, num, ok, func(dst []byte) []byte { return e.fieldsOf(dst, m.inner, row, nil) })
		case column == none:
			dst = items(dst)
		default:
			if d.Of == wire.KeyValueMessage {
				dst = e.attributes(dst, num, m.scope, row)
			}
			dst = e.list(dst, spans.Intrinsics[column].Name, data, num, d.Of)
		}
	}
	if m.unknown == none {
		return dst
	}
	v, _, _ := e.value(m.unknown, row)
	e.fail(fault.InColumn(m.Check(v, 0, 0), spans.Intrinsics[m.unknown].Name))
	return append(dst, v...)
}

// attributes appends the attributes that have columns.
func (e *Encoder) attributes(dst []byte, num protowire.Number, scope, row int) []byte {
	if scope == ofSpan {
		for _, a := range e.attrs.of(row) {
			dst = e.attribute(dst, num, a.part, a.k)
		}
		return dst
	}
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
	e.err = cmp.Or(e.err, err)
}

// list appends messages that a column keeps encoded: fields of one number.
func (e *Encoder) list(dst []byte, name string, v []byte, num protowire.Number, m *wire.Message) []byte {
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
