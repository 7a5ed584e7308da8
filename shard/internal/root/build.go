package root

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
)

// Builders build indexes while their shard is written.
type Builders struct {
	o       indexing.Options
	indexes []openIndex
}

// openIndex is an index that is built. That of each stripe has no builder between stripes.
type openIndex struct {
	plan    *indexing.Plan
	builder index.Builder
}

// NewBuilders plans indexes of a shard with a stored schema, from batches of an Arrow schema.
func NewBuilders(stored *schema.Schema, s *arrow.Schema, definitions []indexing.Definition, o indexing.Options) (*Builders, error) {
	b := &Builders{o: o}
	for _, d := range definitions {
		p, err := indexing.New(stored, s, d)
		if err != nil {
			return nil, err
		}
		b.indexes = append(b.indexes, openIndex{plan: p})
	}
	return b, nil
}

// Add adds rows of the stripe that begins with a row.
func (b *Builders) Add(columns []arrow.Array, stripe, first int64, rows int) error {
	for i := range b.indexes {
		x := &b.indexes[i]
		if err := x.begin(b.o); err != nil {
			return err
		}
		from := first
		if x.plan.PerStripe {
			from -= stripe
		}
		if err := x.plan.Add(x.builder, from, columns, rows); err != nil {
			return err
		}
	}
	return nil
}

func (x *openIndex) begin(o indexing.Options) (err error) {
	if x.builder == nil {
		x.builder, err = x.plan.NewBuilder(o, 1)
	}
	return err
}

// Built are indexes that are not in the shard yet. [Built.Write] ends them.
type Built []*indexing.Built

// Build builds the indexes of a stripe of so many rows that has ended, or those of the whole shard.
func (b *Builders) Build(ctx context.Context, perStripe bool, rows int64) (built Built, err error) {
	for i := range b.indexes {
		x := &b.indexes[i]
		if x.plan.PerStripe != perStripe {
			continue
		}
		if err := x.begin(b.o); err != nil {
			return nil, errors.Join(err, seq.CloseAll(built))
		}
		builder := x.builder
		x.builder = nil
		one, err := x.plan.Write(ctx, rows, []index.Builder{builder}, b.o)
		if err != nil {
			return nil, errors.Join(err, seq.CloseAll(built))
		}
		built = append(built, one)
	}
	return built, nil
}

// Write writes indexes to the shard, and closes them.
func (b Built) Write(ctx context.Context, w *shardwriter.Writer) (all []*shardpb.IndexDescriptor, err error) {
	for _, x := range b {
		d, err := writeIndex(ctx, w, x)
		if err != nil {
			return nil, errors.Join(err, seq.CloseAll(b))
		}
		all = append(all, d)
	}
	return all, seq.CloseAll(b)
}

// End writes the indexes of a whole shard of so many rows, whose stripes are complete.
func (b *Builders) End(ctx context.Context, w *shardwriter.Writer, rows int64) error {
	built, err := b.Build(ctx, false, rows)
	if err != nil {
		return err
	}
	all, err := built.Write(ctx, w)
	for _, d := range all {
		w.AddIndex(d)
	}
	return err
}

// Close removes the temporary files of indexes that are not built.
func (b *Builders) Close() error {
	var err error
	for _, x := range b.indexes {
		if x.builder != nil {
			err = errors.Join(err, x.builder.Close())
		}
	}
	b.indexes = nil
	return err
}
