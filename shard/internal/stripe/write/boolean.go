package write

import (
	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// booleanWriter writes a DATA buffer of bits, and a PRESENCE buffer if some
// but not all values are null (docs/format.md §5.2).
type booleanWriter struct {
	ctx   *buffers.Context
	id    uint32
	rule  arrowmap.Rule
	stats stats.Bool
	data  buffers.BitWriter
	valid buffers.PresenceWriter
}

func newBooleanWriter(c *buffers.Context, col *arrowmap.Column) *booleanWriter {
	return &booleanWriter{ctx: c, id: col.ID, rule: col.Rule, data: buffers.NewValueBits()}
}

func (w *booleanWriter) write(arr arrow.Array) error {
	return w.ctx.InChunks(arr, w.ctx.Stage.Values, func(arr arrow.Array) error {
		valid := arrowutil.Validity(arr)
		values := valid // a type without content is true where it is not null
		if w.rule == arrowmap.Same && arr.Len() > 0 {
			values = bitmap.Bits{Data: arr.Data().Buffers()[1].Bytes(), Off: arr.Data().Offset(), Len: arr.Len()}
		}
		w.stats.Add(values, valid)
		w.valid.Add(valid)
		return w.data.Add(w.ctx, values)
	})
}

func (w *booleanWriter) finish(out []stripe.Node) ([]stripe.Node, error) {
	return finishNode(out, w.id, &w.stats, w.release, func(*shardpb.FieldDescriptor) ([]stripe.Buffer, error) {
		all, err := w.data.Finish(w.ctx, nil, shardpb.BufferKind_DATA)
		if err != nil {
			return nil, err
		}
		return w.valid.Finish(w.ctx, all)
	})
}

func (w *booleanWriter) release() {
	w.data.Release()
	w.valid.Release()
}
