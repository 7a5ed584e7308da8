package write

import (
	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// booleanWriter writes a DATA buffer of bits, and a PRESENCE buffer if some
// but not all values are null (docs/format.md §5.2).
type booleanWriter struct {
	ctx   *nodeContext
	id    uint32
	rule  arrowmap.Rule
	stats stats.Bool
	data  bitWriter
	valid presenceWriter
}

func newBooleanWriter(c *nodeContext, col *arrowmap.Column) *booleanWriter {
	return &booleanWriter{ctx: c, id: col.ID, rule: col.Rule}
}

func (w *booleanWriter) write(arr arrow.Array) error {
	return w.ctx.inChunks(arr, w.ctx.stage.values, func(arr arrow.Array) error {
		valid := arrowutil.Validity(arr)
		values := valid // a type without content is true where it is not null
		if w.rule == arrowmap.Same && arr.Len() > 0 {
			values = bitmap.Bits{Data: arr.Data().Buffers()[1].Bytes(), Off: arr.Data().Offset(), Len: arr.Len()}
		}
		w.stats.Add(values, valid)
		w.valid.add(valid)
		return w.data.add(w.ctx, values)
	})
}

func (w *booleanWriter) finish(out []stripe.Node) ([]stripe.Node, error) {
	return finishNode(out, w.id, &w.stats, w.release, func(*shardpb.FieldDescriptor) ([]stripe.Buffer, error) {
		buffers, err := w.data.finish(w.ctx, nil, shardpb.BufferKind_DATA)
		if err != nil {
			return nil, err
		}
		return w.valid.finish(w.ctx, buffers)
	})
}

func (w *booleanWriter) release() {
	w.data.out.release()
	w.valid.bits.out.release()
}
