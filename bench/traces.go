package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/testing/tracegen"
)

// tracesSet is a data set of spans: those of the HotROD demo, seven times.
const tracesSet = "traces"

const tracesTimes = 7

// traceOptions read times as numbers, because arrow-go's Parquet has no durations.
var traceOptions = blockpack.Options{RawTimes: true}

// makeTraces makes the rows of a scan of a Blockpack file, in the order of its blocks, so that all contenders have the same order.
func makeTraces(ctx context.Context, d *suite.Dataset, c config) (err error) {
	messages, err := tracegen.Load(filepath.Join(c.shared, "corpus", "traces", "hotrod.otlp.zst"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "amudai-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "traces.blockpack")
	w, err := blockpack.Create(ctx, path, blockpack.WriterOptions{})
	if err != nil {
		return err
	}
	defer w.Abort(context.WithoutCancel(ctx))
	for m := range tracegen.Repeat(messages, tracesTimes) {
		if err := w.WriteOTLP(ctx, m); err != nil {
			return err
		}
	}
	if err := w.Close(ctx); err != nil {
		return err
	}
	f, err := blockpack.Open(ctx, path, traceOptions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if d.Schema, err = f.ArrowSchema(ctx); err != nil {
		return err
	}
	var some []arrow.RecordBatch
	for b, err := range f.Scan(ctx, nil, filter.Expr{}) {
		if err != nil {
			return err
		}
		b.Retain()
		some = append(some, b)
		if len(some) == suite.BatchRows/blockpack.DefaultBlockSpans {
			if err := appendJoined(d, some); err != nil {
				return err
			}
			some = nil
		}
	}
	return appendJoined(d, some)
}

// appendJoined adds batches to a data set as one.
func appendJoined(d *suite.Dataset, some []arrow.RecordBatch) error {
	if len(some) == 0 {
		return nil
	}
	columns, rows := make([]arrow.Array, d.Schema.NumFields()), int64(0)
	for i := range columns {
		var parts []arrow.Array
		for _, b := range some {
			parts = append(parts, b.Column(i))
		}
		var err error
		if columns[i], err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
			return err
		}
	}
	for _, b := range some {
		rows += b.NumRows()
		b.Release()
	}
	d.Batches = append(d.Batches, array.NewRecordBatch(d.Schema, columns, rows))
	return nil
}

// traceQuestions are the spans of a service, those that took long, and those of a trace in the middle.
func traceQuestions(d *suite.Dataset) (list []suite.Question) {
	add := func(name, where string, c cond, count bool) {
		byHand[where] = conds{c}
		list = append(list, suite.Question{Name: name, Where: where, Count: count})
	}
	const service, slow = `"resource.service.name" = 'mysql'`, `"span:duration" > 500000000`
	add("service", service, cond{column: "resource.service.name", equals: "mysql"}, true)
	add("slow", slow, cond{column: "span:duration", ranged: true, from: 500_000_001, to: 1 << 62}, true)
	ids := d.Batches[len(d.Batches)/2].Column(d.Schema.FieldIndices("trace:id")[0]).(*array.FixedSizeBinary)
	id := ids.Value(ids.Len() / 2)
	add("trace", fmt.Sprintf(`"trace:id" = x'%x'`, id), cond{column: "trace:id", equals: string(id)}, false)
	return list
}

// blockpackFile is a Blockpack file.
type blockpackFile struct{}

// Name implements [suite.Contender].
func (blockpackFile) Name() string { return "blockpack" }

// Can implements [suite.Contender].
func (blockpackFile) Can(d *suite.Dataset, op string) bool {
	return d.Name == tracesSet && op != measure.OpViews
}

// Write implements [suite.Contender].
func (blockpackFile) Write(ctx context.Context, path string, _ *arrow.Schema, next suite.Source, threads int) error {
	// The rows are in the order of blocks already: the order of traces and of rows is not found again.
	w, err := blockpack.Create(ctx, path, blockpack.WriterOptions{Overwrite: true, Order: blockpack.OrderArrival, Parallelism: threads})
	if err != nil {
		return err
	}
	return next.WriteTo(ctx, w)
}

// Read implements [suite.Contender].
func (blockpackFile) Read(ctx context.Context, path string, q suite.Query, out *suite.Outcome) error {
	o := traceOptions
	o.Parallelism = q.Threads
	return suite.ReadTable(ctx, blockpack.New(blockpack.FormatOptions{Read: o}), path, q, out)
}
