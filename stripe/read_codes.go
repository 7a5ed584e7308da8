package stripe

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/rowset"
)

// dictionaryOf is the type of a column whose arrays may be made of codes as they
// are stored: a dictionary of bare values, numbered in as many bits as codes.
func dictionaryOf(col *arrowmap.Column) *arrow.DictionaryType {
	if len(col.Wraps) != 1 {
		return nil
	}
	dt, ok := col.Wraps[0].(*arrow.DictionaryType)
	if !ok || dt.Ordered || !arrow.TypeEqual(dt.ValueType, withoutView(col.Plain)) {
		return nil
	}
	if id := dt.IndexType.ID(); id != arrow.INT32 && id != arrow.UINT32 {
		return nil
	}
	return dt
}

// readCodes reads rows as an array of dt: codes as they are stored, and the entries
// of the value dictionary.
func (r *codesReader[O]) readCodes(ctx context.Context, w *worker, rows rowset.Set, dt *arrow.DictionaryType) (arrow.Array, error) {
	entries, err := r.entries(ctx)
	if err != nil {
		return nil, err
	}
	defer entries.Release()
	dict, table, err := r.dict.load(ctx)
	if err != nil {
		return nil, err
	}
	n := int(rows.Len())
	if int64(n)*4 > w.options.MaxArrayBytes {
		return nil, ErrBatchTooLarge
	}
	null, hasNull := dict.NullID()
	out := fixedColumn{values: arrowutil.NewBuffer(w.options.Allocator, 4*n)}
	if hasNull {
		out.valid = arrowutil.NewZeroBuffer(w.options.Allocator, (n+7)/8)
	}
	all := arrowutil.As[uint32](out.values.Bytes())
	err = r.data.each(ctx, w, rows, func(p *part, block []byte) error {
		codes, dst := all[p.at:p.at+p.n], all[p.at:p.at+p.n]
		if !p.whole() {
			dst = slice(&w.codes, p.N)
		}
		if _, err := numeric.DecodeBlock(dst, nil, 0, block, numeric.BlockOptions{Checksums: r.data.checksums}, &w.numeric); err != nil {
			return err
		}
		if !p.whole() {
			pick(codes, dst, p.rows)
		}
		if hasNull {
			out.nulls += putCodes(out.valid.Bytes(), p.at, codes, null)
		}
		return table.Check(codes)
	})
	if err == nil && out.nulls > 0 && !r.nulls {
		err = r.data.wrap(fault.Corruptf("%d nulls in a column whose descriptor counts none", out.nulls))
	}
	if err != nil {
		out.release()
		return nil, err
	}
	if out.nulls == 0 && out.valid != nil {
		out.valid.Release()
		out.valid = nil
	}
	defer releaseAll(out.values, out.valid)
	d := array.NewDataWithDictionary(dt, n, []*memory.Buffer{out.valid, out.values}, out.nulls, 0, entries.Data().(*array.Data))
	defer d.Release()
	return array.MakeFromData(d), nil
}
