package write

import (
	"context"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
)

// Copy adds a block of another file as it is. ok is false, and nothing added, unless the block is one as this package writes: without a trace
// table, without bytes between its columns. All columns are decoded, for the indexes.
func (w *Writer) Copy(ctx context.Context, data []byte) (rows int, ok bool, err error) {
	b, head, err := open(data)
	if err != nil || head == nil {
		return 0, false, err
	}
	if w.Blocks() >= layout.MaxIndexed {
		return 0, false, ErrTooManyBlocks
	}
	if err := w.Flush(ctx); err != nil {
		return 0, false, err
	}
	out := encoded{head: data}
	out.finish(b, head.Columns)
	return b.Rows, true, w.write(ctx, &out)
}

// open decodes a block. head is nil if the block is not one as this package writes.
func open(data []byte) (b otlp.Block, head *layout.BlockHead, err error) {
	head, _, err = layout.ParseBlockHead(data, 0, int64(len(data)))
	if err != nil || head == nil || head.Version != layout.Version11 || head.Traces != 0 || head.TraceTableLength != 0 || head.Spans > layout.MaxIndexed {
		return b, nil, err
	}
	b.Rows = head.Spans
	end := head.StatsEnd()
	var d column.Decoder
	for i, c := range head.Columns {
		sorted := i == 0 || head.Columns[i-1].Name < c.Name || head.Columns[i-1].Name == c.Name && head.Columns[i-1].Type < c.Type
		if c.Offset != end || c.Length == 0 || c.Type != c.Type.Base() || !sorted {
			return b, nil, nil
		}
		end = c.Offset + c.Length
		values, err := d.Decode(data[c.Offset:end], c.Name, c.Type, head.Spans, column.DecodeOptions{UUID: column.UUIDPlain})
		if err != nil {
			return b, nil, err
		}
		b.Columns = append(b.Columns, values)
	}
	if end != int64(len(data)) {
		return b, nil, nil
	}
	return b, head, nil
}
