package read

import (
	"context"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// traceIndexColumn has for each span the row of its trace in the trace table, in files of early versions.
const traceIndexColumn = "trace.index"

// traceColumn reads a column whose values are those of traces, and gives each span that of its trace. Without a trace table
// no span has a value.
func traceColumn(ctx context.Context, read blockBytes, h *head, i int) (*column.Column, error) {
	c := &h.Columns[i]
	none := &column.Column{Name: c.Name, Type: c.Type.Base(), Rows: h.Spans, Present: make([]byte, (h.Spans+7)/8)}
	if none.Type.Textual() {
		none.Values.Offsets = []uint32{0}
	}
	if h.Traces == 0 || h.TraceTableLength == 0 || h.TraceTableLength > h.length {
		return none, nil
	}
	data, err := read(ctx, h.length-h.TraceTableLength, h.TraceTableLength)
	if err != nil {
		return nil, err
	}
	table, err := layout.ParseTraceTable(data, h.BlockHead)
	if err != nil || table == nil {
		return none, nil // as if there were none
	}
	for k := range table.Columns {
		tc := &table.Columns[k]
		if tc.Name != c.Name || tc.Type.Base() != c.Type.Base() {
			continue
		}
		values, err := column.Decode(tc.Data, c.Name, c.Type, h.Traces, column.DecodeOptions{UUID: h.uuidHint(i)})
		if err != nil {
			return nil, err
		}
		rows, err := traceOfSpans(ctx, read, h)
		if err != nil {
			return nil, err
		}
		return spread(values, rows)
	}
	return none, nil
}

// traceOfSpans is for each span the row of its trace in the trace table.
func traceOfSpans(ctx context.Context, read blockBytes, h *head) ([]uint64, error) {
	i := h.Column(traceIndexColumn, column.Uint64)
	if i < 0 || h.Columns[i].Length == 0 {
		return nil, fault.Corruptf("there is no column %q, which leads from spans to their traces", traceIndexColumn)
	}
	data, err := read(ctx, h.Columns[i].Offset, h.Columns[i].Length)
	if err != nil {
		return nil, err
	}
	c, err := column.Decode(data, traceIndexColumn, column.Uint64, h.Spans, column.DecodeOptions{})
	if err != nil {
		return nil, err
	}
	if c.PresentCount() != h.Spans {
		return nil, fault.Corruptf("%d of %d spans have a row in the trace table", c.PresentCount(), h.Spans)
	}
	if c.Codes == nil {
		return c.Values.Numbers, nil
	}
	rows := make([]uint64, h.Spans)
	for k, code := range c.Codes {
		rows[k] = c.Values.Numbers[code]
	}
	return rows, nil
}

// spread gives each row the value of a row of c.
func spread(c *column.Column, from []uint64) (*column.Column, error) {
	out := &column.Column{Name: c.Name, Type: c.Type, Rows: len(from), Values: c.Values, Present: make([]byte, (len(from)+7)/8), PackedUUID: c.PackedUUID}
	codes := make([]uint32, c.Rows) // of the rows of c
	present := bitmap.Bits{Data: c.Present, Len: c.Rows}
	k := uint32(0)
	for i := range codes {
		if !present.At(i) {
			continue
		}
		codes[i] = k
		if c.Codes != nil {
			codes[i] = c.Codes[k]
		}
		k++
	}
	out.Codes = make([]uint32, 0, len(from))
	for i, row := range from {
		if row >= uint64(c.Rows) {
			return nil, fault.Corruptf("span %d is of trace %d of %d", i, row, c.Rows)
		}
		if present.At(int(row)) {
			bitmap.SetRange(out.Present, i, 1)
			out.Codes = append(out.Codes, codes[row])
		}
	}
	return out, nil
}
