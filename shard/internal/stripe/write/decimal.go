package write

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// decimalWriter writes decimals: one DATA buffer of 16-byte values with
// embedded presence, and a RANGE_INDEX (docs/format.md §5.5).
type decimalWriter struct {
	ctx    *buffers.Context
	id     uint32
	load   rules.Loader[decimal.Decimal]
	rule   arrowmap.Rule
	scale  int
	stats  stats.Decimal
	index  *numrange.Builder[decimal.Decimal] // nil for profile Plain
	blocks buffers.ByteBlocks
	dict   numberDictionary
}

func newDecimalWriter(c *buffers.Context, col *arrowmap.Column) (*decimalWriter, error) {
	load, err := rules.DecimalLoader(col)
	if err != nil {
		return nil, err
	}
	w := &decimalWriter{ctx: c, id: col.ID, load: load, rule: col.Rule, scale: int(col.Scale), blocks: buffers.NewByteBlocks(c, col.ID, decimal.Width)}
	w.dict = newNumberDictionary(c, col, stagedBytes{&w.blocks}, decimal.Width, nil)
	if c.Encoding.Profile != encoding.ProfilePlain {
		w.index = numrange.NewDecimalBuilder()
	}
	return w, nil
}

func (w *decimalWriter) write(arr arrow.Array) error {
	return w.ctx.InChunks(arr, w.ctx.Stage.Values, w.writeChunk)
}

func (w *decimalWriter) writeChunk(arr arrow.Array) error {
	valid := arrowutil.Validity(arr)
	mem := getScratch()
	defer mem.put()
	values := arrowutil.As[decimal.Decimal](arrowutil.Bytes(scratch.Slice(&mem.words, 2*arr.Len())))
	if err := w.load(values, arr, valid); err != nil {
		return err
	}
	w.describe(mem, values, arr, valid)
	v := bytestring.Values{Data: arrowutil.Bytes(values), Fixed: decimal.Width, N: len(values)}
	for v.N > 0 {
		n, full := w.blocks.Room(w.ctx, v)
		if err := w.add(v.Slice(0, n), valid.Slice(0, n), full); err != nil {
			return err
		}
		v, valid = v.Slice(n, v.N), valid.Slice(n, v.N)
	}
	return nil
}

// add adds values of a stage, at its end with the dictionary in mind.
func (w *decimalWriter) add(v bytestring.Values, valid bitmap.Bits, full bool) error {
	switch {
	case w.dict.dict != nil:
		w.dict.add(v, valid)
		if w.blocks.Skip(w.ctx, v); full {
			return w.dict.review()
		}
		return nil
	case w.dict.make != nil && full:
		w.blocks.Stage(v, valid)
		w.blocks.Skip(w.ctx, v)
		return w.dict.begin()
	}
	return w.blocks.Add(w.ctx, v, valid)
}

// stagedBytes are the stagedBlocks of decimals.
type stagedBytes struct{ blocks *buffers.ByteBlocks }

func (s stagedBytes) staged() (bytestring.Values, bitmap.Bits) {
	return s.blocks.Staged.Values, s.blocks.Staged.Valid.View()
}

func (s stagedBytes) flush(c *buffers.Context) error { return s.blocks.FlushStaged(c) }

func (s stagedBytes) flushAtOnce(c *buffers.Context) (int64, func(), error) {
	stage, size, err := s.blocks.FlushAtOnce(c)
	return size, stage.Put, err
}

func (s stagedBytes) restart() { s.blocks.Count, s.blocks.Bytes = 0, 0 }

func (s stagedBytes) add(c *buffers.Context, v bytestring.Values, valid bitmap.Bits) error {
	return s.blocks.AddAll(c, v, valid)
}

// describe adds values to statistics and index: as integers if all fit, which
// is much faster than by their digits.
func (w *decimalWriter) describe(mem *chunkScratch, values []decimal.Decimal, arr arrow.Array, valid bitmap.Bits) {
	if w.rule == arrowmap.Decimal && arr.DataType().ID() == arrow.DECIMAL128 {
		wide := arrowutil.Values[decimal.Int128](arr)
		integers := scratch.Slice(&mem.offsets, len(wide))
		if decimal.Narrow(integers, wide) == len(wide) {
			w.stats.AddScaled(integers, -w.scale, valid)
			if w.index != nil {
				numrange.AddScaled(w.index, integers, -w.scale, valid)
			}
			return
		}
	}
	w.stats.Add(values, valid)
	if w.index != nil {
		w.index.Add(values, valid)
	}
}

func (w *decimalWriter) finish(out []stripe.Node) ([]stripe.Node, error) {
	return finishNode(out, w.id, &w.stats, w.release, func(f *shardpb.FieldDescriptor) ([]stripe.Buffer, error) {
		all, err := w.dict.finish(f, w.release)
		if err == nil && all == nil {
			all, err = w.blocks.Finish(w.ctx)
		}
		if err != nil {
			return nil, err
		}
		return buffers.AppendRangeIndex(w.ctx, all, f, w.index)
	})
}

func (w *decimalWriter) release() { w.blocks.Release(w.ctx) }
