package layout

import (
	"math"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// TraceTable is the table at the end of a block. There are two kinds, which nothing but their content tells apart.
//
// Columns, as specified: each has a value for each trace. The column trace.index of the block has the trace of each
// row.
//
//	┃ trace count u32 ┃ column count u32 ┃ for each column  ┃ name length u16 ┃ name ┃ type u8 ┃ data length u32 ┃ data ┃
//
// Traces, as in files of 2026-02-26: a list of rows for each.
//
//	for each trace  ┃ trace id [16] ┃ row count u16 ┃ rows u16… ┃
type TraceTable struct {
	Traces  []TraceTableRow
	Columns []TraceTableColumn
}

// TraceTableRow are the rows of a trace in a block.
type TraceTableRow struct {
	ID   TraceID
	Rows Rows
}

// TraceTableColumn is a column with a value for each trace, encoded as the columns of blocks are.
type TraceTableColumn struct {
	Name   string
	Type   column.Type
	Data   []byte
	Offset int64 // of Data in the block
}

// ParseTraceTable parses the bytes of the trace table of a block ([BlockHead.TraceTable]).
func ParseTraceTable(data []byte, h *BlockHead) (*TraceTable, error) {
	return parseTraceTable(data, h, nil)
}

func parseTraceTable(data []byte, h *BlockHead, p *fields.Parts) (*TraceTable, error) {
	offset := h.Length - int64(len(data))
	rows := &cursor{fields.Cursor{Data: data, Base: offset, Parts: p}}
	if t := rows.tableOfTraces(h); t != nil {
		return t, nil
	}
	if p != nil {
		*p = fields.Parts{Limit: p.Limit}
	}
	c := &cursor{fields.Cursor{Data: data, Base: offset, Parts: p}}
	t := c.tableOfColumns(h)
	return t, fault.In(c.Err, "trace table", offset)
}

const tableRow = 16 + 2

// tableOfTraces gives a table whose rows are those of the block, each once, and that uses all bytes; else nil.
func (c *cursor) tableOfTraces(h *BlockHead) *TraceTable {
	if int64(h.Traces)*tableRow > int64(c.Left()) {
		return nil
	}
	t := &TraceTable{Traces: make([]TraceTableRow, h.Traces)}
	total := 0
	c.Each("trace", h.Traces, func(i int) {
		trace := TraceTableRow{c.id("trace id"), c.rows("rows")}
		t.Traces[i] = trace
		total += trace.Rows.Len()
		for k := range trace.Rows.Len() {
			if row := trace.Rows.At(k); row >= h.Spans {
				c.Fail("rows", fault.Corruptf("row %d of %d", row, h.Spans))
				return
			}
		}
	})
	if c.Err != nil || total != h.Spans || c.Left() > 0 {
		return nil
	}
	return t
}

const tableColumn = 2 + 1 + 4

func (c *cursor) tableOfColumns(h *BlockHead) *TraceTable {
	if n := c.U32("trace count"); int64(n) != int64(h.Traces) {
		c.Refuse(4, "trace count", fault.Corruptf("%d, and %d in the header of the block", n, h.Traces))
	}
	t := &TraceTable{Columns: []TraceTableColumn{}}
	c.Each("column", c.Count("column count", tableColumn, MaxColumns), func(int) {
		col := TraceTableColumn{Name: string(c.Name(column.MaxNameLen)), Type: column.ReadType(&c.Cursor)}
		c.Unlisted(func() { col.Data = c.Block("data") })
		col.Offset = c.Offset() - int64(len(col.Data))
		c.Note(4+len(col.Data), "data", fields.Hex(col.Data[:min(len(col.Data), 2)]))
		t.Columns = append(t.Columns, col)
	})
	c.End("columns")
	if c.Err != nil {
		return nil
	}
	return t
}

// noTrace stands for the rows of no trace.
const noTrace = math.MaxUint32

// TraceOfRow gives for each row of a block its number in the trace table, for [Expand]: by the column trace.index, or,
// if that is nil, by the order in which ids appear in the column trace:id.
func TraceOfRow(h *BlockHead, index, id *column.Column) ([]uint32, error) {
	rows := make([]uint32, h.Spans)
	for i := range rows {
		rows[i] = noTrace
	}
	var err error
	switch {
	case index != nil && !index.Type.Textual():
		err = eachRow(index, rows, func(k int) uint64 { return index.Values.Numbers[k] }, h.Traces)
	case id != nil && id.Type.Textual():
		numbers := map[string]uint64{}
		err = eachRow(id, rows, func(k int) uint64 {
			v := id.Values.Bytes(k)
			n, ok := numbers[string(v)]
			if !ok {
				n = uint64(len(numbers))
				numbers[string(v)] = n
			}
			return n
		}, h.Traces)
	default:
		err = fault.Corruptf("neither trace.index nor trace:id tells the traces of rows")
	}
	return rows, fault.In(err, "trace table", -1)
}

// eachRow sets rows with values to the trace that trace gives for value k.
func eachRow(c *column.Column, rows []uint32, trace func(k int) uint64, traces int) error {
	if c.Rows != len(rows) {
		return fault.Corruptf("column %s of %d rows in a block of %d", fields.Quote([]byte(c.Name)), c.Rows, len(rows))
	}
	for row, k := range c.Each() {
		n := trace(k)
		if n >= uint64(traces) {
			return fault.Corruptf("row %d is of trace %d, there are %d", row, n, traces)
		}
		rows[row] = uint32(n)
	}
	return nil
}

// Expand turns a column with a value for each trace of a table into one with a value for each row of the block.
func Expand(c *column.Column, traceOfRow []uint32) *column.Column {
	// The code of each trace.
	codes := make([]uint32, c.Rows)
	for i := range codes {
		codes[i] = noTrace
	}
	for i, k := range c.Each() {
		codes[i] = uint32(k)
	}
	out := &column.Column{Name: c.Name, Type: c.Type, Rows: len(traceOfRow), Values: c.Values, PackedUUID: c.PackedUUID}
	out.Present = make([]byte, (len(traceOfRow)+7)/8)
	out.Codes = []uint32{}
	for row, trace := range traceOfRow {
		if trace == noTrace || int(trace) >= len(codes) || codes[trace] == noTrace {
			continue
		}
		out.Present[row/8] |= 1 << (row % 8)
		out.Codes = append(out.Codes, codes[trace])
	}
	return out
}
