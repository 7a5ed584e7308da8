package write

import (
	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// unionWriter writes unions: a DATA buffer of the number of the alternative at each position, of 8 bits. Children have the positions of
// the union, and nulls where another one is chosen (docs/format.md §5.4).
type unionWriter struct {
	ctx      *buffers.Context
	id       uint32
	children childWriters
	chosen   buffers.NumberBlocks[uint8]
	stats    stats.Presence
}

func newUnionWriter(c *buffers.Context, col *arrowmap.Column) (nodeWriter, error) {
	o := c.Encoding
	o.NoPresence = true
	w := &unionWriter{ctx: c, id: col.ID, chosen: buffers.NewNumberBlocks[uint8](c, buffers.NodePart{ID: col.ID}, o)}
	var err error
	w.children, err = newChildWriters(c, col)
	return w, err
}

func (w *unionWriter) write(arr arrow.Array) error {
	return w.ctx.InChunks(arr, w.chosen.Room(w.ctx), w.writeChunk)
}

func (w *unionWriter) writeChunk(arr arrow.Array) error {
	v, n := kinds.Open(arr), arr.Len()
	for i, chosen := 0, w.chosen.Grow(w.ctx, n); i < n; i++ {
		part, _ := v.Choice(i)
		chosen[i] = uint8(part)
	}
	w.stats.Add(arrowutil.Validity(arr))
	for part, child := range w.children {
		rows, err := arrowutil.Alternative(w.ctx.Mem, arr, part)
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
		return w.chosen.Finish(w.ctx, nil, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA})
	})
}

func (w *unionWriter) release() {
	w.chosen.Release(w.ctx)
	w.children.release()
}
