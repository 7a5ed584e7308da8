package read

import (
	"context"
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

// ranged is a reader that finds values by intervals without an array of them.
type ranged interface {
	// finds reports whether it can.
	finds() bool
	selectNumbers(ctx context.Context, w *work.Worker, rows rowset.Set, n *rules.Numbers) ([]byte, error)
}

// FindNumbers returns those of the rows whose value passes a test. It uses the encoded form, without an array of the
// values. ok is false if the reader of the column cannot do this.
func (c *Column) FindNumbers(ctx context.Context, rows rowset.Set, test predicate.Test, o *table.ReadOptions) (out rowset.Set, ok bool, err error) {
	r, ok := nodeAs[ranged](c)
	wanted, isNumbers := numbersOf(test)
	if !ok || !isNumbers || !r.finds() {
		return out, false, nil
	}
	out, err = c.selected(rows, o, func(w *work.Worker) ([]byte, error) { return r.selectNumbers(ctx, w, rows, wanted) })
	return out, true, err
}

// numbersOf are the values that pass a test, if it is one of numbers.
func numbersOf(test predicate.Test) (n *rules.Numbers, ok bool) {
	switch t := test.(type) {
	case valueset.Ints:
		return &rules.Numbers{Ints: intervals(t)}, true
	case valueset.Decimals:
		return &rules.Numbers{Ints: intervals(t.Int64())}, true
	case valueset.Uints:
		return &rules.Numbers{Uints: intervals(t)}, true
	case valueset.Floats:
		return &rules.Numbers{Floats: intervals(t.Intervals)}, true
	}
	return nil, false
}

func intervals[T numeric.Value](in []valueset.Interval[T]) []numeric.Interval[T] {
	out := make([]numeric.Interval[T], len(in))
	for i, v := range in {
		out[i] = numeric.Interval[T]{Low: v.Lo, High: v.Hi}
	}
	return out
}

func (r *primitiveReader[T]) finds() bool { return r.stored != nil }

func (r *primitiveReader[T]) selectNumbers(ctx context.Context, w *work.Worker, rows rowset.Set, n *rules.Numbers) ([]byte, error) {
	return selectRanges(ctx, r.data, w, rows, r.stored(n))
}

// selectRanges returns a bit for each of the rows, set if its value is in one of the intervals.
func selectRanges[T numeric.Value](ctx context.Context, data *blocks.Reader, w *work.Worker, rows rowset.Set, in []numeric.Interval[T]) ([]byte, error) {
	return selectEach(ctx, data, w, rows, func(found []uint64, p *blocks.Part, block []byte) error {
		return numeric.SelectRanges(block, p.N, in, data.Options, &w.Numeric, found)
	})
}

// selectEach is [selectRows] for bits in words.
func selectEach(ctx context.Context, data *blocks.Reader, w *work.Worker, rows rowset.Set, find func(found []uint64, p *blocks.Part, block []byte) error) ([]byte, error) {
	return selectRows(ctx, data, w, rows, func(p *blocks.Part, block []byte) ([]byte, error) {
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

// selectRows returns a bit for each of the rows. find returns the bits of all rows of a block.
func selectRows(ctx context.Context, data *blocks.Reader, w *work.Worker, rows rowset.Set, find func(p *blocks.Part, block []byte) ([]byte, error)) ([]byte, error) {
	bits := scratch.Slice(&w.Selected, int(rows.Len()+63)/64*8)
	err := data.Each(ctx, &w.Scratch, rows, func(p *blocks.Part, block []byte) error {
		found, err := find(p, block)
		if err != nil {
			return err
		}
		work.PickBits(bits, p.At, bitmap.Bits{Data: found, Len: p.N}, p.Rows)
		return nil
	})
	return bits, err
}
