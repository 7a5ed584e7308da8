package shard

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/storage"
)

// streamLocation is the location of a shard without a store, also in error messages.
const streamLocation = "stream:///shard"

// OpenReaderAt opens a shard in the first size bytes of r, for example an [os.File] or a
// [bytes.Reader]. The shard must have the layout [SingleFile], because other files are found only
// from a location. r must allow concurrent reads, as [io.ReaderAt] demands, and its bytes must not
// change. [Shard.Close] does not close r. o.Store must be nil.
func OpenReaderAt(ctx context.Context, r io.ReaderAt, size int64, o OpenOptions) (*Shard, error) {
	if o.Store != nil {
		return nil, errors.New("OpenOptions.Store is set, but the shard is read from an io.ReaderAt")
	}
	o.Store = storage.FromReaderAt(streamLocation, r, size)
	return Open(ctx, streamLocation, o)
}

// NewWriter begins a shard of the layout [SingleFile] that is written to out. Unlike [Create] it has
// no final step that makes the shard visible: bytes reach out as they are written. Before Close,
// after Abort and after an error, out holds an incomplete shard, which readers refuse.
// [Writer.Close] does not close out. o.Store must be nil.
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
