package work

import (
	"context"
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
)

// SelectRanges returns a bit for each of the rows, set if its value is in one of the intervals.
func SelectRanges[T numeric.Value](ctx context.Context, data *blocks.Reader, w *Worker, rows rowset.Set, in []numeric.Interval[T]) ([]byte, error) {
	return SelectEach(ctx, data, w, rows, func(found []uint64, p *blocks.Part, block []byte) error {
		return numeric.SelectRanges(block, p.N, in, data.Options, &w.Numeric, found)
	})
}

// SelectEach is [SelectRows] for bits in words.
func SelectEach(ctx context.Context, data *blocks.Reader, w *Worker, rows rowset.Set, find func(found []uint64, p *blocks.Part, block []byte) error) ([]byte, error) {
	return SelectRows(ctx, data, w, rows, func(p *blocks.Part, block []byte) ([]byte, error) {
		words := scratch.Slice(&w.Found, (p.N+63)/64)
		if err := find(words, p, block); err != nil {
			return nil, err
		}
		held := arrowutil.Bytes(words)
		for i, word := range words {
			binary.LittleEndian.PutUint64(held[8*i:], word)
		}
		return held, nil
	})
}

// SelectRows returns a bit for each of the rows. find returns the bits of all rows of a block.
func SelectRows(ctx context.Context, data *blocks.Reader, w *Worker, rows rowset.Set, find func(p *blocks.Part, block []byte) ([]byte, error)) ([]byte, error) {
	bits := scratch.Slice(&w.Selected, int(rows.Len()+63)/64*8)
	err := data.Each(ctx, &w.Scratch, rows, func(p *blocks.Part, block []byte) error {
		found, err := find(p, block)
		if err != nil {
			return err
		}
		rowset.PickBits(bits, p.At, bitmap.Bits{Data: found, Len: p.N}, p.Rows)
		return nil
	})
	return bits, err
}
