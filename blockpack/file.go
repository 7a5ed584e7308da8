package blockpack

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/storage"
)

// Options are the options of [Open] and [OpenReaderAt]. The zero value is the default.
type Options struct {
	// Store holds the file. The default is the registered store of the location.
	Store storage.Store
	// Binary reads strings as binary. By default they are strings, and a value that is not UTF-8 is an error.
	Binary bool
	// Dictionaries reads columns of strings as dictionaries of uint32 codes.
	Dictionaries bool
	// RawTimes reads times and durations as the uint64 numbers of nanoseconds that are stored. By default they are
	// timestamps and durations, unless the file has a time that does not fit.
	RawTimes bool
	// Events reads span:events and span:links as lists of structs. By default they are binary as stored: a
	// protobuf Span that has only these fields.
	Events bool
	// RangeIndex says when to believe the range index of a file.
	RangeIndex RangeIndexUse
	// SuffixBytes is the number of bytes at the end of the file that the first request reads. By default it is
	// 64 KiB, or 1 MiB for stores of high latency.
	SuffixBytes int
	// CacheBytes bounds the decoded columns that are kept for later reads and, separately, the heads of blocks, by
	// default 64 MiB each.
	CacheBytes int64
	// MaxMetadataBytes bounds the metadata section, by default 100 MiB.
	MaxMetadataBytes int64
}

// RangeIndexUse says when to skip blocks because of the range index of a file. Those of the reference implementation
// may leave out blocks that have a value.
type RangeIndexUse = read.RangeIndexUse

// The uses of a range index.
const (
	// RangeIndexVerify believes the index of files written by this package. In other files it believes an entry only if
	// the file shows that it cannot be wrong. It is the default.
	RangeIndexVerify = read.RangeIndexVerify
	// RangeIndexTrust believes the index of every file.
	RangeIndexTrust = read.RangeIndexTrust
	// RangeIndexOff ignores the index.
	RangeIndexOff = read.RangeIndexOff
)

func (o *Options) read() read.Options {
	return read.Options{
		Binary: o.Binary, Dictionaries: o.Dictionaries, RawTimes: o.RawTimes, Events: o.Events, RangeIndex: o.RangeIndex,
		SuffixBytes: o.SuffixBytes, CacheBytes: o.CacheBytes, MaxMetadataBytes: o.MaxMetadataBytes,
	}
}

// UnsupportedError is a file of a version of the format that this package does not read: earlier than 10, later than 11, or
// with another footer than 3. It wraps shard.ErrUnsupported.
type UnsupportedError = layout.UnsupportedError

// File is a Blockpack file that is open for reading. Many goroutines may use it at once.
type File struct {
	reader storage.Reader
	table  *read.Table
}

// Open opens a file. It reads the footer and, if it is short, the compact index in front of it. The caller must Close the file.
//
// The error wraps [io/fs.ErrNotExist] if there is no such file. Newer versions of the format are errors that name
// them.
func Open(ctx context.Context, location string, o Options) (*File, error) {
	store := o.Store
	if store == nil {
		var err error
		if store, err = storage.ForLocation(location); err != nil {
			return nil, err
		}
	}
	r, err := store.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	t, err := read.Open(ctx, r, o.read())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &File{r, t}, nil
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

// NumSpans is the number of spans.
func (f *File) NumSpans(ctx context.Context) (int64, error) {
	if err := f.table.LoadBlocks(ctx); err != nil {
		return 0, err
	}
	return f.table.NumRows(), nil
}

// Layout names the variant of the format: "v11 (2026-02-26)".
func (f *File) Layout(ctx context.Context) (string, error) {
	if err := f.table.LoadBlocks(ctx); err != nil {
		return "", err
	}
	return f.table.Layout(), nil
}

// Version is the version of the file header.
func (f *File) Version(ctx context.Context) (int, error) {
	if err := f.table.LoadBlocks(ctx); err != nil {
		return 0, err
	}
	return f.table.Version(), nil
}

// Writer is the program that wrote the file, if it left its name, as this package does, else "".
func (f *File) Writer(ctx context.Context) (string, error) {
	if err := f.table.LoadBlocks(ctx); err != nil {
		return "", err
	}
	return f.table.Writer(), nil
}

// Block describes a block: a group of spans that are stored together.
type Block = read.BlockInfo

// Blocks are the blocks in the order of the file.
func (f *File) Blocks(ctx context.Context) ([]Block, error) {
	if err := f.table.LoadBlocks(ctx); err != nil {
		return nil, err
	}
	return f.table.Blocks(), nil
}
