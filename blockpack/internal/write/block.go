package write

import (
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/column/encode"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// encoder encodes one block after the other, and keeps memory for the next one.
type encoder struct {
	columns encode.Encoder
	m       permuter
	data    []byte
}

// encoded is a block as bytes, and what the indexes of the file take from it.
type encoded struct {
	head, data []byte       // the block: one behind the other
	index      layout.Block // without its offset
	extents    []layout.ColumnExtent
	ids        []layout.TraceID // of rows
	columns    []*column.Column
	err        error
}

// encode sorts and encodes a block.
//
//	head: block header │ metadata of columns │ stats      data: the columns
func (e *encoder) encode(b otlp.Block, o Order) (out encoded) {
	defer fault.RecoverInternal(&out.err)
	if len(b.Columns) > layout.MaxColumns {
		return encoded{err: fault.Limitf("%d columns, at most %d are allowed in a block", len(b.Columns), layout.MaxColumns)}
	}
	b = e.sort(b, o)
	meta := make([]layout.BlockColumn, len(b.Columns))
	stats := make([][]byte, len(b.Columns))
	e.data = e.data[:0]
	for i, c := range b.Columns {
		from := len(e.data)
		if e.data, _, out.err = e.columns.Append(e.data, c); out.err != nil {
			out.err = fault.InColumn(out.err, c.Name)
			return out
		}
		meta[i] = layout.BlockColumn{Name: c.Name, Type: c.Type, Length: int64(len(e.data) - from)}
		stats[i] = layout.AppendColumnStats(nil, bounds(c))
	}
	if out.head, out.err = layout.AppendBlockHead(nil, b.Rows, meta, stats); out.err != nil {
		return out
	}
	out.data = slices.Clone(e.data)
	out.finish(b, meta)
	return out
}

// finish fills in what the indexes take from a block.
func (out *encoded) finish(b otlp.Block, meta []layout.BlockColumn) {
	if out.ids, out.err = traceIDs(b); out.err != nil {
		return
	}
	out.columns = b.Columns
	out.index.Length, out.index.Spans = int64(len(out.head)+len(out.data)), b.Rows
	if out.index.Length > layout.MaxBlockBytes {
		out.err = fault.Limitf("a block of %d bytes, at most %d are allowed", out.index.Length, layout.MaxBlockBytes)
		return
	}
	for _, c := range b.Columns {
		out.index.Names.Add(c.Name)
	}
	out.index.MinStart, out.index.MaxStart = startBounds(b)
	out.index.MinTrace, out.index.MaxTrace = idBounds(out.ids)
	out.extents = layout.ExtentsOf(meta)
}

// sort puts the rows of a block in order.
func (e *encoder) sort(b otlp.Block, o Order) otlp.Block {
	p := permutation(b, o)
	if p == nil {
		return b
	}
	return e.m.block(b, p)
}

// traceIDs gives the trace id of each row. All rows must have one of 16 bytes.
func traceIDs(b otlp.Block) ([]layout.TraceID, error) {
	c := b.Column(spans.TraceID, column.Bytes)
	if c == nil || c.PresentCount() < b.Rows {
		return nil, fault.Corruptf("spans without a trace id")
	}
	ids := make([]layout.TraceID, b.Rows)
	for row := range ids {
		k := row
		if c.Codes != nil {
			k = int(c.Codes[row])
		}
		v := c.Values.Bytes(k)
		if len(v) != len(ids[row]) {
			return nil, fault.Corruptf("a trace id of %d bytes", len(v))
		}
		ids[row] = layout.TraceID(v)
	}
	return ids, nil
}

func idBounds(ids []layout.TraceID) (low, high layout.TraceID) {
	for i, id := range ids {
		if i == 0 || string(id[:]) < string(low[:]) {
			low = id
		}
		if string(id[:]) > string(high[:]) {
			high = id
		}
	}
	return low, high
}

// startBounds gives the first and the last start of a block, zeros if some row has none.
func startBounds(b otlp.Block) (first, last uint64) {
	c := b.Column(spans.Start, column.Uint64)
	if c == nil || c.PresentCount() < b.Rows {
		return 0, 0
	}
	first, last, _ = numberBounds(c.Values.Numbers, column.Uint64)
	return first, last
}
