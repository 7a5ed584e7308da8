package blockpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/write"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/storage"
)

// Defaults and limits of [WriterOptions].
const (
	// DefaultBlockSpans is a block that is small enough for a lookup of one trace within a millisecond, and large enough for searches, which decode columns
	// of nearly all blocks. Blocks of half as many spans make files 5 % larger and searches up to a third slower; with twice as many, lookups take twice as long.
	DefaultBlockSpans = 4000
	// MaxBlockSpans is the most spans of a block that the trace index can number.
	MaxBlockSpans = 65535
	// DefaultBlockBytes bounds the memory of a block whose values are long.
	DefaultBlockBytes = 16 << 20
)

// ErrTooManyBlocks is the error of a file that can take no more spans: its trace index can number 65,535 blocks, and
// readers accept 100 MiB of metadata. Close the writer, and go on with another file; or write larger blocks.
var ErrTooManyBlocks = write.ErrTooManyBlocks

// ErrRefused is the error of a message, or a batch, that cannot be stored. None of its spans was added, and writing may go on.
var ErrRefused = errors.New("spans refused")

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
	// BlockBytes ends a block once its values have so many bytes, by default DefaultBlockBytes.
	BlockBytes int64
	// Order is the order of spans within a block.
	Order Order
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

// WriterStats are the numbers of what a [Writer] has taken and written.
type WriterStats struct {
	Spans  int64 // that were taken
	Blocks int   // that were written
	Bytes  int64 // that were written
	Padded int64 // trace ids that were padded, because of WriterOptions.PadIDs
	Empty  int64 // resources and scopes without spans, which no column keeps
}

// Writer writes one file, which is invisible until Close. A Writer belongs to one goroutine and ends with Close or Abort.
type Writer struct {
	o       WriterOptions
	out     storage.Writer
	builder *otlp.Builder // of the spans that are in no block yet
	w       *write.Writer
	copied  int64 // spans of blocks that were copied
	err     error
}

var errEnded = errors.New("the blockpack writer has ended")

// Create begins a file at location. The folder must exist. The caller must end the writer with Close or Abort. The error wraps
// [io/fs.ErrExist] if there is a file already and the options do not allow Overwrite.
func Create(ctx context.Context, location string, o WriterOptions) (*Writer, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	var err error
	if o.Store, err = storage.Of(o.Store, location); err != nil {
		return nil, err
	}
	out, err := o.Store.Create(ctx, location, storage.CreateOptions{Overwrite: o.Overwrite})
	if err != nil {
		return nil, err
	}
	builder := otlp.NewBuilder(otlp.Options{PadIDs: o.PadIDs})
	return &Writer{o: o, out: out, builder: builder, w: write.New(out, o.write())}, nil
}

// NewWriter begins a file that is written to out, forward only. [Writer.Close] does not close out. o.Store must be nil. A file that was
// not closed has no footer, so that no reader takes it for a file.
func NewWriter(ctx context.Context, out io.Writer, o WriterOptions) (*Writer, error) {
	if o.Store != nil {
		return nil, errors.New("WriterOptions.Store is set, but the file is written to an io.Writer")
	}
	const location = "stream:///spans.blockpack"
	o.Store = storage.ToWriter(location, out)
	return Create(ctx, location, o)
}

func (o *WriterOptions) write() write.Options {
	return write.Options{Order: write.Order(o.Order), Parallelism: o.Parallelism, Program: program}
}

// program is the mark of files that this package writes.
const program = "amudai-go/1"

// WriteOTLP adds the spans of a message: an ExportTraceServiceRequest or a TracesData in the wire format of Protocol Buffers. The writer
// does not keep it.
//
// The error wraps [ErrRefused] if the message does not parse, or has a value that cannot be stored, and [ErrTooManyBlocks] if the file is
// full. None of its spans was added then, and writing may go on. After any other error only Abort is useful.
func (w *Writer) WriteOTLP(ctx context.Context, message []byte) error {
	return w.add(ctx, func() error { return w.builder.AddTraces(message) })
}

