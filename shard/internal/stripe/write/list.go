package write

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// listWriter writes lists and maps: an OFFSETS buffer of one 64-bit end offset
// more than lists, the first 0, and a PRESENCE buffer if a list is null
// (docs/format.md §5.3). Children hold the items of all lists.
type listWriter struct {
	ctx      *buffers.Context
	id       uint32
	children childWriters // List: item; Map: key, value
	offsets  buffers.NumberBlocks[uint64]
	last     uint64
	ends     []uint64
	valid    buffers.PresenceWriter
	stats    stats.List
}

func newListWriter(c *buffers.Context, col *arrowmap.Column) (*listWriter, error) {
	o := c.Encoding
	o.NoPresence = true
	w := &listWriter{ctx: c, id: col.ID, offsets: buffers.NewNumberBlocks[uint64](c, buffers.NodePart{ID: col.ID}, o)}
	w.offsets.Grow(c, 1)[0] = 0
	var err error
	w.children, err = newChildWriters(c, col)
	return w, err
}

func (w *listWriter) write(arr arrow.Array) error {
	return w.ctx.InChunks(arr, w.offsets.Room(w.ctx), w.writeChunk)
}

func (w *listWriter) writeChunk(arr arrow.Array) error {
	fixed, isFixed := arr.(*array.FixedSizeList)
	if !isFixed && arrowutil.NullRanges(arr) {
		clean, err := arrowutil.DropNullRanges(w.ctx.Mem, arr)
		if err != nil {
			return err
		}
		defer clean.Release()
		arr = clean
	}
	var from, to int64
	dst := w.offsets.Grow(w.ctx, arr.Len())
	switch a := arr.(type) {
	case *array.FixedSizeList:
		size := int64(a.DataType().(*arrow.FixedSizeListType).Len())
		to = int64(a.Len()) * size
		for i := range dst {
			dst[i] = w.last + uint64(i+1)*uint64(size)
		}
	case *array.LargeList:
		from, to = rebase(dst, arrowutil.Offsets[int64](a), w.last)
	default:
		from, to = rebase(dst, arrowutil.Offsets[int32](a), w.last)
	}
	valid := arrowutil.Validity(arr)
	w.ends = append(append(w.ends[:0], w.last), dst...)
	w.stats.Add(w.ends, valid)
	w.valid.Add(valid)
	w.last += uint64(to - from)
	if isFixed {
		items := fixedItems(fixed)
		defer items.Release()
		if err := writeMasked(w.ctx, w.children[0], items, repeatBits(valid, fixed)); err != nil {
			return err
		}
		return w.offsets.Flush(w.ctx, nil, false)
	}
	for i, all := range kinds.Open(arr).Parts {
		items := array.NewSlice(all, from, to)
		err := w.children[i].write(items)
		items.Release()
		if err != nil {
			return err
		}
	}
	return w.offsets.Flush(w.ctx, nil, false)
}

// rebase fills dst with the end offsets of lists, moved so that the first list
// starts at base, and returns the range of items they cover.
func rebase[O int32 | int64](dst []uint64, offsets []O, base uint64) (from, to int64) {
	first := offsets[0]
	for i := range dst {
		dst[i] = base + uint64(offsets[i+1]-first)
	}
	return int64(first), int64(offsets[len(dst)])
}

func (w *listWriter) finish(out []stripe.Node) ([]stripe.Node, error) {
	return w.children.finishNode(out, w.id, &w.stats, w.release, func(*shardpb.FieldDescriptor) ([]stripe.Buffer, error) {
		all, err := w.offsets.Finish(w.ctx, nil, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_OFFSETS})
		if err != nil {
			return nil, err
		}
		return w.valid.Finish(w.ctx, all)
	})
}

func (w *listWriter) release() {
	w.offsets.Release(w.ctx)
	w.valid.Release()
	w.children.release()
}
