package shard

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/index"
	"github.com/amudai/amudai-go/internal/engine/edit"
	"github.com/amudai/amudai-go/internal/engine/indexing"
)

// openIndex is an index that is built while its shard is written.
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
		b, err := p.NewBuilder(w.indexOptions(), 1)
		if err != nil {
			return err
		}
		w.indexes = append(w.indexes, openIndex{p, b})
	}
	return nil
}

// index adds rows to the indexes.
func (w *Writer) index(columns []arrow.Array, first int64, rows int) error {
	for _, x := range w.indexes {
		if err := x.plan.Add(x.builder, first, columns, rows); err != nil {
			return err
		}
	}
	return nil
}

// endIndexes writes the indexes to the shard, whose stripes are complete.
func (w *Writer) endIndexes(ctx context.Context) error {
	for len(w.indexes) > 0 {
		x := w.indexes[0]
		w.indexes = w.indexes[1:]
		a, err := x.plan.Write(ctx, w.rows, []index.Builder{x.builder}, w.indexOptions())
		if err != nil {
			return err
		}
		d, err := edit.WriteIndex(ctx, w.out, x.plan, a)
		if err := errors.Join(err, a.Close()); err != nil {
			return err
		}
		w.out.AddIndex(d)
	}
	return nil
}

// dropIndexes removes the temporary files of indexes.
func (w *Writer) dropIndexes() error {
	var err error
	for _, x := range w.indexes {
		err = errors.Join(err, x.builder.Close())
	}
	w.indexes = nil
	return err
}
