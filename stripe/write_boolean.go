package stripe

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/stats"
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

func (w *booleanWriter) finish(out []Node) ([]Node, error) {
	field := &shardpb.FieldDescriptor{}
	w.stats.Fill(field)
	node := Node{ID: w.id, Field: field}
	if field.ConstantValue != nil {
		w.release()
		return append(out, node), nil
	}
	data, err := w.data.finish(w.ctx, shardpb.BufferKind_DATA)
	if err != nil {
		return out, err
	}
	node.Buffers = append(node.Buffers, data)
	node.Buffers, err = w.valid.finish(w.ctx, node.Buffers)
	return append(out, node), err
}

func (w *booleanWriter) release() {
	w.data.out.release()
	w.valid.bits.out.release()
}

// bitWriter writes a bit buffer: bits packed into bytes, least significant
// first, stored as blocks of unsigned 8-bit values without presence. The block
// map counts bytes (docs/format.md §5.2).
type bitWriter struct {
	bits bitStage
	out  bufferWriter
	enc  *numeric.Encoder[uint8]
}

func (w *bitWriter) add(c *nodeContext, b bitmap.Bits) error {
	w.bits.append(b)
	return w.flush(c, false)
}

// flush cuts blocks out of as many bytes of bits as a node stages values; the last time
// it cuts everything.
func (w *bitWriter) flush(c *nodeContext, final bool) error {
	if w.enc == nil {
		o := c.encoding
		o.NoPresence = true
		w.enc = numeric.NewEncoder[uint8](o)
	}
	done, flushBits := 0, 8*c.stage.values
	for w.bits.n-done >= flushBits || final && done < w.bits.n {
		end := min(done+flushBits, w.bits.n)
		if err := w.cut(c, w.bits.view().Slice(done, end)); err != nil {
			return err
		}
		done = end
	}
	if done > 0 {
		w.bits.drop(done)
	}
	return nil
}

// cut writes bits as blocks of bytes.
func (w *bitWriter) cut(c *nodeContext, bits bitmap.Bits) error {
	bytes := make([]byte, (bits.Len+7)/8)
	bits.CopyTo(bytes, 0)
	p := takePiece()
	defer pieces.Put(p)
	if err := cutNumbers(c, w.enc, p, bytes, bitmap.All(len(bytes))); err != nil {
		return err
	}
	return w.out.addPiece(c, p)
}

func (w *bitWriter) finish(c *nodeContext, kind shardpb.BufferKind) (Buffer, error) {
	if err := w.flush(c, true); err != nil {
		return Buffer{}, err
	}
	return w.out.finish(c, &shardpb.EncodedBuffer{Kind: kind})
}

// presenceWriter writes the PRESENCE buffer of booleans and containers, which
// is left out if every slot is present. Its bits stay staged until the end: an
// eighth of a byte a slot, and nothing at all without nulls.
type presenceWriter struct {
	bits bitWriter
}

func (w *presenceWriter) add(valid bitmap.Bits) { w.bits.bits.append(valid) }

// finish appends the buffer, if the node needs one.
func (w *presenceWriter) finish(c *nodeContext, out []Buffer) ([]Buffer, error) {
	if w.bits.bits.clear == 0 {
		return out, nil
	}
	b, err := w.bits.finish(c, shardpb.BufferKind_PRESENCE)
	if err != nil {
		return out, err
	}
	return append(out, b), nil
}
