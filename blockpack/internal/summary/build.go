// Package summary is what a Blockpack file says of whole traces, so that a search reads only the spans that match: collected of blocks, encoded, and
// looked up.
package summary

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/column/encode"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Builder collects what is said of traces, which have numbers. Nothing is said of a trace that only a look at all its spans explains: one with two
// spans of one id and kind, whose root span has no service, or with times that are no int64.
type Builder struct {
	traces []trace
	spans  []uint64 // trace and hash of id and kind of each span: 32 bits each
	texts  []string
	codes  map[string]uint32
}

type trace struct {
	first, last   uint64 // start and end, of the spans that have a start
	rootStart     uint64
	rootID        [8]byte
	name, service uint32 // of the root span: in texts
	spans         uint32
	root, unclear bool
}

// Block adds the spans of a block, of which numbers are those of their traces. column finds a column of the block; nil if there is none.
func (b *Builder) Block(numbers []uint32, find func(name string, t column.Type) *column.Column) {
	if b.codes == nil {
		b.texts, b.codes = []string{""}, map[string]uint32{"": 0}
	}
	start, end := valuesOf(find(spans.Start, column.Uint64)), valuesOf(find(spans.End, column.Uint64))
	kind, id := valuesOf(find(spans.Kind, column.Int64)), valuesOf(find(spans.SpanID, column.Bytes))
	parent, name, service := valuesOf(find(spans.ParentID, column.Bytes)), valuesOf(find(spans.Name, column.String)), valuesOf(find(spans.ResourcePrefix+"service.name", column.String))
	for row, n := range numbers {
		for int(n) >= len(b.traces) {
			b.traces = append(b.traces, trace{})
		}
		t := &b.traces[n]
		t.spans++
		from, _ := start.number(row)
		to, ended := end.number(row)
		t.unclear = t.unclear || !ended || from > math.MaxInt64 || to > math.MaxInt64
		if from > 0 && t.first == 0 {
			t.first, t.last = from, to
		} else if from > 0 {
			t.first, t.last = min(t.first, from), max(t.last, to)
		}
		own := id.bytes(row)
		if len(own) > 0 {
			of, _ := kind.number(row)
			b.spans = append(b.spans, uint64(n)<<32|xxh3.HashSeed(own, of)>>32)
		}
		if p := parent.bytes(row); len(p) == 0 || len(p) == 8 && binary.LittleEndian.Uint64(p) == 0 {
			b.root(t, from, own, name.bytes(row), service, row)
		}
	}
}

// root makes a span the root of a trace, if it is the first by start and id.
func (b *Builder) root(t *trace, start uint64, id, name []byte, service values, row int) {
	if t.root {
		order := bytes.Compare(id, t.rootID[:])
		if t.unclear = t.unclear || start == t.rootStart && order == 0; start > t.rootStart || start == t.rootStart && order > 0 {
			return
		}
	}
	text, known := service.bytes(row), service.at(row) >= 0
	t.root, t.rootStart, t.name, t.service = true, start, b.code(name), b.code(text)
	t.unclear = t.unclear || !known || len(id) != len(t.rootID) || !utf8.Valid(name) || !utf8.Valid(text)
	copy(t.rootID[:], id)
}

func (b *Builder) code(text []byte) uint32 {
	code, ok := b.codes[string(text)]
	if !ok {
		code = uint32(len(b.texts))
		b.texts = append(b.texts, string(text))
		b.codes[b.texts[code]] = code
	}
	return code
}

// values are those of a column by row.
type values struct {
	c     *column.Column
	place []int32 // nil: that of a row is its number
}

func valuesOf(c *column.Column) values {
	if c == nil || c.Present == nil && c.Codes == nil {
		return values{c: c}
	}
	return values{c, c.ByRow()}
}

// at is the index of the value of a row; -1 for null.
func (v values) at(row int) int {
	switch {
	case v.c == nil:
		return -1
	case v.place == nil:
		return row
	}
	return int(v.place[row])
}

func (v values) number(row int) (n uint64, ok bool) {
	if k := v.at(row); k >= 0 {
		return v.c.Values.Numbers[k], true
	}
	return 0, false
}

func (v values) bytes(row int) []byte {
	if k := v.at(row); k >= 0 {
		return v.c.Values.Bytes(k)
	}
	return nil
}

// Columns of a section.
const (
	spansColumn    = "trace:spans" // 0: nothing is known of the trace
	startColumn    = "trace:start"
	durationColumn = "trace:duration"
	nameColumn     = "trace:root_name"
	serviceColumn  = "trace:root_service"
)

// PerSection is the number of traces in all sections but the last.
const PerSection = layout.MaxIndexed

