package stripe

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/blockmap"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/internal/arrowutil"
)

// listReader reads a list or map node: offsets, presence, and the items of the
// lists that are asked for.
type listReader struct {
	dt       arrow.DataType // List, LargeList, Map or FixedSizeList
	options  ReadOptions
	offsets  *blockReader
	presence *presenceReader
	children []nodeReader
	stored   int64 // items in the stripe, or unknownCount
}

func (r *listReader) read(ctx context.Context, w *worker, from, to int64) (arrow.Array, error) {
	n := int(to - from)
	if int64(n) > r.options.MaxArrayBytes/8 {
		return nil, ErrBatchTooLarge
	}
	ends := make([]uint64, n+1)
	if err := r.readOffsets(ctx, w, ends, uint64(from)); err != nil {
		return nil, err
	}
	valid, nulls, err := r.presence.read(ctx, w, r.options.Allocator, from, to)
	if err != nil {
		return nil, err
	}
	var offsets *memory.Buffer
	if size, ok := fixedListSize(r.dt); ok {
		err = r.checkSizes(ends, size)
	} else {
		offsets, err = r.makeOffsets(ends)
	}
	var items arrow.ArrayData
	if err == nil {
		items, err = r.readItems(ctx, w, int64(ends[0]), int64(ends[n]))
	}
	if err != nil {
		releaseAll(valid, offsets)
		return nil, err
	}
	buffers := []*memory.Buffer{valid, offsets}
	if _, ok := fixedListSize(r.dt); ok {
		buffers = buffers[:1]
	}
	return arrowutil.Make(r.dt, n, buffers, []arrow.ArrayData{items}, nulls), nil
}

// readOffsets reads the offsets from position from on.
func (r *listReader) readOffsets(ctx context.Context, w *worker, dst []uint64, from uint64) error {
	to := from + uint64(len(dst))
	last := uint64(0)
	return r.offsets.each(ctx, w, from, to, func(e blockmap.Entry, block []byte) error {
		values := slice(&w.words, e.N)
		if _, err := numeric.DecodeBlock(values, nil, 0, block, numeric.BlockOptions{Checksums: r.offsets.checksums}, &w.numeric); err != nil {
			return err
		}
		if e.First == 0 && values[0] != 0 {
			return fault.Corruptf("first list offset is %d, not 0", values[0])
		}
		lo, hi := max(from, e.First), min(to, e.First+uint64(e.N))
		for i, v := range values[lo-e.First : hi-e.First] {
			if v < last || v > math.MaxInt64 {
				return fault.Corruptf("list offset %d at position %d follows %d", v, lo+uint64(i), last)
			}
			last = v
		}
		copy(dst[lo-from:], values[lo-e.First:hi-e.First])
		return nil
	})
}

// makeOffsets is the Arrow offsets buffer, starting at 0.
func (r *listReader) makeOffsets(ends []uint64) (*memory.Buffer, error) {
	base := ends[0]
	if r.dt.ID() == arrow.LARGE_LIST {
		b := arrowutil.NewBuffer(r.options.Allocator, 8*len(ends))
		for i, dst := 0, arrowutil.As[int64](b.Bytes()); i < len(dst); i++ {
			dst[i] = int64(ends[i] - base)
		}
		return b, nil
	}
	if ends[len(ends)-1]-base > math.MaxInt32 {
		return nil, ErrBatchTooLarge
	}
	b := arrowutil.NewBuffer(r.options.Allocator, 4*len(ends))
	for i, dst := 0, arrowutil.As[int32](b.Bytes()); i < len(dst); i++ {
		dst[i] = int32(ends[i] - base)
	}
	return b, nil
}

func fixedListSize(dt arrow.DataType) (uint64, bool) {
	f, ok := dt.(*arrow.FixedSizeListType)
	if !ok {
		return 0, false
	}
	return uint64(f.Len()), true
}

// checkSizes checks that every list has size items, null ones too: so they
// were written.
func (r *listReader) checkSizes(ends []uint64, size uint64) error {
	for i := range len(ends) - 1 {
		if ends[i+1]-ends[i] != size {
			return fault.Corruptf("list of %d items in a column of fixed-size lists of %d", ends[i+1]-ends[i], size)
		}
	}
	return nil
}

func (r *listReader) readItems(ctx context.Context, w *worker, from, to int64) (arrow.ArrayData, error) {
	if r.stored != unknownCount && to > r.stored {
		return nil, r.offsets.wrap(fault.Corruptf("list offset %d, but there are %d items", to, r.stored))
	}
	if err := r.options.checkItems(to - from); err != nil {
		return nil, err
	}
	children := make([]arrow.ArrayData, 0, len(r.children))
	for _, c := range r.children {
		arr, err := c.read(ctx, w, from, to)
		if err == nil && r.dt.ID() == arrow.MAP && len(children) == 0 && arr.NullN() > 0 {
			err = fault.Corruptf("%d null keys of a map", arr.NullN())
			arr.Release()
		}
		if err != nil {
			for _, c := range children {
				c.Release()
			}
			return nil, err
		}
		arr.Data().Retain()
		children = append(children, arr.Data())
		arr.Release()
	}
	if m, ok := r.dt.(*arrow.MapType); ok {
		entries := arrowutil.Make(m.Elem(), int(to-from), []*memory.Buffer{nil}, children, 0)
		defer entries.Release()
		entries.Data().Retain()
		return entries.Data(), nil
	}
	return children[0], nil
}

func releaseAll(buffers ...*memory.Buffer) {
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
}
