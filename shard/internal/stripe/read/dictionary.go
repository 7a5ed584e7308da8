package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/shard/internal/stripe/valuedict"
)

// dictionary finds the VALUE_DICTIONARY buffer; it reads nothing of it.
func (n *openNode) dictionary(ctx context.Context, convert valuedict.Conversion) (*valuedict.Dictionary, error) {
	b := stripe.FindBuffer(n.buffers, shardpb.BufferKind_VALUE_DICTIONARY)
	if b == nil {
		return nil, fault.Corruptf("a dictionary size, but no value dictionary")
	}
	stored, err := valuedict.Open(ctx, n.src, n.node(), b, n.field.GetPositionCount(), n.options.MaxDictionaryBytes)
	if err != nil {
		return nil, err
	}
	return valuedict.New(stored, n.options.Prefetched, convert, n.size), nil
}

// codesReader reads a node stored as codes of a value dictionary.
type codesReader[O int32 | int64] struct {
	*bytesReader[O]
	dict *valuedict.Dictionary
	// wanted has a 1 for each stored number, of those back to back, that becomes one of some numbers. It is nil if those cannot be told.
	wanted func(stored []byte, n *rules.Numbers) []byte
}

// openCodes opens a node of a value dictionary whose values convert makes those of arrays of fixed bytes, or of any length if that is 0.
func openCodes[O int32 | int64](ctx context.Context, n *openNode, fixed int, convert valuedict.Conversion) (*codesReader[O], error) {
	data, err := n.data(ctx, shardpb.BufferKind_VALUE_DICTIONARY, shardpb.BufferKind_PRESENCE)
	if err != nil {
		return nil, err
	}
	dict, err := n.dictionary(ctx, convert)
	if err != nil {
		return nil, err
	}
	return &codesReader[O]{dict: dict, bytesReader: &bytesReader[O]{dt: n.col.Plain, data: data, fixed: fixed, nulls: n.nullable(), mean: n.meanLength(data)}}, nil
}

func (r *codesReader[O]) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	if !r.dict.MayBeFew(rows.Len()) {
		return r.build(ctx, w, rows.Len(), nil, func(put func(at int, codes []uint32) error) error {
			return work.EachCodes(ctx, w, r.data, rows, func(p *blocks.Part, codes []uint32) error { return put(p.At, codes) })
		})
	}
	few, err := r.codes(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	return r.build(ctx, w, rows.Len(), few, func(put func(at int, codes []uint32) error) error { return put(0, few) })
}

// codes are those of rows.
func (r *codesReader[O]) codes(ctx context.Context, w *work.Worker, rows rowset.Set) (codes []uint32, err error) {
	err = work.EachCodes(ctx, w, r.data, rows, func(_ *blocks.Part, some []uint32) error { codes = append(codes, some...); return nil })
	return codes, err
}

// repeat returns an array of n times the value of a code.
func (r *codesReader[O]) repeat(ctx context.Context, w *work.Worker, code uint32, n int64) (arrow.Array, error) {
	return r.build(ctx, w, n, nil, func(put func(at int, codes []uint32) error) error {
		codes := scratch.Slice(&w.Codes, 1024)
		for i := range codes {
			codes[i] = code
		}
		for at := 0; at < int(n); at += len(codes) {
			if err := put(at, codes[:min(len(codes), int(n)-at)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// build returns an array of the values of n codes, which each passes in order. If they are few, it makes them those of the entries that are needed.
func (r *codesReader[O]) build(ctx context.Context, w *work.Worker, n int64, few []uint32, each func(put func(at int, codes []uint32) error) error) (arrow.Array, error) {
	dict, table, err := r.dict.LoadSome(ctx, few)
	if err != nil {
		return nil, err
	}
	null, hasNull := dict.NullID()
	var c *build.Bytes[O]
	if length := table.Same(); r.fixed == 0 && length >= 0 && length <= build.MaxEqual {
		c, err = build.NewEqual[O](w.Limit(), int(n), length, hasNull)
	} else {
		c, err = build.NewBytes[O](w.Limit(), int(n), r.fixed, int64(r.expected(table))*n, hasNull)
	}
	if err != nil {
		return nil, err
	}
	err = each(func(at int, codes []uint32) error {
		if hasNull {
			c.Nulls += rules.PutCodes(c.Bits(), at, codes, null)
		}
		if err := r.dict.Check(codes); err != nil {
			return err
		}
		return r.gather(w, table, codes, c, at, int(n))
	})
	if err == nil {
		err = r.data.Wrap(checkNulls(c.Nulls, r.nulls))
	}
	if err != nil {
		c.Release()
		return nil, err
	}
	return c.Array(r.dt, int(n)), nil
}

// expected is the number of bytes to reserve for a value: the longest length, if it is not much more than the
// average, because nothing must be summed then. Otherwise it is 0, and the first codes tell.
func (r *codesReader[O]) expected(table *bytestring.Table) int {
	if longest := table.Longest(); longest <= 2*r.mean+8 {
		return longest
	}
	return 0
}

// gather appends the values of codes to those of an array of n.
func (r *codesReader[O]) gather(w *work.Worker, table *bytestring.Table, codes []uint32, c *build.Bytes[O], at, n int) error {
	dst := c.Free(table.Bound(len(codes)))
	if dst == nil {
		size, err := table.Size(codes)
		if err != nil {
			return err
		}
		if size > uint64(w.Limits.MaxArrayBytes) {
			return fault.ErrBatchTooLarge
		}
		if at == 0 && len(codes) > 0 && len(codes) < n {
			c.Reserve(int64(float64(size) / float64(len(codes)) * float64(n) * 9 / 8))
		}
		if dst, err = c.Room(int(size)); err != nil {
			return err
		}
	}
	size, err := bytestring.Gather(table, dst, c.Ends(at, len(codes)), c.Size(), codes)
	c.Grow(size)
	return err
}

// coded is a reader of values that are stored as numbers of entries of a dictionary.
type coded interface {
	entries(ctx context.Context) (arrow.Array, error)
	repeat(ctx context.Context, w *work.Worker, code uint32, n int64) (arrow.Array, error)
	selectCodes(ctx context.Context, w *work.Worker, rows rowset.Set, keep []byte) ([]byte, error)
	readViews(ctx context.Context, w *work.Worker, rows rowset.Set, dt arrow.DataType) (arrow.Array, error)
	readMapped(ctx context.Context, w *work.Worker, rows rowset.Set, other arrow.Array) (arrow.Array, error)
	readFew(ctx context.Context, w *work.Worker, rows rowset.Set, dt *arrow.DictionaryType) (arrow.Array, error)
	readCodes(ctx context.Context, w *work.Worker, rows rowset.Set, dt *arrow.DictionaryType) (arrow.Array, error)
}

// Entries are the values that the column's rows have codes of, by code, if it has a value dictionary: each once, in an array of the physical type, and
// null if rows may be null. It is nil if there is no dictionary, or if arrays cannot hold one of its values. The caller does not release it.
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
	return work.SelectCodes(ctx, r.data, w, rows, keep)
}
