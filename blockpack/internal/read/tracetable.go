package read

import (
	"context"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
)

// traceIndexColumn has for each span the number of its trace in the trace table, in files of early versions.
const traceIndexColumn = "trace.index"

// traceColumn reads a column whose values are those of traces, and gives each span that of its trace. Without a trace table
// no span has a value.
func traceColumn(ctx context.Context, read blockBytes, h *head, i int) (*column.Column, error) {
	c := &h.Columns[i]
	none := &column.Column{Name: c.Name, Type: c.Type.Base(), Rows: h.Spans, Present: make([]byte, (h.Spans+7)/8)}
	if none.Type.Textual() {
		none.Values.Offsets = []uint32{0}
	}
	offset, length := h.TraceTable()
	if length == 0 {
		return none, nil
	}
	data, err := read(ctx, offset, length)
	if err != nil {
		return nil, err
	}
	table, err := layout.ParseTraceTable(data, h.BlockHead)
	if err != nil {
		return nil, err
	}
	for k := range table.Columns {
		tc := &table.Columns[k]
		if tc.Name != c.Name || tc.Type.Base() != c.Type.Base() {
			continue
		}
		values, err := column.Decode(tc.Data, c.Name, c.Type.Base(), h.Traces, column.DecodeOptions{UUID: h.uuidHint(i)})
		if err != nil {
			return nil, err
		}
		rows, err := tracesOfRows(ctx, read, h)
		if err != nil {
			return nil, err
		}
		return layout.Expand(values, rows), nil
	}
	return none, nil
}

// tracesOfRows is for each span the number of its trace in the trace table.
func tracesOfRows(ctx context.Context, read blockBytes, h *head) ([]uint32, error) {
	index, err := decodeColumn(ctx, read, h, traceIndexColumn, column.Uint64)
	if err != nil || index != nil {
		return traceOfRow(h, index, nil, err)
	}
	ids, err := decodeColumn(ctx, read, h, spans.TraceID, column.Bytes)
	return traceOfRow(h, nil, ids, err)
}

func traceOfRow(h *head, index, ids *column.Column, err error) ([]uint32, error) {
	if err != nil {
		return nil, err
	}
	return layout.TraceOfRow(h.BlockHead, index, ids)
}

// decodeColumn decodes a column of spans, if the block has it.
func decodeColumn(ctx context.Context, read blockBytes, h *head, name string, t column.Type) (*column.Column, error) {
	i := h.Column(name, t)
	if i < 0 || h.Columns[i].Length == 0 {
		return nil, nil
	}
	data, err := read(ctx, h.Columns[i].Offset, h.Columns[i].Length)
	if err != nil {
		return nil, err
	}
	return column.Decode(data, name, t, h.Spans, column.DecodeOptions{})
}
