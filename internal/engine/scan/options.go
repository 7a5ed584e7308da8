package scan

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/rowfilter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// DefaultBatchRows is the default number of rows of a batch. It is a power of two, so that batches begin at blocks, and so
// large that the cost of a batch does not matter.
const DefaultBatchRows = 65536

// DefaultMemory is the default bound in bytes of the batches that are decoded in advance.
const DefaultMemory = 64 << 20

// Options are the options of a scan, as shard.ScanOptions documents them.
type Options struct {
	Columns     []string
	BatchRows   int
	DecodeRows  int64 // to decode at a time, for batches that are cut from them; 0: as many as blocks have
	DecodeBytes int64 // that these take
	Filter      *ast.Node
	Strings     table.StringLayout
	Coded       []string
	Decimals64  []string
	Lengths     []string // names of columns that come as lengths, as provider.ReadOptions has them
	Limit       int64
	AsReady     bool
	AnyOrder    bool // the rows of a batch may be in any order, if no column has floats
	Disable     source.Kinds
	FetchGap    int64
	FetchBytes  int64
	Rows        []rowset.Range
	Stripes     []int
	Parallelism int
	Allocator   memory.Allocator
	Reuse       bool
	MemoryLimit int64
	bound       *rowfilter.Filter // Filter, if it is bound already
}

func (o *Options) setDefaults(t table.Table) error {
	if err := cmp.Or(
		option.SetDefault("ScanOptions.BatchRows", &o.BatchRows, DefaultBatchRows),
		option.SetDefault("ScanOptions.Limit", &o.Limit, math.MaxInt64),
		option.SetDefault("ScanOptions.FetchBytes", &o.FetchBytes, storage.RemoteRequestBytes),
		option.SetDefault("ScanOptions.Parallelism", &o.Parallelism, runtime.GOMAXPROCS(0)),
		option.SetDefault("ScanOptions.MemoryLimit", &o.MemoryLimit, DefaultMemory),
		o.Strings.Check("ScanOptions.Strings"),
	); err != nil {
		return err
	}
	for _, r := range o.Rows {
		if r.From < 0 || r.To < r.From || r.To > t.NumRows() {
			return fmt.Errorf("ScanOptions.Rows has %d to %d, the table %d rows", r.From, r.To, t.NumRows())
		}
	}
	for _, i := range o.Stripes {
		if i < 0 || i >= t.NumStripes() {
			return fmt.Errorf("ScanOptions.Stripes has %d, the table %d stripes", i, t.NumStripes())
		}
	}
	o.Allocator = cmp.Or(o.Allocator, memory.DefaultAllocator)
	return nil
}
