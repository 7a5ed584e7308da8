package buffers

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// NumberBlocks stages values, and cuts blocks out of every so many of them (see
// [StageSize]), so that blocks do not depend on how values came.
type NumberBlocks[T numeric.Value] struct {
	Pipeline pipeline[*numeric.Encoder[T]]
	Values   []T
	Brief    bool // there are few values, though more than are staged at once
	codes    bool // they are those of a dictionary
}

// NewNumberBlocks makes the blocks of a part of a node.
func NewNumberBlocks[T numeric.Value](c *Context, p NodePart, o encoding.Options) NumberBlocks[T] {
	return NumberBlocks[T]{Pipeline: pipeline[*numeric.Encoder[T]]{encoders: numberEncoders[T](c, p, o)}, codes: p.Codes}
}

// Room is how many more values may be staged before the next flush.
func (p *NumberBlocks[T]) Room(c *Context) int { return c.Stage.Values - len(p.Values) }

// Grow makes room for n more values and returns it.
// Values that may be all of a column take as much memory as they need. Once there are
// more, memory comes from a pool: twice as much each time, and that of a whole segment
// in a column that has had one.
func (p *NumberBlocks[T]) Grow(c *Context, n int) []T {
	at := len(p.Values)
	if need := at + n; need > cap(p.Values) {
		first := p.Pipeline.submitted == 0
		if first && at == 0 && need <= c.Stage.Values/2 {
			p.Values = make([]T, 0, need)
		} else if first || at == 0 {
			p.move(GetStage[T](need))
		} else {
			p.move(GetStage[T](max(need, c.Stage.Values)))
		}
	}
	p.Values = p.Values[:at+n]
	return p.Values[at:]
}

// move moves the values to another stage.
func (p *NumberBlocks[T]) move(to []T) {
	to = append(to, p.Values...)
	PutStage(p.Values)
	p.Values = to
}

// Flush cuts blocks if enough values are staged, the last time if any are. valid
// is the validity of the staged values, which is reset with them; nil if none of them is null.
func (p *NumberBlocks[T]) Flush(c *Context, valid *BitStage, final bool) error {
	if len(p.Values) < c.Stage.Values && !final || len(p.Values) == 0 {
		return nil
	}
	values, bits := p.Take(valid)
	all := final && p.Pipeline.submitted == 0 && len(values) <= MostStaged
	brief := p.Brief || all
	return p.Pipeline.add(c, final, func(e *numeric.Encoder[T], out *segment) error {
		defer PutStage(values)
		e.Brief(brief, brief && p.codes)
		return cutNumbers(c, e, out, values, bits, c.Cut)
	})
}

// Take takes what is staged: its values, of which the caller gives back the memory, and their validity.
func (p *NumberBlocks[T]) Take(valid *BitStage) (values []T, bits bitmap.Bits) {
	values, bits = p.Values, bitmap.All(len(p.Values))
	p.Values = nil
	if valid != nil {
		bits = valid.View()
		*valid = BitStage{}
	}
	return values, bits
}

// FlushAtOnce is [NumberBlocks.Take], and cuts blocks of what it returns, whose values take some size.
func (p *NumberBlocks[T]) FlushAtOnce(c *Context, valid *BitStage) (values []T, size int64, err error) {
	values, bits := p.Take(valid)
	err = p.Pipeline.add(c, true, func(e *numeric.Encoder[T], out *segment) error {
		if err := cutNumbers(c, e, out, values, bits, c.Cut); err != nil {
			return err
		}
		size, err = out.sizeOfValues()
		return err
	})
	return values, size, err
}

// Finish cuts the last blocks and completes the buffer.
func (p *NumberBlocks[T]) Finish(c *Context, valid *BitStage, desc *shardpb.EncodedBuffer) ([]stripe.Buffer, error) {
	if err := p.Flush(c, valid, true); err != nil {
		return nil, err
	}
	return p.Pipeline.Finish(c, desc)
}

// cutNumbers writes values as blocks of a length, or of the planned one if that is 0.
func cutNumbers[T numeric.Value](c *Context, e *numeric.Encoder[T], out *segment, values []T, valid bitmap.Bits, n int) (err error) {
	if n == 0 {
		n = e.Plan(values, valid)
	}
	for i := 0; i < len(values); i += n {
		start, end := len(out.bytes), min(i+n, len(values))
		if out.bytes, err = e.AppendBlock(out.bytes, values[i:end], valid.Slice(i, end)); err != nil {
			return err
		}
		c.Features.addBlock(out.bytes[start:], func(tree []byte) encoding.Tree { return numeric.Describe(tree, numeric.Of[T](), end-i) })
		out.closeBlock(end - i)
	}
	return nil
}

// Release drops what is staged, and the blocks.
func (p *NumberBlocks[T]) Release(c *Context) {
	PutStage(p.Values)
	p.Values = nil
	p.Pipeline.Release(c)
}
