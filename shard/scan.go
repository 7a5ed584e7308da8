package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// RowRange is the rows from From up to (not including) To, counted in the shard.
type RowRange = rowset.Range

// DefaultBatchRows is the number of rows of a batch: a power of two, so that
// batches begin where blocks do, and enough that what a batch costs does not
// matter.
const DefaultBatchRows = 65536

// DefaultScanBytes bounds what a scan decodes ahead.
const DefaultScanBytes = 64 << 20

// Defaults for shards that are read over a network.
const (
	DefaultFetchGap   = storage.RemoteGap
	DefaultFetchBytes = storage.RemoteRequestBytes
)

// ScanOptions are those of [Shard.Scan]. The zero value scans everything.
type ScanOptions struct {
	// Columns are paths of columns, or of parts of nested ones: "price",
	// "orders.item.id". The result has the top-level columns in the order in
	// which they are named first, with the named parts of structs. nil means all
	// columns; an empty list none, and batches have only a number of rows.
	Columns []string
	// BatchRows is the most rows of a batch, by default DefaultBatchRows. Batches
	// are shorter at the end of a stripe or range, and where the values of a
	// column would need more memory than MemoryLimit or more than 32-bit offsets. Small
	// ones are cut from DefaultBatchRows or less that are decoded together, and share memory.
	BatchRows int
	// Filter is a condition that rows must meet. It may look at columns that are
	// not among Columns. What statistics, Bloom filters, value dictionaries and
	// range indexes exclude is not read; then the columns of the filter are decoded,
	// and the others for the rows that are left. There are no empty batches; few rows
	// that are left of several batches in a row come as one.
	Filter filter.Expr
	// Strings is how texts are laid out, by default by the columns' types.
	Strings Strings
	// Limit is the most rows of the result, 0 for all: the first that meet Filter, or
	// with AsReady any.
	Limit int64
	// AsReady gives batches as soon as they are ready, in any order, so that one whose
	// bytes are late does not keep others back; ScanBatches says what rows they have.
	// By default they come in the order of Rows. With Parallelism 1 it changes nothing.
	AsReady bool
	// Disable leaves out sources of what is known about rows, to measure or test
	// what they do. The rows of the result do not depend on it.
	Disable Sources
	// FetchGap is how many bytes between what columns need are read to save a
	// request. With 0, the default, it is 256 KiB for shards whose store answers slowly
	// ([storage.LatencyHigh]); of others each column reads what it needs by itself, as it does with a
	// negative number.
	FetchGap int64
	// FetchBytes is about how many bytes are then read ahead at a time, for all
	// columns and the rows of several batches, by default 16 MiB, and not more than a
	// quarter of MemoryLimit.
	FetchBytes int64
	// Rows are the ranges to scan, in this order. nil means all rows.
	Rows []RowRange
	// Stripes limits the scan to the rows of some stripes. nil means all.
	Stripes []int
	// Parallelism is how many columns are decoded at a time, of this batch and of
	// those that come next; by default GOMAXPROCS. With 1 the caller's goroutine
	// decodes everything, and nothing is read or decoded ahead of it.
	Parallelism int
	// Allocator makes the batches' memory; by default Arrow's of Go memory. Of that, arrays
	// are cut from chunks of 4 MiB: to keep a little of each of many batches, clone it.
	Allocator memory.Allocator
	// Reuse lets the scan use the memory of released batches for the next ones,
	// which makes it about a third faster. What is taken out of a batch without
	// Retain, a string for example, then changes after the next step: clone it.
	Reuse bool
	// MemoryLimit bounds the bytes that a scan holds beside the batch that it has
	// given, by default DefaultScanBytes: of batches that are decoded ahead, and of
	// what was read ahead for them. One batch, and the bytes it is made from, may
	// always be held. It bounds the bytes of one column in a batch, too, unless that
	// is of a single row.
	MemoryLimit int64
}

