package summary

import (
	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Parse decodes a section of the file that begins at an offset.
func Parse(data []byte, offset int64) (*Section, error) {
	s := &Section{}
	err := parse(data, offset, []wanted{
		{spansColumn, column.Uint64, &s.spans}, {startColumn, column.Uint64, &s.start}, {durationColumn, column.Uint64, &s.duration},
		{nameColumn, column.String, &s.name}, {serviceColumn, column.String, &s.service},
	})
	return s, err
}

// wanted is a column that a section must have.
type wanted struct {
	name string
	t    column.Type
	to   *column.Column
}

func parse(data []byte, offset int64, columns []wanted) error {
	head, _, err := layout.ParseBlockHead(data, offset, int64(len(data)))
	if err == nil && head == nil {
		err = fault.Corruptf("the section ends in its head")
	}
	if err != nil {
		return err
	}
	var d column.Decoder
	for _, want := range columns {
		i := head.Column(want.name, want.t)
		if i < 0 {
			return fault.Corruptf("column %q is missing", want.name)
		}
		c := &head.Columns[i]
		got, err := d.Decode(data[c.Offset:c.Offset+c.Length], c.Name, want.t, head.Spans, column.DecodeOptions{UUID: column.UUIDPlain})
		if err == nil && got.PresentCount() < got.Rows {
			err = fault.InColumn(fault.Corruptf("rows without a value"), c.Name)
		}
		if err != nil {
			return fault.Shift(err, offset+c.Offset)
		}
		*want.to = *got
	}
	return nil
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
	number := func(c *column.Column) int64 { return int64(numberAt(c, i)) }
	text := func(c *column.Column) string { return string(c.Values.Bytes(place(c, i))) }
	return Trace{int(number(&s.spans)), number(&s.start), number(&s.duration), text(&s.name), text(&s.service)}
}

func place(c *column.Column, row int) int {
	if c.Codes != nil {
		return int(c.Codes[row])
	}
	return row
}

func numberAt(c *column.Column, row int) uint64 { return c.Values.Numbers[place(c, row)] }