// Write adds the rows of a batch, which must have the columns of spans as a scan of a file of spans gives them. The writer does not keep
// it. Errors are those of [Writer.WriteOTLP].
func (w *Writer) Write(ctx context.Context, batch arrow.RecordBatch) error {
	return w.add(ctx, func() error { return w.builder.AddBatch(batch) })
}

// add lets the builder take spans, and writes the blocks that are full.
func (w *Writer) add(ctx context.Context, take func() error) (err error) {
	switch {
	case w.err != nil:
		return w.err
	case ctx.Err() != nil:
		return ctx.Err()
	case w.w.Full():
		return ErrTooManyBlocks
	}
	defer fault.RecoverInternal(&err)
	err = take()
	if errors.Is(err, otlp.ErrTooManyColumns) && w.builder.Rows() > 0 { // for one block
		if err := w.w.Window(ctx, w.builder.Finish(), w.o.BlockSpans); err != nil {
			return w.failed(err)
		}
		err = take()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return w.failed(w.cut(ctx))
}

// failed keeps an error that leaves the writer useless.
func (w *Writer) failed(err error) error {
	if err != nil {
		w.err = fmt.Errorf("%w (the blockpack writer can only be aborted)", err)
	}
	return err
}

// windowBlocks is the number of blocks whose spans are brought together by trace before they are divided. In HotROD a trace is spread
// over messages of 5,000 spans.
const windowBlocks = 16

// cut writes the windows of blocks that are full. They depend on spans, not on messages.
func (w *Writer) cut(ctx context.Context) error {
	ends := w.builder.Ready(windowBlocks*w.o.BlockSpans, w.o.BlockBytes)
	if len(ends) == 0 {
		return nil
	}
	full, err := w.builder.Take(ends[len(ends)-1])
	if err != nil {
		return err
	}
	for _, b := range full.Split(ends) {
		if err := w.w.Window(ctx, b, w.o.BlockSpans); err != nil {
			return err
		}
	}
	return nil
}

// Flush ends the block, unless it is empty, and hands all blocks to the store. Readers find nothing of them before Close.
func (w *Writer) Flush(ctx context.Context) (err error) {
	if w.err != nil {
		return w.err
	}
	defer fault.RecoverInternal(&err)
	if err := w.flush(ctx); err != nil {
		return w.failed(err)
	}
	return w.failed(w.out.Flush(ctx))
}

func (w *Writer) flush(ctx context.Context) error {
	if w.builder.Rows() > 0 {
		if err := w.w.Window(ctx, w.builder.Finish(), w.o.BlockSpans); err != nil {
			return err
		}
	}
	return w.w.Flush(ctx)
}

// Stats gives the numbers so far.
func (w *Writer) Stats() WriterStats {
	b := w.builder.Stats()
	return WriterStats{
		Spans: b.Spans + w.copied, Blocks: w.w.Blocks(), Bytes: w.out.Size(), Padded: b.Padded,
		Empty: b.EmptyResources + b.EmptyScopes,
	}
}

// Close writes what is left and the indexes, and makes the file visible and durable. After an error nothing is.
func (w *Writer) Close(ctx context.Context) error {
	err := w.err
	if err == nil {
		err = w.finish(ctx)
	}
	if err != nil {
		return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	w.err = errEnded
	w.w.Close()
	return w.out.Publish(ctx)
}

func (w *Writer) finish(ctx context.Context) (err error) {
	defer fault.RecoverInternal(&err)
	if err := w.flush(ctx); err != nil {
		return err
	}
	return w.w.Finish(ctx)
}

// Abort discards the file. After Close, and after another Abort, it does nothing. It releases memory and temporary files even if ctx has
// ended; to clean up in a store on a server, too, after a cancelled call, pass context.WithoutCancel(ctx).
func (w *Writer) Abort(ctx context.Context) error {
	if w.err == errEnded {
		return nil
	}
	w.err = errEnded
	w.w.Close()
	return w.out.Abort(ctx)
}
