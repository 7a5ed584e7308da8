package nested

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// Addressed reads a union whose alternatives have positions of their own: offsets tell that of each row in the alternative it chooses, in
// any order.
type Addressed struct {
	Type         arrow.DataType // the union, or a struct of some alternatives, null where another one is chosen
	Chosen       Node           // the number of the alternative
	Offsets      Node           // numbers of 64 bits
	Data         *blocks.Reader // their buffer
	Alternatives []Alternative
}

// Alternative is one of those of a union.
type Alternative struct {
	Node
	Number uint8
	Stored uint64 // its positions
}

// Need implements [Node]. Only offsets tell what is needed of the alternatives.
func (r *Addressed) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.Chosen.Need(w, rows, add)
	r.Offsets.Need(w, rows, add)
}

// Read implements [Node].
func (r *Addressed) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	chosen, err := r.Chosen.Read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	defer chosen.Release()
	offsets, err := r.Offsets.Read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	defer offsets.Release()
	union, _ := r.Type.(arrow.UnionType)
	buffers := []*memory.Buffer{nil}
	if union != nil {
		codes, err := typeCodes(w, union, chosen)
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, codes)
	}
	dense := union != nil && union.Mode() == arrow.DenseMode
	if dense {
		buffers = append(buffers, arrowutil.NewBuffer(w.Limits.Allocator, 4*chosen.Len()))
	}
	var children []arrow.Array
	defer func() { arrowutil.ReleaseAll(children) }()
	for i := range r.Alternatives {
		child, at, err := r.readAlternative(ctx, w, &r.Alternatives[i], arrowutil.Values[uint8](chosen), arrowutil.Values[uint64](offsets))
		if err == nil && !dense {
			child, err = gathered(w, child, at)
		}
		if err != nil {
			build.Release(buffers...)
			return nil, err
		}
		children = append(children, child)
		for row, k := range at {
			if dense && k >= 0 {
				arrowutil.As[int32](buffers[2].Bytes())[row] = int32(k)
			}
		}
	}
	return arrowutil.Make(r.Type, chosen.Len(), buffers, arrowutil.DataOf(children), 0), nil
}

// readAlternative reads the positions of an alternative that rows refer to, each once. at tells where each row finds its own, -1 if it
// chooses another alternative.
func (r *Addressed) readAlternative(ctx context.Context, w *work.Worker, a *Alternative, chosen []uint8, offsets []uint64) (child arrow.Array, at []int64, err error) {
	var wanted []int64
	for row, k := range chosen {
		if k != a.Number {
			continue
		}
		if offsets[row] >= a.Stored {
			return nil, nil, r.Data.Wrap(fault.Corruptf("offset %d in alternative %d, which has %d positions, at row %d of those asked for", offsets[row], k, a.Stored, row))
		}
		wanted = append(wanted, int64(offsets[row]))
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	if child, err = a.Read(ctx, w, rowset.FromRows(wanted)); err != nil {
		return nil, nil, err
	}
	at = make([]int64, len(chosen))
	next := 0 // in most unions offsets ascend
	for row, k := range chosen {
		at[row] = -1
		if k == a.Number {
			if position := int64(offsets[row]); next == len(wanted) || wanted[next] != position {
				next, _ = slices.BinarySearch(wanted, position)
			}
			at[row] = int64(next)
			next++
		}
	}
	return child, at, nil
}

// gathered takes rows of an alternative, or nulls. It releases the alternative.
func gathered(w *work.Worker, child arrow.Array, at []int64) (arrow.Array, error) {
	defer child.Release()
	uses, most, nulls := make([]int64, child.Len()), int64(1), int64(0)
	for _, k := range at {
		if k < 0 {
			nulls++
			continue
		}
		uses[k]++
		most = max(most, uses[k])
	}
	if most > 1 && sizeOf(child.Data()) > w.Limits.MaxArrayBytes/most { // few long values may be those of many rows
		return nil, fault.ErrBatchTooLarge
	}
	if err := w.Limits.CheckFree(nulls, build.NullBytes(child.DataType())); err != nil {
		return nil, err
	}
	return arrowutil.Take(w.Limits.Allocator, child, at)
}

// sizeOf is the number of bytes of an array.
func sizeOf(d arrow.ArrayData) (size int64) {
	for _, b := range d.Buffers() {
		if b != nil {
			size += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		size += sizeOf(c)
	}
	return size
}
