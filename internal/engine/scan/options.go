package scan

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan/source"
	"github.com/amudai/amudai-go/storage"
)

// DefaultBatchRows is the number of rows of a batch: a power of two, so that batches begin
// where blocks do, and enough that what a batch costs does not matter.
const DefaultBatchRows = 65536

// DefaultMemory bounds what a scan decodes ahead.
const DefaultMemory = 64 << 20

// Options are those of a scan, as shard.ScanOptions documents them. Both have the same
// fields.
type Options struct {
	Columns     []string
	BatchRows   int
	Filter      filter.Expr
	Strings     StringLayout
	Limit       int64
	AsReady     bool
	Disable     source.Kinds
	FetchGap    int64
	FetchBytes  int64
	Rows        []rowset.Range
	Stripes     []int
	Parallelism int
	Allocator   memory.Allocator
	Reuse       bool
	MemoryLimit int64
}

func (o *Options) setDefaults(t Table) error {
	if err := cmp.Or(
		SetDefault("ScanOptions.BatchRows", &o.BatchRows, DefaultBatchRows),
		SetDefault("ScanOptions.Limit", &o.Limit, math.MaxInt64),
		SetDefault("ScanOptions.FetchBytes", &o.FetchBytes, storage.RemoteRequestBytes),
		SetDefault("ScanOptions.Parallelism", &o.Parallelism, runtime.GOMAXPROCS(0)),
		SetDefault("ScanOptions.MemoryLimit", &o.MemoryLimit, DefaultMemory),
		o.Strings.check("ScanOptions.Strings"),
	); err != nil {
		return err
	}
	for _, r := range o.Rows {
		if r.From < 0 || r.To < r.From || r.To > t.NumRows() {
			return fmt.Errorf("ScanOptions.Rows has %d to %d, the shard %d rows", r.From, r.To, t.NumRows())
		}
	}
	for _, i := range o.Stripes {
		if i < 0 || i >= t.NumStripes() {
			return fmt.Errorf("ScanOptions.Stripes has %d, the shard %d stripes", i, t.NumStripes())
		}
	}
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	return nil
}

// TakeOptions are those of a take, as shard.TakeOptions documents them. Both have the same
// fields.
type TakeOptions struct {
	Columns              []string
	Strings              StringLayout
	FetchGap, FetchBytes int64
	Parallelism          int
	Allocator            memory.Allocator
	MemoryLimit          int64
}

func (o *TakeOptions) setDefaults() error {
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	return cmp.Or(
		SetDefault("TakeOptions.FetchBytes", &o.FetchBytes, storage.RemoteRequestBytes),
		SetDefault("TakeOptions.Parallelism", &o.Parallelism, runtime.GOMAXPROCS(0)),
		SetDefault("TakeOptions.MemoryLimit", &o.MemoryLimit, 0), // the reader's
		o.Strings.check("TakeOptions.Strings"),
	)
}

// SetDefault gives an option its default if it is 0, and refuses negative ones.
func SetDefault[T int | int64](name string, option *T, byDefault T) error {
	if *option < 0 {
		return fmt.Errorf("%s is negative: %d", name, *option)
	}
	if *option == 0 {
		*option = byDefault
	}
	return nil
}

// coalesce are the options for reading a table. A gap of 0 is chosen by how fast the table
// answers.
func coalesce(t Table, gap, bytes int64) storage.CoalesceOptions {
	o := storage.CoalesceOptions{Gap: gap, Limit: bytes, Requests: storage.RemoteRequests}
	if o.Gap == 0 && t.Latency() == storage.LatencyHigh {
		o.Gap = storage.RemoteGap
	}
	return o
}
