// Package compare compares shards with Parquet and Arrow files of the same table. It has the
// contenders, the filter that they evaluate, and the demo.
package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// Rivals are the contenders other than shards. The first is the baseline of the ratios.
func Rivals() []suite.Contender {
	return []suite.Contender{
		parquetFile{"parquet zstd", "zstd"}, parquetFile{"parquet snappy", "snappy"},
		suite.ArrowFile{Title: "arrow ipc zstd", Codec: ipc.WithZstd()},
	}
}

// Contender returns a contender by its name: a rival, or a shard of any edition and profile.
func Contender(name string) (suite.Contender, error) {
	list := Rivals()
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		for p := encoding.Profile(0); p <= encoding.MinimalSize; p++ {
			list = append(list, suite.Shard{Options: shard.WriterOptions{Edition: e, Profile: p}})
		}
	}
	for _, k := range list {
		if k.Name() == name {
			return k, nil
		}
	}
	return nil, fmt.Errorf("unknown contender %q", name)
}

// parquetFile is Parquet as written and read by the command convert.
type parquetFile struct{ title, compression string }

// Name implements [suite.Contender].
func (k parquetFile) Name() string { return k.title }

// Can implements [suite.Contender]. The baseline does all operations.
func (k parquetFile) Can(_ *suite.Dataset, op string) bool {
	return k.compression == "zstd" || op == measure.OpWrite || op == measure.OpScan || op == measure.OpProject || op == measure.OpOpen ||
		measure.IsPeak(op)
}

// Write implements [suite.Contender].
func (k parquetFile) Write(ctx context.Context, path string, s *arrow.Schema, next suite.Source, _ int) error {
	store, err := storage.ForLocation(path)
	if err != nil {
		return err
	}
	out, err := store.Create(ctx, path, storage.CreateOptions{Overwrite: true})
	if err != nil {
		return err
	}
	sink, err := parquet.New(parquet.Options{Compression: k.compression}).Create(ctx, out, s, provider.WriteOptions{})
	if err != nil {
		return errors.Join(err, out.Abort(context.WithoutCancel(ctx)))
	}
	defer sink.Abort(context.WithoutCancel(ctx))
	if err := next.Each(func(b arrow.RecordBatch) error { return sink.Write(ctx, b) }); err != nil {
		return err
	}
	return sink.Close(ctx)
}

// Read implements [suite.Contender]. Single rows are picked out of whole columns, because seeking in arrow-go's
// reader takes longer.
func (k parquetFile) Read(ctx context.Context, path string, q suite.Query, out *suite.Outcome) (err error) {
	where, err := filter.Parse(q.Where)
	if err != nil {
		return err
	}
	if q.Count {
		q.Columns = where.Columns()
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	in := provider.Input{Name: path, Reader: file, At: file, Size: info.Size(), Closer: file}
	f := parquet.New(parquet.Options{Parallelism: q.Threads})
	src, err := f.Open(ctx, in, provider.ReadOptions{Columns: q.Columns, BatchRows: suite.BatchRows})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	p := picker{take: q.Take}
	if q.Where != "" {
		if p.where, err = compute.Condition(where.Node(), src.Schema()); err != nil {
			return err
		}
	}
	for b, err := range provider.Batches(ctx, src) {
		if err != nil {
			return err
		}
		picked, err := p.pick(b, q.Count)
		if err != nil {
			return err
		}
		out.Batch(picked)
		picked.Release()
	}
	return nil
}

// picker selects some rows of each batch.
type picker struct {
	where *predicate.Bound
	take  []int64 // numbers of rows in ascending order
	first int64   // of the next batch
}

// pick returns the selected rows, or only their number if values are not needed.
func (p *picker) pick(b arrow.RecordBatch, count bool) (arrow.RecordBatch, error) {
	if p.where == nil && p.take == nil {
		b.Retain()
		return b, nil
	}
	var rows []int64
	if p.where != nil {
		set, err := p.where.Select(b)
		if err != nil {
			return nil, err
		}
		rows = slices.AppendSeq(rows, set.Rows())
	}
	for ; len(p.take) > 0 && p.take[0] < p.first+b.NumRows(); p.take = p.take[1:] {
		rows = append(rows, p.take[0]-p.first)
	}
	p.first += b.NumRows()
	if count {
		return array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, int64(len(rows))), nil
	}
	return arrowutil.TakeRows(memory.DefaultAllocator, b, rows)
}
