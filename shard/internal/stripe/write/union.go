package write

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// unionWriter writes unions: a DATA buffer of the number of the alternative at each position, of 8 bits. Children have the positions of
// the union, and nulls where another one is chosen. If such nulls would take much, children have the values that are chosen only, and an
// OFFSETS buffer has the position among those (docs/format.md §5.4).
type unionWriter struct {
	ctx      *buffers.Context
	id       uint32
	children childWriters
	chosen   buffers.NumberBlocks[uint8]
	offsets  buffers.NumberBlocks[uint64] // if addressed
	counts   []uint64                     // positions of each child, if addressed
	stats    stats.Presence
}

func newUnionWriter(c *buffers.Context, col *arrowmap.Column) (nodeWriter, error) {
	o := c.Encoding
	o.NoPresence = true
	w := &unionWriter{ctx: c, id: col.ID, chosen: buffers.NewNumberBlocks[uint8](c, buffers.NodePart{ID: col.ID}, o)}
	if c.Encoding.Features.Has(edition.UnionOffsets) && slices.ContainsFunc(col.Children, hasLongNulls) {
		c.Features.Add(edition.UnionOffsets)
		w.offsets = buffers.NewNumberBlocks[uint64](c, buffers.NodePart{ID: col.ID, Ends: true}, o)
		w.counts = make([]uint64, len(col.Children))
	}
	var err error
	w.children, err = newChildWriters(c, col)
	return w, err
}

// hasLongNulls reports whether a null takes several positions below it: those of the items of a fixed-size list.
func hasLongNulls(col arrowmap.Column) bool {
	switch col.Stored.Type {
	case schema.FixedSizeList:
		return true
	case schema.Struct, schema.Union:
		return slices.ContainsFunc(col.Children, hasLongNulls)
	}
	return false
}

func (w *unionWriter) addressed() bool { return w.counts != nil }

func (w *unionWriter) write(arr arrow.Array) error {
	return w.ctx.InChunks(arr, w.chosen.Room(w.ctx), w.writeChunk)
}

func (w *unionWriter) writeChunk(arr arrow.Array) error {
	v, n := kinds.Open(arr), arr.Len()
	chosen := w.chosen.Grow(w.ctx, n)
	for i := range chosen {
		part, _ := v.Choice(i)
		chosen[i] = uint8(part)
	}
	rowsOf := arrowutil.Alternative
	if w.addressed() {
		rowsOf = arrowutil.Chosen
		offsets := w.offsets.Grow(w.ctx, n)
		for i, part := range chosen {
			offsets[i] = w.counts[part]
			w.counts[part]++
		}
		if err := w.offsets.Flush(w.ctx, nil, false); err != nil {
			return err
		}
	}
	w.stats.Add(arrowutil.Validity(arr))
	for part, child := range w.children {
		rows, err := rowsOf(w.ctx.Mem, arr, part)
		if err != nil {
			return err
		}
		err = child.write(rows)
		rows.Release()
		if err != nil {
			return err
		}
	}
	return w.chosen.Flush(w.ctx, nil, false)
}

func (w *unionWriter) finish(out []stripe.Node) ([]stripe.Node, error) {
	return w.children.finishNode(out, w.id, &w.stats, w.release, func(*shardpb.FieldDescriptor) ([]stripe.Buffer, error) {
		all, err := w.chosen.Finish(w.ctx, nil, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA})
		if err != nil || !w.addressed() {
			return all, err
		}
		offsets, err := w.offsets.Finish(w.ctx, nil, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_OFFSETS})
		return append(all, offsets...), err
	})
}

func (w *unionWriter) release() {
	w.chosen.Release(w.ctx)
	if w.addressed() {
		w.offsets.Release(w.ctx)
	}
	w.children.release()
}
