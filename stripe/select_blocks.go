package stripe

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/internal/bitmap"
	"github.com/amudai/amudai-go/rowset"
)

// Condition evaluates something on the values of an array of a column's bare type:
// bit i of what it returns is set if it holds for value i. The result may use the
// memory of dst; the array is only valid during the call.
type Condition func(dst []byte, values arrow.Array) ([]byte, error)

// blockwise is a reader that can evaluate a condition block by block.
type blockwise interface {
	selectBlocks(ctx context.Context, w *worker, rows rowset.Set, holds Condition) ([]byte, error)
}

// SelectBlocks is the rows among others for which a condition holds. It is
// evaluated on one block after the other, while its values are in the cache; no
// array of all of them is made. ok is false if the column has no reader for that.
func (c *Column) SelectBlocks(ctx context.Context, rows rowset.Set, holds Condition) (out rowset.Set, ok bool, err error) {
	defer fault.Recover(&err)
	if err := c.check(rows); err != nil {
		return nil, false, err
	}
	r := c.reader
	if p, ok := r.(*placedReader); ok {
		r = p.nodeReader
	}
	b, ok := r.(blockwise)
	if !ok {
		return nil, false, nil
	}
	w := workers.Get().(*worker)
	defer workers.Put(w)
	w.options = &c.options
	bits, err := b.selectBlocks(ctx, w, rows, holds)
	if err != nil {
		return nil, true, wrapColumn(err, &c.column)
	}
	return rows.Select(bits), true, nil
}

func (r *bytesReader[O]) selectBlocks(ctx context.Context, w *worker, rows rowset.Set, holds Condition) ([]byte, error) {
	bits := make([]byte, (rows.Len()+63)/64*8)
	var c *bytesColumn[O]
	room := 0 // for so many values
	defer func() {
		if c != nil {
			releaseAll(c.offsets, c.data, c.valid)
		}
	}()
	err := r.data.each(ctx, w, rows, func(p *part, block []byte) (err error) {
		if p.n > room {
			if c != nil {
				releaseAll(c.offsets, c.data, c.valid)
			}
			if c, err = r.newColumn(w, p.N, int64(p.N)*int64(r.mean), r.nulls); err != nil {
				return err
			}
			room = p.N
		}
		c.size, c.nulls = 0, 0
		alone := *p
		alone.at = 0
		if err := r.decodeSome(w, &alone, block, c); err != nil {
			return err
		}
		values := c.view(r.dt, p.n)
		defer values.Release()
		if w.held, err = holds(w.held, values); err != nil {
			return err
		}
		bitmap.Bits{Data: w.held, Len: p.n}.CopyTo(bits, p.at)
		return nil
	})
	return bits, err
}

// view is the values so far as an array that lives as long as they stay.
func (c *bytesColumn[O]) view(dt arrow.DataType, n int) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(c.data.Buf()[:c.size])}
	if c.offsets != nil {
		buffers = []*memory.Buffer{nil, memory.NewBufferBytes(c.offsets.Bytes()), buffers[1]}
	}
	if c.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(c.valid.Bytes())
	}
	return arrowutil.Make(dt, n, buffers, nil, c.nulls)
}

// selectBlocks asks for every entry of the dictionary once.
func (r *codesReader[O]) selectBlocks(ctx context.Context, w *worker, rows rowset.Set, holds Condition) ([]byte, error) {
	entries, err := r.entries(ctx)
	if err != nil {
		return nil, err
	}
	defer entries.Release()
	held, err := holds(nil, entries)
	if err != nil {
		return nil, err
	}
	keep := make([]byte, entries.Len())
	for i := range keep {
		keep[i] = held[i/8] >> (i % 8) & 1
	}
	return r.selectCodes(ctx, w, rows, keep)
}
