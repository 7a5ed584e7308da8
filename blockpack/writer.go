package blockpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/storage"
)

// Defaults and limits of [WriterOptions].
const (
	// DefaultBlockSpans is a block that is small enough for a lookup of one trace.
	DefaultBlockSpans = 8000
	// MaxBlockSpans is the most spans of a block that the trace index can number.
	MaxBlockSpans = 65535
	// DefaultBlockBytes bounds the memory of a block whose values are long.
	DefaultBlockBytes = 16 << 20
)

// ErrTooManyBlocks is the error of a file that can take no more spans: its trace index can number 65,535 blocks, and
// readers accept 100 MiB of metadata. Close the writer, and go on with another file, as a [Roller] does; or write larger blocks.
var ErrTooManyBlocks = errors.New("the file is full: close it and go on with another one")

// Order is the order of spans within a block.
type Order uint8

// The orders. Spans that begin at the same time stay in the order in which they came.
const (
	// OrderSimilar puts spans of one service with the same set of attributes next to each other, those of one trace among
	// these, by start. Files are smallest.
	OrderSimilar Order = iota
	// OrderTrace is by trace, then by start.
	OrderTrace
	// OrderStart is by start.
	OrderStart
	// OrderArrival is the order in which spans came.
	OrderArrival
)

// WriterOptions are the options of [Create] and [NewWriter]. The zero value is the default. Equal spans in equal order give equal
// bytes, in messages of whatever size.
type WriterOptions struct {
	// Store receives the file. The default is the registered store of the location.
	Store storage.Store
	// Overwrite permits the replacement of an existing file.
	Overwrite bool
	// BlockSpans is the number of spans of a block, by default DefaultBlockSpans, at most MaxBlockSpans.
	BlockSpans int
	// BlockBytes ends a block once its values take so many bytes of memory, by default DefaultBlockBytes.
	BlockBytes int64
	// Order is the order of spans within a block.
	Order Order
	// Strict writes only what the specification names. What it has no column for is lost: events, links, flags, names and versions
	// of scopes, attributes that are arrays, maps or empty. Stats counts the spans that lost something.
	Strict bool
	// NoRangeIndex leaves out the index of values.
	NoRangeIndex bool
	// RangeExclude are the names of columns that are not in the index of values.
	RangeExclude []string
	// RangeBytes is about the size of the index of values, by default 2 % of the blocks, and at least 64 KiB.
	RangeBytes int64
	// NoCompact leaves out the copy of the trace index by which a trace is found in two reads.
	NoCompact bool
	// Truncate shortens values and names that are longer than the format permits. By default they are an error.
	Truncate bool
	// PadIDs accepts ids of traces and spans that are too short, and puts zeros in front. By default they are an error.
	PadIDs bool
	// Parallelism is the number of blocks that are encoded at the same time, by default GOMAXPROCS. The bytes do not
	// depend on it.
	Parallelism int
}

func (o *WriterOptions) setDefaults() error {
	for _, err := range []error{
		option.SetDefault("WriterOptions.BlockSpans", &o.BlockSpans, DefaultBlockSpans),
		option.SetDefault("WriterOptions.BlockBytes", &o.BlockBytes, DefaultBlockBytes),
		option.SetDefault("WriterOptions.RangeBytes", &o.RangeBytes, 0),
		option.SetDefault("WriterOptions.Parallelism", &o.Parallelism, runtime.GOMAXPROCS(0)),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case o.BlockSpans > MaxBlockSpans:
		return fmt.Errorf("WriterOptions.BlockSpans is %d; at most %d are allowed", o.BlockSpans, MaxBlockSpans)
	case o.Order > OrderArrival:
		return fmt.Errorf("WriterOptions.Order is %d; the orders are 0 to %d", o.Order, OrderArrival)
	}
	return nil
}

// WriterStats are the numbers of what a [Writer] has written.
type WriterStats struct {
	Spans     int64 // that were taken
	Blocks    int   // that were written
	Bytes     int64 // that were written
	Truncated int64 // values and names that were shortened
	Stripped  int64 // spans that lost something because of WriterOptions.Strict
}

// Writer writes one file, which is invisible until Close. A Writer belongs to one goroutine and ends with Close or Abort.
type Writer struct {
	o WriterOptions
}

// Create begins a file at location. The folder must exist. The caller must end the writer with Close or Abort. The error wraps
// [io/fs.ErrExist] if there is a file already and the options do not allow Overwrite.
func Create(ctx context.Context, location string, o WriterOptions) (*Writer, error) {
	return nil, errors.ErrUnsupported
}

// NewWriter begins a file that is written to out, forward only. [Writer.Close] does not close out. o.Store must be nil. A file that was
// not closed has no footer, so that no reader takes it for a file.
func NewWriter(ctx context.Context, out io.Writer, o WriterOptions) (*Writer, error) {
	return nil, errors.ErrUnsupported
}

// WriteOTLP adds the spans of a message: an ExportTraceServiceRequest or a TracesData in the wire format of Protocol Buffers. The writer
// does not keep it.
//
// A message that does not parse, or has a value that cannot be stored, is an error. None of its spans is added then, and writing may
// go on. After any other error only Abort is useful.
func (w *Writer) WriteOTLP(ctx context.Context, message []byte) error { return errors.ErrUnsupported }

// Write adds the rows of a batch, which must have the columns of spans as a scan of a file of spans gives them. The writer does not keep
// it. A batch that does not fit is an error, and writing may go on. After any other error only Abort is useful.
func (w *Writer) Write(ctx context.Context, batch arrow.RecordBatch) error { return errors.ErrUnsupported }

// Flush ends the block, unless it is empty, and hands it to the store. Readers find nothing of it before Close.
func (w *Writer) Flush(ctx context.Context) error { return errors.ErrUnsupported }

// Stats gives the numbers so far.
func (w *Writer) Stats() WriterStats { return WriterStats{} }

// Close writes what is left and the indexes, and makes the file visible and durable. After an error nothing is.
func (w *Writer) Close(ctx context.Context) error { return errors.ErrUnsupported }

// Abort discards the file. After Close, and after another Abort, it does nothing. Context: see [storage.Writer].
func (w *Writer) Abort(ctx context.Context) error { return errors.ErrUnsupported }
