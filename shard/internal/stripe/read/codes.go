package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

// dictionaryOf returns the type of a column whose arrays may be made of stored codes: a dictionary of physical values, indices as wide as codes.
func dictionaryOf(col *arrowmap.Column) *arrow.DictionaryType {
	if len(col.Wraps) != 1 {
		return nil
	}
	dt, ok := col.Wraps[0].(*arrow.DictionaryType)
	if physical, _ := stripe.Physical(*col); !ok || dt.Ordered || !arrow.TypeEqual(dt.ValueType, physical.Plain) {
		return nil
	}
	if id := dt.IndexType.ID(); id != arrow.INT32 && id != arrow.UINT32 {
		return nil
	}
	return dt
}

// readCoded reads rows from codes directly, if the type of arrays does not need the value of each row. Otherwise ok is false.
func (c *Column) readCoded(ctx context.Context, w *work.Worker, rows rowset.Set) (arr arrow.Array, ok bool, err error) {
	dt := dictionaryOf(&c.column)
	id := c.column.Plain.ID()
	view := len(c.column.Wraps) == 0 && (id == arrow.STRING_VIEW || id == arrow.BINARY_VIEW)
	if dt == nil && !view {
		return nil, false, nil
	}
	k, ok := nodeAs[coded](c)
	if !ok {
		return nil, false, nil
	}
	if dt != nil {
		if arr, err := k.readFew(ctx, w, rows, dt); arr != nil || err != nil {
			return arr, true, err
		}
	}
	entries, err := k.entries(ctx)
	switch {
	case entries == nil:
		return nil, err != nil, err
	case view:
		arr, err = k.readViews(ctx, w, rows, c.column.Plain)
	default:
		arr, err = k.readCodes(ctx, w, rows, dt)
	}
	return arr, true, err
}

// readFew is readCodes with the entries of these rows alone, which it decodes. It is nil if all entries are better decoded.
func (r *codesReader[O]) readFew(ctx context.Context, w *work.Worker, rows rowset.Set, dt *arrow.DictionaryType) (arrow.Array, error) {
	if !r.dict.MayBeFew(rows.Len()) {
		return nil, nil
	}
	codes, err := r.codes(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	arr, err := r.dict.CodedSome(ctx, codes, dt)
	if arr == nil || err != nil {
		return nil, err
	}
	if err := r.data.Wrap(checkNulls(arr.NullN(), r.nulls)); err != nil {
		arr.Release()
		return nil, err
	}
	return arr, nil
}

// readCodes reads rows as an array of dt: stored codes, and the entries of the value dictionary.
func (r *codesReader[O]) readCodes(ctx context.Context, w *work.Worker, rows rowset.Set, dt *arrow.DictionaryType) (arrow.Array, error) {
	entries, err := r.entries(ctx)
	if err != nil {
		return nil, err
	}
	_, table, err := r.dict.Load(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.widths(ctx, w, rows, 4, func(dst []byte, codes []uint32) error {
		copy(arrowutil.As[uint32](dst), codes)
		return table.Check(codes)
	})
	if err != nil {
		return nil, err
	}
	valid, values := out.Buffers()
	defer build.Release(valid, values)
	d := array.NewDataWithDictionary(dt, int(rows.Len()), []*memory.Buffer{valid, values}, out.Nulls, 0, entries.Data().(*array.Data))
	defer d.Release()
	return array.MakeFromData(d), nil
}

// readViews reads rows as views into the value dictionary.
func (r *codesReader[O]) readViews(ctx context.Context, w *work.Worker, rows rowset.Set, dt arrow.DataType) (arrow.Array, error) {
	views, data, err := r.dict.Views(ctx, r.dt, dt)
	if err != nil {
		return nil, err
	}
	out, err := r.widths(ctx, w, rows, arrow.ViewHeaderSizeBytes, func(dst []byte, codes []uint32) error {
		_, err := bytestring.Gather[int32](views, dst, nil, 0, codes)
		return err
	})
	if err != nil {
		return nil, err
	}
	valid, values := out.Buffers()
	return arrowutil.Make(dt, int(rows.Len()), []*memory.Buffer{valid, values, data}, nil, out.Nulls), nil
}

// widths makes a column of values of a width in bytes out of codes; put writes those of a few rows.
func (r *codesReader[O]) widths(ctx context.Context, w *work.Worker, rows rowset.Set, width int, put func(dst []byte, codes []uint32) error) (*build.Fixed, error) {
	dict, _, err := r.dict.Load(ctx)
	if err != nil {
		return nil, err
	}
	if rows.Len()*int64(width) > w.Limits.MaxArrayBytes {
		return nil, fault.ErrBatchTooLarge
	}
	null, hasNull := dict.NullID()
	out, err := readFixed(ctx, w, r.data, rows, 0, width, hasNull, func(p *blocks.Part, block []byte, out *build.Fixed) error {
		codes, err := work.Codes(w, r.data, p, block)
		if err != nil {
			return err
		}
		if hasNull {
			out.Nulls += rules.PutCodes(out.Bits(), p.At, codes, null)
		}
		return put(out.Slots(p.At, p.Count), codes)
	})
	if err != nil {
		return nil, err
	}
	if err := r.data.Wrap(checkNulls(out.Nulls, r.nulls)); err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}