// Sections are the bytes of the sections with traces in an order, that of their ids. A section is a block with a row for each trace:
//
//	┃ block head without stats ┃ trace:duration ┃ trace:root_name ┃ trace:root_service ┃ trace:spans ┃ trace:start ┃
func (b *Builder) Sections(order []uint32) (sections [][]byte, err error) {
	b.markDoubles()
	var e encode.Encoder
	for part := range slices.Chunk(order, PerSection) {
		var head, data []byte
		var meta []layout.BlockColumn
		for _, c := range b.columns(part) {
			before := len(data)
			if data, _, err = e.Append(data, c); err != nil {
				return nil, err
			}
			meta = append(meta, layout.BlockColumn{Name: c.Name, Type: c.Type, Length: int64(len(data) - before)})
		}
		if head, err = layout.AppendBlockHead(nil, len(part), meta, make([][]byte, len(meta))); err != nil {
			return nil, err
		}
		sections = append(sections, append(head, data...))
	}
	return sections, nil
}

// markDoubles makes traces unclear that have two spans with one hash.
func (b *Builder) markDoubles() {
	slices.Sort(b.spans)
	for i := 1; i < len(b.spans); i++ {
		if b.spans[i] == b.spans[i-1] {
			b.traces[b.spans[i]>>32].unclear = true
		}
	}
}

func (b *Builder) columns(order []uint32) []*column.Column {
	numbers := func(name string, of func(t *trace) uint64) *column.Column {
		c := &column.Column{Name: name, Type: column.Uint64, Rows: len(order)}
		for _, n := range order {
			v := uint64(0)
			if t := &b.traces[n]; !t.unclear {
				v = of(t)
			}
			c.Values.Numbers = append(c.Values.Numbers, v)
		}
		return c
	}
	texts := func(name string, of func(t *trace) uint32) *column.Column {
		c := &column.Column{Name: name, Type: column.String, Rows: len(order), Values: column.Values{Offsets: []uint32{0}}}
		for _, n := range order {
			text := ""
			if t := &b.traces[n]; !t.unclear {
				text = b.texts[of(t)]
			}
			c.Values.Data = append(c.Values.Data, text...)
			c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
		}
		return c
	}
	return []*column.Column{
		numbers(durationColumn, func(t *trace) uint64 { return t.last - t.first }),
		texts(nameColumn, func(t *trace) uint32 { return t.name }),
		texts(serviceColumn, func(t *trace) uint32 { return t.service }),
		numbers(spansColumn, func(t *trace) uint64 { return uint64(t.spans) }),
		numbers(startColumn, func(t *trace) uint64 { return t.first }),
	}
}

// Parse decodes a section of the file that begins at an offset.
func Parse(data []byte, offset int64) (*Section, error) {
	head, _, err := layout.ParseBlockHead(data, offset, int64(len(data)))
	if err == nil && head == nil {
		err = fault.Corruptf("the section ends in its head")
	}
	if err != nil {
		return nil, fault.In(err, "summary of traces", offset)
	}
	s := &Section{}
	var d column.Decoder
	for _, want := range []struct {
		name string
		t    column.Type
		to   *column.Column
	}{
		{spansColumn, column.Uint64, &s.spans}, {startColumn, column.Uint64, &s.start}, {durationColumn, column.Uint64, &s.duration},
		{nameColumn, column.String, &s.name}, {serviceColumn, column.String, &s.service},
	} {
		i := head.Column(want.name, want.t)
		if i < 0 {
			return nil, fault.In(fault.Corruptf("column %q is missing", want.name), "summary of traces", offset)
		}
		c := &head.Columns[i]
		got, err := d.Decode(data[c.Offset:c.Offset+c.Length], c.Name, want.t, head.Spans, column.DecodeOptions{UUID: column.UUIDPlain})
		if err == nil && got.PresentCount() < got.Rows {
			err = fault.InColumn(fault.Corruptf("traces without a value"), c.Name)
		}
		if err != nil {
			return nil, fault.In(fault.Shift(err, offset+c.Offset), "summary of traces", offset)
		}
		*want.to = *got
	}
	return s, nil
}

// Section is what is said of some traces.
type Section struct{ spans, start, duration, name, service column.Column }

// Len is the number of traces.
func (s *Section) Len() int { return s.spans.Rows }

// Size is about the memory of the section in bytes.
func (s *Section) Size() int64 {
	return s.spans.Size() + s.start.Size() + s.duration.Size() + s.name.Size() + s.service.Size()
}

// Trace is what is said of a trace.
type Trace struct {
	Spans                 int // 0: nothing is known of the trace
	Start, Duration       int64
	RootName, RootService string // "" without a root span
}

// Trace is what is said of trace i of the section.
func (s *Section) Trace(i int) Trace {
	number := func(c *column.Column) int64 { return int64(c.Values.Numbers[place(c, i)]) }
	text := func(c *column.Column) string { return string(c.Values.Bytes(place(c, i))) }
	return Trace{int(number(&s.spans)), number(&s.start), number(&s.duration), text(&s.name), text(&s.service)}
}

func place(c *column.Column, row int) int {
	if c.Codes != nil {
		return int(c.Codes[row])
	}
	return row
}
