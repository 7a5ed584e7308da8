package blockpack

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/storage"
)

// Options are the options of [Open] and [OpenReaderAt]. The zero value is the default.
type Options struct {
	// Store holds the file. The default is the registered store of the location.
	Store storage.Store
	// Binary reads strings as binary. By default they are strings, and a value that is not UTF-8 is an error.
	Binary bool
	// RawTimes reads times and durations as the uint64 numbers of nanoseconds that are stored. By default they are
	// timestamps and durations, unless the file has a time that does not fit.
	RawTimes bool
	// Events reads span:events and span:links as lists of structs. By default they are binary as stored: a
	// protobuf Span that has only these fields.
	Events bool
	// SuffixBytes is the number of bytes at the end of the file that the first request reads. By default it is
	// 64 KiB, or 1 MiB for stores of high latency.
	SuffixBytes int
	// CacheBytes bounds the decoded columns that are kept for later reads and, separately, the heads of blocks, by
	// default 64 MiB each.
	CacheBytes int64
	// Parallelism is the number of columns that a scan decodes at the same time, in the current batch and in later ones,
	// by default GOMAXPROCS.
	Parallelism int
	// MemoryLimit bounds the bytes that a scan holds beside the current batch, by default 64 MiB. One batch is always
	// allowed.
	MemoryLimit int64
}

func (o *Options) read() read.Options {
	return read.Options{
		Binary: o.Binary, RawTimes: o.RawTimes, Events: o.Events, SuffixBytes: o.SuffixBytes, CacheBytes: o.CacheBytes,
	}
}

func (o *Options) scan() scan.Options {
	return scan.Options{Parallelism: o.Parallelism, MemoryLimit: o.MemoryLimit}
}

// UnsupportedError is a file of a version of the format that this package does not read: earlier than 10, later than 11, or
// with another footer than 3. It wraps shard.ErrUnsupported.
type UnsupportedError = layout.UnsupportedError

// File is a Blockpack file that is open for reading: for questions that package traceql asks again and again. Package
// table asks files of any format, these too, and for more than spans that meet a condition. Many goroutines may use a File at once.
type File struct {
	reader storage.Reader
	table  *read.Table
	o      Options
}

// Open opens a file. It reads the footer and the metadata. The caller must Close the file.
//
// The error wraps [io/fs.ErrNotExist] if there is no such file. Newer versions of the format are errors that name
// them.
func Open(ctx context.Context, location string, o Options) (*File, error) {
	store, err := storage.Of(o.Store, location)
	if err != nil {
		return nil, err
	}
	r, err := store.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	t, err := read.Open(ctx, r, o.read())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &File{r, t, o}, nil
}

// OpenReaderAt is [Open] for the size bytes of r, which stays the caller's, and must neither change nor be closed
// before the file. Errors call it name.
func OpenReaderAt(ctx context.Context, name string, r io.ReaderAt, size int64, o Options) (*File, error) {
	o.Store = storage.FromReaderAt(name, r, size)
	return Open(ctx, name, o)
}

// Close closes the file. All scans must have ended before. Batches stay valid.
func (f *File) Close() error { return f.reader.Close() }

// ArrowSchema is the Arrow schema of a scan of all columns: those of the specification in its order, then attributes by
// name. The metadata of a field has the type of the column ("blockpack.type") and, if the name of the field differs, its
// name ("blockpack.name"). The heads of all blocks of a file are read, unless this package wrote it.
func (f *File) ArrowSchema(ctx context.Context) (*arrow.Schema, error) {
	if err := f.table.Load(ctx); err != nil {
		return nil, err
	}
	return f.table.ArrowSchema(), nil
}

// Scan returns the spans that meet a condition as record batches, in the order of the file. Columns are the names of those of the result, in which
// a dot or a backslash must follow a backslash; nil means all. An unknown name is an error. A batch is valid until the next step of the loop;
// Retain keeps it longer. An error ends the loop. A loop that is left early frees its memory and ends its goroutines.
func (f *File) Scan(ctx context.Context, columns []string, where filter.Expr) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		o, err := f.scan(ctx, columns, where)
		if err != nil {
			yield(nil, err)
			return
		}
		for b, err := range scan.Scan(ctx, f.table, o) {
			if !yield(b.RecordBatch, err) {
				return
			}
		}
	}
}

// scan completes the options of a scan.
func (f *File) scan(ctx context.Context, columns []string, where filter.Expr) (scan.Options, error) {
	o := f.o.scan()
	o.Columns, o.Filter = columns, where.Node()
	return o, f.table.Load(ctx)
}
