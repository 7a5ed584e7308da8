package stripe

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/describe"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/index/numrange"
	"github.com/amudai/amudai-go/internal/arrowutil"
	"github.com/amudai/amudai-go/internal/bitmap"
	"github.com/amudai/amudai-go/schema"
	"github.com/amudai/amudai-go/stats"
)

// loader fills dst with the stored form of a plain array's values. What it
// writes at null slots does not matter.
type loader[T any] func(dst []T, arr arrow.Array, valid bitmap.Bits) error

// valueStats collects statistics of values.
type valueStats[T any] interface {
	Add(values []T, valid bitmap.Bits)
	Fill(f *shardpb.FieldDescriptor)
}

// primitiveWriter writes integers, floats and times: one DATA buffer of
// primitive blocks with embedded presence, and a RANGE_INDEX (docs/format.md §5.1).
type primitiveWriter[T numeric.Value] struct {
	ctx    *nodeContext
	id     uint32
	load   loader[T]
	stats  valueStats[T]
	index  *numrange.Builder[T] // nil for profile Plain
	blocks primitiveBlocks[T]
	valid  bitStage
}

// newPrimitiveNode makes the writer for the column's stored type.
func newPrimitiveNode(c *nodeContext, col *arrowmap.Column) (nodeWriter, error) {
	signed := col.Stored.Signed
	switch col.Stored.Type {
	case schema.Int8:
		if signed {
			return newPrimitiveWriter(c, col, &stats.Numeric[int8]{})
		}
		return newPrimitiveWriter(c, col, &stats.Numeric[uint8]{})
	case schema.Int16:
		if signed {
			return newPrimitiveWriter(c, col, &stats.Numeric[int16]{})
		}
		return newPrimitiveWriter(c, col, &stats.Numeric[uint16]{})
	case schema.Int32:
		if signed {
			return newPrimitiveWriter(c, col, &stats.Numeric[int32]{})
		}
		return newPrimitiveWriter(c, col, &stats.Numeric[uint32]{})
	case schema.Int64:
		if signed {
			return newPrimitiveWriter(c, col, &stats.Numeric[int64]{})
		}
		return newPrimitiveWriter(c, col, &stats.Numeric[uint64]{})
	case schema.Float32:
		return newPrimitiveWriter(c, col, &stats.Float[float32]{})
	case schema.Float64:
		return newPrimitiveWriter(c, col, &stats.Float[float64]{})
	}
	return newPrimitiveWriter(c, col, &stats.Numeric[uint64]{}) // DateTime
}

func newPrimitiveWriter[T numeric.Value](c *nodeContext, col *arrowmap.Column, collector valueStats[T]) (nodeWriter, error) {
	load, err := loaderOf[T](col)
	if err != nil {
		return nil, err
	}
	w := &primitiveWriter[T]{
		ctx: c, id: col.ID, load: load,
		stats:  collector,
		blocks: primitiveBlocks[T]{enc: numberEncoder[T](c, nodePart{id: col.ID}, c.encoding)},
	}
	if c.encoding.Profile != encoding.ProfilePlain {
		w.index = numrange.NewBuilder[T](byte(col.Stored.Type))
	}
	return w, nil
}

func (w *primitiveWriter[T]) write(arr arrow.Array) error {
	arr, err := w.ctx.plain(arr)
	if err != nil {
		return err
	}
	defer arr.Release()
	return inChunks(arr, w.writeChunk)
}

func (w *primitiveWriter[T]) writeChunk(arr arrow.Array) error {
	valid := arrowutil.Validity(arr)
	dst := w.blocks.grow(arr.Len())
	if err := w.load(dst, arr, valid); err != nil {
		return err
	}
	w.stats.Add(dst, valid)
	if w.index != nil {
		w.index.Add(dst, valid)
	}
	w.valid.append(valid)
	return w.flush(false)
}

func (w *primitiveWriter[T]) flush(final bool) error {
	return w.blocks.flush(w.ctx, &w.valid, final)
}

func (w *primitiveWriter[T]) finish(out []Node) ([]Node, error) {
	field := &shardpb.FieldDescriptor{}
	w.stats.Fill(field)
	node := Node{ID: w.id, Field: field}
	if field.ConstantValue != nil {
		w.blocks.out.release()
		return append(out, node), nil
	}
	if err := w.flush(true); err != nil {
		return out, err
	}
	data, err := w.blocks.out.finish(w.ctx, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA, EmbeddedPresence: true})
	if err != nil {
		return out, err
	}
	node.Buffers = append(node.Buffers, data)
	if worthIndex(w.index != nil, node.Field) {
		node.Buffers, err = appendRangeIndex(w.ctx, node.Buffers, w.index.Append(nil, w.ctx.encoding.Profile))
	}
	return append(out, node), err
}

func (w *primitiveWriter[T]) release() { w.blocks.out.release() }

// primitiveBlocks stages values and cuts them into blocks.
type primitiveBlocks[T numeric.Value] struct {
	enc    *numeric.Encoder[T]
	values []T
	out    bufferWriter
}

// grow makes room for n more values and returns it.
func (p *primitiveBlocks[T]) grow(n int) []T {
	at := len(p.values)
	if at == 0 && cap(p.values) == 0 {
		p.values = takeStage[T](n)
	}
	p.values = slices.Grow(p.values, n)[:at+n]
	return p.values[at:]
}

// flush cuts blocks out of every flushAt values that are staged, so that blocks
// do not depend on how values came; the last time it cuts everything. valid is
// the validity of the staged values.
func (p *primitiveBlocks[T]) flush(c *nodeContext, valid *bitStage, final bool) error {
	done := 0
	for len(p.values)-done >= flushAt || final && done < len(p.values) {
		end := min(done+flushAt, len(p.values))
		if err := p.cut(c, p.values[done:end], valid.view().Slice(done, end)); err != nil {
			return err
		}
		done = end
	}
	if done > 0 {
		p.values = p.values[:copy(p.values, p.values[done:])]
		valid.drop(done)
	}
	if len(p.values) == 0 && cap(p.values) >= flushAt {
		giveStage(p.values)
		p.values = nil
	}
	return nil
}

// cut writes values as blocks of the planned length.
func (p *primitiveBlocks[T]) cut(c *nodeContext, values []T, valid bitmap.Bits) error {
	n := p.enc.Plan(values, valid)
	mem := borrow()
	defer mem.giveBack()
	for i := 0; i < len(values); i += n {
		end := min(i+n, len(values))
		var err error
		mem.block, err = p.enc.AppendBlock(mem.block[:0], values[i:end], valid.Slice(i, end))
		if err != nil {
			return err
		}
		c.features.addBlock(mem.block, func(tree []byte) describe.Node { return numeric.Describe(tree, numeric.Of[T](), end-i) })
		if err := p.out.add(c, mem.block, end-i); err != nil {
			return err
		}
	}
	return nil
}

// inChunks calls f with slices of arr of at most flushAt values, so that what
// is staged stays small whatever the length of arr.
func inChunks(arr arrow.Array, f func(arrow.Array) error) error {
	if arr.Len() <= flushAt {
		return shiftRows(f(arr), 0)
	}
	for i := 0; i < arr.Len(); i += flushAt {
		part := array.NewSlice(arr, int64(i), int64(min(i+flushAt, arr.Len())))
		err := f(part)
		part.Release()
		if err != nil {
			return shiftRows(err, i)
		}
	}
	return nil
}
