package shard

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/storage"
)

// streamLocation stands for a shard without a store, in messages too.
const streamLocation = "stream:///shard"

// OpenReaderAt opens a shard of the single-file layout from the size bytes of r, an open
// file or a bytes.Reader for example. r stays the caller's, must not change, and must
// allow reads by several goroutines at once. o.Store must be nil. References to other
// files fail: those of a shard of two levels are found only from a location.
func OpenReaderAt(ctx context.Context, r io.ReaderAt, size int64, o OpenOptions) (*Shard, error) {
	if o.Store != nil {
		return nil, errors.New("OpenOptions.Store is set, but the shard is read from an io.ReaderAt")
	}
	o.Store = storage.FromReaderAt(streamLocation, r, size)
	return Open(ctx, streamLocation, o)
}

// NewWriter begins a shard of the single-file layout that is written to out. It is
// [Create] without a store: bytes are in out as they are written, so that there is no
// single step at which the shard appears. Before Close, after Abort and after an error
// out holds a shard without an end, which readers refuse. o.Store must be nil.
func NewWriter(ctx context.Context, out io.Writer, s *arrow.Schema, o WriterOptions) (*Writer, error) {
	switch {
	case o.Store != nil:
		return nil, errors.New("WriterOptions.Store is set, but the shard is written to an io.Writer")
	case o.Layout != SingleFile:
		return nil, errors.New("WriterOptions.Layout must be SingleFile to write to an io.Writer")
	}
	o.Store = storage.ToWriter(streamLocation, out)
	return Create(ctx, streamLocation, s, o)
}
