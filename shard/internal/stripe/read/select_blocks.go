package read

import (
	"context"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

// FindInBlocks returns those of the rows for which a condition is true. It is evaluated on one block after the other, while the values are in the
// cache. required is what every matching value has, so that others need not be decoded. ok is false if the reader of the column cannot do this.
func (c *Column) FindInBlocks(ctx context.Context, rows rowset.Set, holds table.Holds, required table.Required, o *table.ReadOptions) (out rowset.Set, ok bool, err error) {
	r, ok := nodeAs[interface {
		selectBlocks(ctx context.Context, w *work.Worker, rows rowset.Set, holds table.Holds, required bytestring.Required) ([]byte, error)
	}](c)
	if !ok {
		return out, false, nil
	}
	out, err = c.selected(rows, o, func(w *work.Worker) ([]byte, error) {
		return r.selectBlocks(ctx, w, rows, holds, bytestring.Required(required))
	})
	return out, true, err
}

const (
	selectAtOnce = 4096    // values of a block on which a condition is evaluated at once: few enough for the cache
	selectBytes  = 1 << 20 // bounds the memory of these
	sparse       = 32      // the share of rows of a block below which they are decoded without a search in the whole block for what matching values have
	undecided    = 16      // so few rows that their values are looked at without asking for shapes
)

// atOnce is the number of values of the reader on which a condition is evaluated at once.
func (r *bytesReader[O]) atOnce() int {
	return min(selectAtOnce, max(1, selectBytes/max(1, int(r.mean))))
}

func (r *bytesReader[O]) selectBlocks(ctx context.Context, w *work.Worker, rows rowset.Set, holds table.Holds, required bytestring.Required) ([]byte, error) {
	shared, err := r.shared.Load(ctx)
	if err != nil {
		return nil, err
	}
	room := int(min(rows.Len(), int64(r.atOnce()))) // for so many values at once
	c, err := build.NewBytes[O](w.Limit(), room, r.fixed, int64(room)*int64(r.mean), r.nulls)
	if err != nil {
		return nil, err
	}
	defer c.Release()
	parsed := r.kept
	return work.SelectRows(ctx, r.data, w, rows, parsed.Known, func(p *blocks.Part, block []byte) (found []byte, err error) {
		err = parsed.Use(block, &w.Bytes, r.parser(w, shared, p), func(b *bytestring.Block) error {
			found, err = r.selectIn(w, p, b, c, holds, required)
			return err
		})
		return found, err
	})
}

// selectIn returns a bit for each row of a block, set for those of a part for which a condition is true.
func (r *bytesReader[O]) selectIn(w *work.Worker, p *blocks.Part, b *bytestring.Block, c *build.Bytes[O], holds table.Holds, required bytestring.Required) (found []byte, err error) {
	found = scratch.Slice(&w.Marked, (p.N+63)/64*8)
	sure := scratch.Slice(&w.Sure, len(found))
	rest := *p
	if p.Count <= undecided || !b.Decide(sure, found, p.Rows.Rows(), required.Decide) {
		clear(sure)
	} else {
		rest.Rows = rowset.FromBits(found, 0, p.N, 0)
	}
	if n := int(rest.Rows.Len()); n > 0 && n >= p.N/sparse && b.MayMatch(found, required) {
		rest.Rows = rest.Rows.And(rowset.FromBits(found, 0, p.N, 0))
	}
	rest.Count = int(rest.Rows.Len())
	clear(found)
	err = r.evaluate(w, &rest, b, c, found, holds)
	for i := range sure {
		found[i] |= sure[i]
	}
	return found, err
}

// evaluate sets the bits of those rows of a block for which a condition is true.
func (r *bytesReader[O]) evaluate(w *work.Worker, p *blocks.Part, b *bytestring.Block, c *build.Bytes[O], found []byte, holds table.Holds) (err error) {
	step := int64(p.N)
	if n := r.atOnce(); p.Count > n {
		step = int64(n)
	}
	for from := int64(0); from < int64(p.N); from += step {
		some := *p
		some.At, some.Rows = 0, p.Rows.Clip(from, from+step)
		if some.Count = int(some.Rows.Len()); some.Count == 0 {
			continue
		}
		c.Reset()
		if err := r.decodeRows(w, &some, b, c); err != nil {
			return err
		}
		values := c.View(r.dt, some.Count)
		w.Held, err = holds(w.Held, values)
		values.Release()
		if err != nil {
			return err
		}
		some.Rows.Select(w.Held).PutBits(found, int(from), int(min(step, int64(p.N)-from)), from)
	}
	return nil
}

// selectBlocks evaluates the condition once for every entry of the dictionary.
func (r *codesReader[O]) selectBlocks(ctx context.Context, w *work.Worker, rows rowset.Set, holds table.Holds, _ bytestring.Required) ([]byte, error) {
	entries, err := r.entries(ctx)
	if err == nil && entries == nil {
		err = fault.Unsupportedf("value dictionary with values that %s cannot hold", r.dt)
	}
	if err != nil {
		return nil, err
	}
	held, err := holds(nil, entries)
	if err != nil {
		return nil, err
	}
	keep := make([]byte, entries.Len())
	for i := range keep {
		keep[i] = held[i/8] >> (i % 8) & 1
	}
	return r.selectCodes(ctx, w, rows, keep)
}
