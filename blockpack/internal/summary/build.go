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
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
)

// Builder collects what is said of traces, which have numbers. Nothing is said of a trace that only a look at all its spans explains: one with two
// spans of one id and kind, whose root span has no service, or with times that are no int64.
type Builder struct {
	traces []trace
	spans  []uint64 // trace and hash of id and kind of each span with an id: 32 bits each
	links  []link   // of all spans, in the order of rows; nil if they are too many
	rows   int64
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

// Block adds the spans of a block, of which numbers are those of their traces. first is the row of the file with which it begins: blocks may come in any
// order. find finds a column of the block; nil if there is none.
func (b *Builder) Block(first int64, numbers []uint32, find func(name string, t column.Type) *column.Column) {
	if b.codes == nil {
		b.texts, b.codes = []string{""}, map[string]uint32{"": 0}
	}
	start, end := valuesOf(find(spans.Start, column.Uint64)), valuesOf(find(spans.End, column.Uint64))
	kind, id := valuesOf(find(spans.Kind, column.Int64)), valuesOf(find(spans.SpanID, column.Bytes))
	parent, name, service := valuesOf(find(spans.ParentID, column.Bytes)), valuesOf(find(spans.Name, column.String)), valuesOf(find(spans.ResourcePrefix+"service.name", column.String))
	links := b.linksOf(first, len(numbers))
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
		above := parent.bytes(row)
		if links != nil {
			links[row] = linkOf(n, own, above)
		}
		if len(above) == 0 || len(above) == 8 && binary.LittleEndian.Uint64(above) == 0 {
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

// PerSection is the number of traces, or of spans, in all sections of a kind but the last.
const PerSection = layout.MaxIndexed

// Sections are the bytes of the sections, by the pseudo column that lists them: of traces in an order, that of their ids, and of the rows of the file. A
// section is a block with a row for each trace or span:
//
//	┃ block head without stats ┃ trace:duration ┃ trace:root_name ┃ trace:root_service ┃ trace:spans ┃ trace:start ┃
//	┃ block head without stats ┃ tree:above ┃ tree:below ┃ tree:number ┃
func (b *Builder) Sections(order []uint32) (map[string][][]byte, error) {
	b.markDoubles()
	b.traces = append(b.traces, make([]trace, max(len(order)-len(b.traces), 0))...) // traces of an index that no block has
	var e encode.Encoder
	sections := map[string][][]byte{}
	add := func(name string, columns []*column.Column) error {
		var head, data []byte
		var meta []layout.BlockColumn
		for _, c := range columns {
			before, err := len(data), error(nil)
			if data, _, err = e.Append(data, c); err != nil {
				return err
			}
			meta = append(meta, layout.BlockColumn{Name: c.Name, Type: c.Type, Length: int64(len(data) - before)})
		}
		head, err := layout.AppendBlockHead(nil, columns[0].Rows, meta, make([][]byte, len(meta)))
		sections[name] = append(sections[name], append(head, data...))
		return err
	}
	for part := range slices.Chunk(order, PerSection) {
		if err := add(ranges.TracesColumn, b.columns(part)); err != nil {
			return nil, err
		}
	}
	for part := range slices.Chunk(b.places(), PerSection) {
		if err := add(ranges.TreesColumn, treeColumns(part)); err != nil {
			return nil, err
		}
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
		return numbersOf(name, order, func(n uint32) uint64 {
			if t := &b.traces[n]; !t.unclear {
				return of(t)
			}
			return 0
		})
	}
	texts := func(name string, of func(t *trace) uint32) *column.Column {
		c := &column.Column{Name: name, Type: column.String, Rows: len(order), Values: column.Values{Offsets: []uint32{0}}}
		for _, n := range order {
			text := ""
			if t := &b.traces[n]; !t.unclear && t.spans > 0 {
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

// numbersOf is a column with a number for each element of a list.
func numbersOf[T any](name string, list []T, of func(T) uint64) *column.Column {
	c := &column.Column{Name: name, Type: column.Uint64, Rows: len(list), Values: column.Values{Numbers: make([]uint64, len(list))}}
	for i, v := range list {
		c.Values.Numbers[i] = of(v)
	}
	return c
}
