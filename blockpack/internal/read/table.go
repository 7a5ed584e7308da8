package read

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

var errTodo = errors.New("not yet")

type RangeIndexUse uint8

const (
	RangeIndexVerify RangeIndexUse = iota
	RangeIndexTrust
	RangeIndexOff
)

type Options struct {
	Binary, Dictionaries, RawTimes, Events bool
	RangeIndex                             RangeIndexUse
	SuffixBytes                            int
	CacheBytes                             int64
	MaxMetadataBytes                       int64
}

type Table struct{ table.Table }

type BlockInfo struct {
	Offset, Length         int64
	Spans                  int64
	FirstRow               int64
	MinStart, MaxStart     uint64
	MinTraceID, MaxTraceID [16]byte
}

type TraceOptions struct {
	Columns       []string
	Schema        *arrow.Schema
	Offset, Limit int64
	Root          []byte
	Parallelism   int
	Allocator     memory.Allocator
}

func Open(ctx context.Context, r storage.Reader, o Options) (*Table, error) { return nil, errTodo }
func (t *Table) Load(ctx context.Context) error                             { return errTodo }
func (t *Table) LoadBlocks(ctx context.Context) error                       { return errTodo }
func (t *Table) ArrowSchema() *arrow.Schema                                 { return nil }
func (t *Table) Layout() string                                             { return "" }
func (t *Table) Writer() string                                             { return "" }
func (t *Table) Version() int                                               { return 0 }
func (t *Table) Blocks() []BlockInfo                                        { return nil }
func (t *Table) Traces(ctx context.Context, ids [][]byte, o TraceOptions) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, errTodo) }
}
