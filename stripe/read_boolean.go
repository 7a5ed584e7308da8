package stripe

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// booleanReader reads a node of booleans.
type booleanReader struct {
	dt       arrow.DataType
	data     *blockReader
	presence *presenceReader
}

func (r *booleanReader) need(w *worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.presence.need(w, rows, add)
	r.data.need(w, bytesOf(rows), add)
}

func (r *booleanReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	valid, nulls, err := r.presence.read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	values := arrowutil.NewZeroBuffer(w.options.Allocator, int(rows.Len()+7)/8)
	if err := readBits(ctx, w, r.data, rows, values.Bytes()); err != nil {
		releaseAll(valid, values)
		return nil, err
	}
	return arrowutil.Make(r.dt, int(rows.Len()), []*memory.Buffer{valid, values}, nil, nulls), nil
}

// readBits copies the bits of rows of a bit buffer to the start of dst. The
// buffer's values are bytes of bits.
func readBits(ctx context.Context, w *worker, b *blockReader, rows rowset.Set, dst []byte) error {
	at := 0
	return b.each(ctx, w, bytesOf(rows), func(p *part, block []byte) error {
		bytes := slice(&w.bits, p.N)
		if _, err := numeric.DecodeBlock(bytes, nil, 0, block, b.options, &w.numeric); err != nil {
			return err
		}
		start, end := int64(p.First)*8, int64(p.First+uint64(p.N))*8
		inside := rows.Clip(start, end).Shift(-start)
		pickBits(dst, at, bitmap.Bits{Data: bytes, Len: 8 * p.N}, inside)
		at += int(inside.Len())
		return nil
	})
}

// presenceReader reads the nulls of a boolean or container. A nil reader means
// that nothing is null.
type presenceReader struct {
	data *blockReader
}

func (r *presenceReader) need(w *worker, rows rowset.Set, add func(storage.ByteRange)) {
	if r != nil {
		r.data.need(w, bytesOf(rows), add)
	}
}

// read gives the validity bitmap of rows, nil without nulls, and the number of nulls.
func (r *presenceReader) read(ctx context.Context, w *worker, rows rowset.Set) (*memory.Buffer, int, error) {
	if r == nil {
		return nil, 0, nil
	}
	n := int(rows.Len())
	b := arrowutil.NewZeroBuffer(w.options.Allocator, (n+7)/8)
	if err := readBits(ctx, w, r.data, rows, b.Bytes()); err != nil {
		b.Release()
		return nil, 0, err
	}
	nulls := bitmap.Bits{Data: b.Bytes(), Len: n}.Nulls()
	return withNulls(b, nulls), nulls, nil
}
