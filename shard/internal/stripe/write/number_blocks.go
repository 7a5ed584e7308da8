package write

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// primitiveBlocks stages values, and cuts blocks out of every so many of them (see
// stageSize), so that blocks do not depend on how values came.
type primitiveBlocks[T numeric.Value] struct {
	pipeline pipeline[*numeric.Encoder[T]]
	values   []T
}

func newPrimitiveBlocks[T numeric.Value](c *nodeContext, p nodePart, o encoding.Options) primitiveBlocks[T] {
	return primitiveBlocks[T]{pipeline: pipeline[*numeric.Encoder[T]]{encoders: numberEncoders[T](c, p, o)}}
}

// room is how many more values may be staged before the next flush.
func (p *primitiveBlocks[T]) room(c *nodeContext) int { return c.stage.values - len(p.values) }

// grow makes room for n more values and returns it.
// Values that may be all of a column take as much memory as they need. Once there are
// more, memory comes from a pool: twice as much each time, and that of a whole segment
// in a column that has had one.
func (p *primitiveBlocks[T]) grow(c *nodeContext, n int) []T {
	at := len(p.values)
	if need := at + n; need > cap(p.values) {
		first := p.pipeline.submitted == 0
		if first && at == 0 && need <= c.stage.values/2 {
			p.values = make([]T, 0, need)
		} else if first || at == 0 {
			p.move(getStage[T](need))
		} else {
			p.move(getStage[T](max(need, c.stage.values)))
		}
	}
	p.values = p.values[:at+n]
	return p.values[at:]
}

// move moves the values to another stage.
func (p *primitiveBlocks[T]) move(to []T) {
	to = append(to, p.values...)
	putStage(p.values)
	p.values = to
}

// flush cuts blocks if enough values are staged, the last time if any are. valid
// is the validity of the staged values, which is reset with them.
func (p *primitiveBlocks[T]) flush(c *nodeContext, valid *bitStage, final bool) error {
	if len(p.values) < c.stage.values && !final || len(p.values) == 0 {
		return nil
	}
	values, bits := p.values, valid.view()
	p.values, *valid = nil, bitStage{}
	brief := final && p.pipeline.submitted == 0 && len(values) <= mostStaged
	return p.pipeline.add(c, final, func(e *numeric.Encoder[T], out *segment) error {
		defer putStage(values)
		e.Brief(brief)
		return cutNumbers(c, e, out, values, bits)
	})
}

// finish cuts the last blocks and completes the buffer.
func (p *primitiveBlocks[T]) finish(c *nodeContext, valid *bitStage, desc *shardpb.EncodedBuffer) ([]stripe.Buffer, error) {
	if err := p.flush(c, valid, true); err != nil {
		return nil, err
	}
	return p.pipeline.finish(c, desc)
}

// cutNumbers writes values as blocks of the planned length.
func cutNumbers[T numeric.Value](c *nodeContext, e *numeric.Encoder[T], out *segment, values []T, valid bitmap.Bits) (err error) {
	n := e.Plan(values, valid)
	for i := 0; i < len(values); i += n {
		start, end := len(out.bytes), min(i+n, len(values))
		if out.bytes, err = e.AppendBlock(out.bytes, values[i:end], valid.Slice(i, end)); err != nil {
			return err
		}
		c.features.addBlock(out.bytes[start:], func(tree []byte) encoding.Tree { return numeric.Describe(tree, numeric.Of[T](), end-i) })
		out.closeBlock(end - i)
	}
	return nil
}

// release drops what is staged, and the blocks.
func (p *primitiveBlocks[T]) release(c *nodeContext) {
	putStage(p.values)
	p.values = nil
	p.pipeline.release(c)
}