func (o *ScanOptions) setDefaults(s *Shard) error {
	if err := cmp.Or(
		setDefault("ScanOptions.BatchRows", &o.BatchRows, DefaultBatchRows),
		setDefault("ScanOptions.Limit", &o.Limit, math.MaxInt64),
		setDefault("ScanOptions.FetchBytes", &o.FetchBytes, DefaultFetchBytes),
		setDefault("ScanOptions.Parallelism", &o.Parallelism, runtime.GOMAXPROCS(0)),
		setDefault("ScanOptions.MemoryLimit", &o.MemoryLimit, DefaultScanBytes),
		o.Strings.check("ScanOptions.Strings"),
	); err != nil {
		return err
	}
	for _, r := range o.Rows {
		if r.From < 0 || r.To < r.From || r.To > s.NumRows() {
			return fmt.Errorf("ScanOptions.Rows has %d to %d, the shard %d rows", r.From, r.To, s.NumRows())
		}
	}
	for _, i := range o.Stripes {
		if i < 0 || i >= s.NumStripes() {
			return fmt.Errorf("ScanOptions.Stripes has %d, the shard %d stripes", i, s.NumStripes())
		}
	}
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	return nil
}

// Batch is some rows of a scan, and which they are.
type Batch struct {
	arrow.RecordBatch
	Stripe int        // that the rows are of
	Rows   []RowRange // counted in the shard, ascending; as many as the batch has
}

// Scan gives the rows as record batches, in order unless the options say otherwise. A
// batch is valid until the next step; Retain it to keep it. After an error there is no
// further step. Whoever leaves the loop early leaves nothing behind: no goroutine, no
// memory.
//
// The shard may be scanned by several goroutines at once.
func (s *Shard) Scan(ctx context.Context, o ScanOptions) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		s.scan(ctx, o, func(_ *job, _ rowset.Set, batch arrow.RecordBatch, err error) bool { return yield(batch, err) })
	}
}

// ScanBatches is [Shard.Scan] for batches that say which rows they have.
func (s *Shard) ScanBatches(ctx context.Context, o ScanOptions) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		s.scan(ctx, o, func(j *job, rows rowset.Set, batch arrow.RecordBatch, err error) bool {
			if err != nil {
				return yield(Batch{}, err)
			}
			return yield(Batch{batch, j.task.stripe, slices.Collect(rows.Shift(j.stripe.stripe.Position()).Ranges())}, nil)
		})
	}
}

// scan calls yield for each batch, its rows and the job that made it, until it gives false.
func (s *Shard) scan(ctx context.Context, o ScanOptions, yield func(*job, rowset.Set, arrow.RecordBatch, error) bool) {
	sc, err := s.newCutter(ctx, o)
	if err != nil {
		yield(nil, rowset.Set{}, nil, err)
		return
	}
	defer sc.close()
	for {
		j, rows, batch, err := sc.next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			yield(nil, rowset.Set{}, nil, err)
			return
		}
		more := yield(j, rows, batch, nil)
		batch.Release()
		if !more {
			return
		}
	}
}

// Reader gives the rows of a scan as an [array.RecordReader], which belongs to one
// goroutine. It must be released, also after its end.
func (s *Shard) Reader(ctx context.Context, o ScanOptions) (array.RecordReader, error) {
	sc, err := s.newCutter(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &reader{sc: sc}
	r.refs.Store(1)
	return r, nil
}

// reader is a scan as an array.RecordReader.
type reader struct {
	refs  atomic.Int64
	sc    *cutter
	batch arrow.RecordBatch
	err   error
	ended bool
}

func (r *reader) Retain() { r.refs.Add(1) }

func (r *reader) Release() {
	if r.refs.Add(-1) == 0 {
		r.drop()
		r.ended = true
		r.sc.close()
	}
}

func (r *reader) drop() {
	if r.batch != nil {
		r.batch.Release()
		r.batch = nil
	}
}

func (r *reader) Schema() *arrow.Schema { return r.sc.schema }

func (r *reader) Next() bool {
	r.drop()
	if r.ended {
		return false
	}
	var err error
	if _, _, r.batch, err = r.sc.next(); err != nil {
		r.ended, r.batch = true, nil
		if !errors.Is(err, io.EOF) {
			r.err = err
		}
		r.sc.close()
		return false
	}
	return true
}

func (r *reader) RecordBatch() arrow.RecordBatch { return r.batch }
func (r *reader) Record() arrow.RecordBatch      { return r.batch }
func (r *reader) Err() error                     { return r.err }
