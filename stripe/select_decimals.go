package stripe

import (
	"context"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// maxPrecision64 is how many digits any number of 64 bits has for sure.
const maxPrecision64 = 18

// finds tells whether all decimals of the type are numbers of 64 bits.
func (r *decimalReader) finds() bool {
	return r.store.convert != nil && precisionOf(r.dt) <= maxPrecision64
}

func (r *decimalReader) selectNumbers(ctx context.Context, w *worker, rows rowset.Set, n *Numbers) ([]byte, error) {
	return selectEach(ctx, r.data, w, rows, func(found []uint64, p *part, block []byte) error {
		t, all, ok, err := r.integers(w, p, block)
		if err != nil {
			return err
		}
		if ok {
			err = numeric.SelectTreeRanges(t.Tree, p.N, n.Ints, &w.numeric, found)
		} else {
			all, err = r.selectDecoded(w, p, block, n.Ints, found)
		}
		for i := range found {
			found[i] &= all.Word(64 * i)
		}
		return err
	})
}

// selectDecoded finds numbers in a block that is not stored as integers of the
// column's scale. It returns which of its values are present.
func (r *decimalReader) selectDecoded(w *worker, p *part, block []byte, in []numeric.Interval[int64], found []uint64) (bitmap.Bits, error) {
	b, err := r.parse(w, p, block)
	if err != nil {
		return bitmap.Bits{}, err
	}
	all, err := r.validity(w, b)
	if err != nil {
		return all, err
	}
	values, err := r.values(w, b)
	if err != nil {
		return all, err
	}
	dst := slice(&w.held, p.N*r.store.width)
	if err := r.store.convert(dst, values, all); err != nil {
		return all, err
	}
	clear(found)
	for i := range p.N {
		v := r.number(dst, i)
		for _, k := range in {
			if k.Low <= v && v <= k.High {
				found[i/64] |= 1 << (i % 64)
			}
		}
	}
	return all, nil
}

// number is the i-th of Arrow's decimals, which is known to fit into 64 bits.
func (r *decimalReader) number(dst []byte, i int) int64 {
	if r.store.width == 4 {
		return int64(arrowutil.As[int32](dst)[i])
	}
	return arrowutil.As[int64](dst)[i*r.store.width/8] // the low half comes first
}
