package write

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// valueStats collects statistics of values.
type valueStats[T any] interface {
	stats.Collector
	Add(values []T, valid bitmap.Bits)
}

// primitiveWriter writes integers, floats and times: one DATA buffer of
// primitive blocks with embedded presence, and a RANGE_INDEX (docs/format.md §5.1).
type primitiveWriter[T numeric.Value] struct {
	ctx    *buffers.Context
	id     uint32
	load   rules.Loader[T]
	stats  valueStats[T]
	index  *numrange.Builder[T] // nil for profile Plain
	blocks buffers.NumberBlocks[T]
	valid  buffers.BitStage
	dict   numberDictionary
	apart  buffers.PresenceWriter // of nulls in a buffer of their own; valid is all set then
}

// newNumberWriters make the writers for stored numbers.
var newNumberWriters = stripe.PerNumber[func(*buffers.Context, *arrowmap.Column) (nodeWriter, error)]{
	newIntegerWriter[int8], newIntegerWriter[int16], newIntegerWriter[int32], newIntegerWriter[int64],
	newIntegerWriter[uint8], newIntegerWriter[uint16], newIntegerWriter[uint32], newIntegerWriter[uint64],
	newFloatWriter[float32], newFloatWriter[float64],
}

func newIntegerWriter[T stats.Integer](c *buffers.Context, col *arrowmap.Column) (nodeWriter, error) {
	return newPrimitiveWriter(c, col, &stats.Numeric[T]{})
}

func newFloatWriter[T float32 | float64](c *buffers.Context, col *arrowmap.Column) (nodeWriter, error) {
	return newPrimitiveWriter(c, col, &stats.Float[T]{})
}

func newPrimitiveWriter[T numeric.Value](c *buffers.Context, col *arrowmap.Column, collector valueStats[T]) (nodeWriter, error) {
	load, err := rules.LoaderOf[T](col)
	if err != nil {
		return nil, err
	}
	w := &primitiveWriter[T]{
		ctx: c, id: col.ID, load: load,
		stats:  collector,
		blocks: buffers.NewNumberBlocks[T](c, buffers.NodePart{ID: col.ID}, c.Encoding),
	}
	t := numeric.Of[T]()
	w.dict = newNumberDictionary(c, col, stagedNumbers[T]{&w.blocks, &w.valid}, t.Size(), dictionary.NumberKey(t))
	if c.Encoding.Profile != encoding.ProfilePlain {
		w.index = numrange.NewBuilder[T](byte(col.Stored.Type))
	}
	return w, nil
}

func (w *primitiveWriter[T]) write(arr arrow.Array) error {
	return w.ctx.InChunks(arr, w.blocks.Room(w.ctx), w.writeChunk)
}

func (w *primitiveWriter[T]) writeChunk(arr arrow.Array) error {
	valid := arrowutil.Validity(arr)
	dst := w.blocks.Grow(w.ctx, arr.Len())
	if err := w.load(dst, arr, valid); err != nil {
		return err
	}
	w.stats.Add(dst, valid)
	if w.index != nil {
		w.index.Add(dst, valid)
	}
	if w.ctx.NullsApart {
		w.apart.Add(valid)
		repeatPrevious(dst, valid)
		valid = bitmap.All(len(dst))
	}
	w.valid.Append(valid)
	if w.blocks.Room(w.ctx) > 0 {
		return nil
	}
	switch {
	case w.dict.make != nil:
		return w.dict.begin()
	case w.dict.dict == nil:
		return w.blocks.Flush(w.ctx, &w.valid, false)
	}
	w.takeCodes()
	return w.dict.review()
}

// takeCodes makes codes of what is staged.
func (w *primitiveWriter[T]) takeCodes() {
	values, valid := w.blocks.Take(&w.valid)
	w.dict.add(bytesOf(values), valid)
	buffers.PutStage(values)
}

func (w *primitiveWriter[T]) finish(out []stripe.Node) ([]stripe.Node, error) {
	return finishNode(out, w.id, w.stats, w.release, func(f *shardpb.FieldDescriptor) ([]stripe.Buffer, error) {
		if w.dict.dict != nil {
			w.takeCodes()
		}
		all, err := w.dict.finish(f, w.release)
		if err == nil && all == nil {
			all, err = w.finishBlocks()
		}
		if err != nil {
			return nil, err
		}
		return buffers.AppendRangeIndex(w.ctx, all, f, w.index)
	})
}

// finishBlocks makes the buffer of blocks, and that of nulls if they are apart.
func (w *primitiveWriter[T]) finishBlocks() ([]stripe.Buffer, error) {
	embedded := !w.ctx.NullsApart || !w.apart.Nulls()
	all, err := w.blocks.Finish(w.ctx, &w.valid, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA, EmbeddedPresence: embedded})
	if err != nil || embedded {
		return all, err
	}
	w.ctx.Features.Add(edition.NullsApart)
	return w.apart.Finish(w.ctx, all)
}

func (w *primitiveWriter[T]) release() { w.blocks.Release(w.ctx) }

// repeatPrevious replaces nulls by the value before them, which costs the fewest bytes.
func repeatPrevious[T numeric.Value](values []T, valid bitmap.Bits) {
	if valid.Data == nil {
		return
	}
	var last T
	for i := range values {
		if valid.At(i) {
			last = values[i]
		} else {
			values[i] = last
		}
	}
}
