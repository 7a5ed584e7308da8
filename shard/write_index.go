package shard

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/root"
)

// openIndex is an index that is built while its shard is written. That of each stripe has no builder between stripes.
type openIndex struct {
	plan    *indexing.Plan
	builder index.Builder
}

func (w *Writer) indexOptions() indexing.Options {
	return indexing.Options{Memory: w.o.IndexMemoryBytes, TempDir: w.o.TempDir}
}

func (w *Writer) beginIndexes() error {
	for _, d := range w.o.Indexes {
		p, err := indexing.New(w.stored, w.schema, d)
		if err != nil {
			return err
		}
		w.indexes = append(w.indexes, openIndex{plan: p})
	}
	return nil
}

// index adds rows to the indexes.
func (w *Writer) index(columns []arrow.Array, first int64, rows int) error {
	for i := range w.indexes {
		x := &w.indexes[i]
		if err := w.beginIndex(x); err != nil {
			return err
		}
		from := first
		if x.plan.PerStripe {
			from -= w.rows
		}
		if err := x.plan.Add(x.builder, from, columns, rows); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) beginIndex(x *openIndex) (err error) {
	if x.builder == nil {
		x.builder, err = x.plan.NewBuilder(w.indexOptions(), 1)
	}
	return err
}

// builtIndex is an index that is not in the shard yet.
type builtIndex struct {
	plan      *indexing.Plan
	artifacts *indexing.Artifacts
}

// buildIndexes builds the indexes of a stripe that has ended, or those of the whole shard. The caller closes the artifacts, after an error too.
func (w *Writer) buildIndexes(ctx context.Context, perStripe bool, rows int64) (built []builtIndex, err error) {
	for i := range w.indexes {
		x := &w.indexes[i]
		if x.plan.PerStripe != perStripe {
			continue
		}
		if err := w.beginIndex(x); err != nil {
			return built, err
		}
		b := x.builder
		x.builder = nil
		a, err := x.plan.Write(ctx, rows, []index.Builder{b}, w.indexOptions())
		if err != nil {
			return built, err
		}
		built = append(built, builtIndex{x.plan, a})
	}
	return built, nil
}

func closeIndexes(built []builtIndex) error {
	var err error
	for _, b := range built {
		err = errors.Join(err, b.artifacts.Close())
	}
	return err
}

// writeIndexes writes indexes to the shard, and closes their artifacts.
func (w *Writer) writeIndexes(ctx context.Context, built []builtIndex) (all []*shardpb.IndexDescriptor, err error) {
	for _, b := range built {
		d, err := root.WriteIndex(ctx, w.out, b.plan, b.artifacts)
		if err != nil {
			return nil, errors.Join(err, closeIndexes(built))
		}
		all = append(all, d)
	}
	return all, closeIndexes(built)
}

// endIndexes writes the indexes of the whole shard, whose stripes are complete.
func (w *Writer) endIndexes(ctx context.Context) error {
	built, err := w.buildIndexes(ctx, false, w.rows)
	if err != nil {
		return errors.Join(err, closeIndexes(built))
	}
	all, err := w.writeIndexes(ctx, built)
	for _, d := range all {
		w.out.AddIndex(d)
	}
	return err
}

// dropIndexes removes the temporary files of indexes.
func (w *Writer) dropIndexes() error {
	var err error
	for _, x := range w.indexes {
		if x.builder != nil {
			err = errors.Join(err, x.builder.Close())
		}
	}
	w.indexes = nil
	return err
}
