package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

// coded is a reader of values that are stored as numbers of entries of a dictionary.
type coded interface {
	entries(ctx context.Context) (arrow.Array, error)
	repeat(ctx context.Context, w *work.Worker, code uint32, n int64) (arrow.Array, error)
	selectCodes(ctx context.Context, w *work.Worker, rows rowset.Set, keep []byte) ([]byte, error)
	readViews(ctx context.Context, w *work.Worker, rows rowset.Set, dt arrow.DataType) (arrow.Array, error)
	readCodes(ctx context.Context, w *work.Worker, rows rowset.Set, dt *arrow.DictionaryType) (arrow.Array, error)
}

// Entries are the values that the column's rows have codes of, by code, if it has a
// value dictionary: each once, in an array of the physical type, and null if rows may
// be null. It is nil if there is no dictionary. The caller does not release it.
func (c *Column) Entries(ctx context.Context) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	k, ok := nodeAs[coded](c)
	if !ok {
		return nil, nil
	}
	arr, err = k.entries(ctx)
	return arr, wrapColumn(err, &c.column)
}

// Repeat gives n times the same of Entries, as an array of the physical type.
func (c *Column) Repeat(ctx context.Context, entry int, n int64, o *table.ReadOptions) (arrow.Array, error) {
	k, ok := nodeAs[coded](c)
	if !ok {
		return nil, fault.Unsupportedf("column without a value dictionary")
	}
	return c.withWorker(rowset.Set{}, o, func(w *work.Worker) (arrow.Array, error) {
		arr, err := k.repeat(ctx, w, uint32(entry), n)
		return arr, wrapColumn(err, &c.column)
	})
}

// SelectCodes is the rows whose entry is to be kept: keep has a 1 for it, and 0
// for the others of Entries. A code beyond the dictionary, which only damage makes,
// is an error where codes are looked up, and not kept where they are compared.
func (c *Column) SelectCodes(ctx context.Context, rows rowset.Set, keep []byte, o *table.ReadOptions) (out rowset.Set, err error) {
	k, ok := nodeAs[coded](c)
	if !ok {
		return out, fault.Unsupportedf("column without a value dictionary")
	}
	return c.selected(rows, o, func(w *work.Worker) ([]byte, error) { return k.selectCodes(ctx, w, rows, keep) })
}

func (r *codesReader[O]) entries(ctx context.Context) (arrow.Array, error) {
	return r.dict.Entries(ctx, r.dt)
}

func (r *codesReader[O]) selectCodes(ctx context.Context, w *work.Worker, rows rowset.Set, keep []byte) ([]byte, error) {
	if in := rangesOf(keep); len(in) <= fewRanges && 2*rows.Len() >= rows.Bounds().Len() {
		return selectRanges(ctx, r.data, w, rows, in)
	}
	bits := scratch.Slice(&w.Selected, int(rows.Len()+63)/64*8)
	err := r.data.Each(ctx, &w.Scratch, rows, func(p *blocks.Part, block []byte) error {
		codes, err := r.codes(w, p, block)
		if err != nil {
			return err
		}
		return putKept(bits, p.At, codes, keep)
	})
	return bits, err
}

// fewRanges is how many ranges of codes are compared rather than looked up.
const fewRanges = 4

// rangesOf are the codes to be kept.
func rangesOf(keep []byte) (in []numeric.Interval[uint32]) {
	for i, k := range keep {
		switch code := uint32(i); {
		case k == 0:
		case i > 0 && keep[i-1] != 0:
			in[len(in)-1].High = code
		default:
			in = append(in, numeric.Interval[uint32]{Low: code, High: code})
		}
	}
	return in
}

// putKept writes a bit a code, set for those that are kept, from bit at on.
func putKept(bits []byte, at int, codes []uint32, keep []byte) error {
	for i := 0; i < len(codes); i += 64 {
		part := codes[i:min(i+64, len(codes))]
		word := uint64(0)
		for k, code := range part {
			if uint64(code) >= uint64(len(keep)) {
				return fault.Corruptf("code %d of a dictionary of %d entries", code, len(keep))
			}
			word |= uint64(keep[code]) << (k & 63)
		}
		bitmap.PutWord(bits, at+i, word, len(part))
	}
	return nil
}
