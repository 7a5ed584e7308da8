package stripe

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/blockmap"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/internal/bitmap"
)

// booleanReader reads a node of booleans.
type booleanReader struct {
	dt       arrow.DataType
	mem      memory.Allocator
	data     *blockReader
	presence *presenceReader
}

func (r *booleanReader) read(ctx context.Context, w *worker, from, to int64) (arrow.Array, error) {
	valid, nulls, err := r.presence.read(ctx, w, r.mem, from, to)
	if err != nil {
		return nil, err
	}
	values := arrowutil.NewZeroBuffer(r.mem, int(to-from+7)/8)
	if err := readBits(ctx, w, r.data, from, to, values.Bytes()); err != nil {
		releaseAll(valid, values)
		return nil, err
	}
	return arrowutil.Make(r.dt, int(to-from), []*memory.Buffer{valid, values}, nil, nulls), nil
}

// readBits copies the bits from up to (not including) to of a bit buffer to
// the start of dst. The buffer's values are bytes of bits.
func readBits(ctx context.Context, w *worker, b *blockReader, from, to int64, dst []byte) error {
	if from == to {
		return nil
	}
	return b.each(ctx, w, uint64(from)/8, (uint64(to)+7)/8, func(e blockmap.Entry, block []byte) error {
		bytes := slice(&w.bits, e.N)
		if _, err := numeric.DecodeBlock(bytes, nil, 0, block, numeric.BlockOptions{Checksums: b.checksums}, &w.numeric); err != nil {
			return err
		}
		start := int64(e.First) * 8
		lo, hi := max(from, start), min(to, start+int64(e.N)*8)
		bitmap.Bits{Data: bytes, Off: int(lo - start), Len: int(hi - lo)}.CopyTo(dst, int(lo-from))
		return nil
	})
}

// presenceReader reads the nulls of a boolean or container. A nil reader means
// that nothing is null.
type presenceReader struct {
	data *blockReader
}

// read gives the validity bitmap of a range, nil without nulls, and the number of nulls.
func (r *presenceReader) read(ctx context.Context, w *worker, mem memory.Allocator, from, to int64) (*memory.Buffer, int, error) {
	if r == nil {
		return nil, 0, nil
	}
	n := int(to - from)
	b := arrowutil.NewZeroBuffer(mem, (n+7)/8)
	if err := readBits(ctx, w, r.data, from, to, b.Bytes()); err != nil {
		b.Release()
		return nil, 0, err
	}
	nulls := bitmap.Bits{Data: b.Bytes(), Len: n}.Nulls()
	if nulls == 0 {
		b.Release()
		return nil, 0, nil
	}
	return b, nulls, nil
}
