// Package stripe turns Arrow arrays into the encoded buffers of one stripe, and
// back. A stripe is a tree of nodes of the same shape as the schema; each kind
// of node has one file for writing (write_*.go) and one for reading
// (read_*.go). Which node has which buffers: docs/format.md §5.
//
// The package knows nothing of files: a [Writer] yields buffers that its caller
// places, and a [Column] asks its [Source] for descriptors and bytes.
package stripe

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/storage"
)

// Buffer is one encoded buffer of a node, complete but not yet placed in an
// artifact: its DataRefs are unset.
type Buffer struct {
	Desc      *shardpb.EncodedBuffer // kind, flags and number of blocks
	Data      *storage.Spool         // blocks, padding and block map; owned by the [Finished] stripe
	MapOffset int64                  // where the block map starts in Data, -1 if the buffer has none
}

// Node is the result of one schema node.
type Node struct {
	ID      uint32                   // schema id
	Field   *shardpb.FieldDescriptor // statistics, constant, dictionary size
	Buffers []Buffer                 // in the order to write them
}

// Finished is a complete stripe. Nodes stand in the order in which their
// buffers are written: children before their parent (docs/format.md §2.6).
type Finished struct {
	Rows     int64       // records
	RawBytes uint64      // sum of the nodes' raw_data_size
	Features edition.Set // beyond the reference, that are really used
	Nodes    []Node      // one for each schema node
}

// Release drops the staged bytes of all buffers, and their temporary files.
func (f *Finished) Release() {
	for i := range f.Nodes {
		for _, b := range f.Nodes[i].Buffers {
			b.Data.Close()
		}
		f.Nodes[i].Buffers = nil
	}
}

// Options are those of a [Writer].
type Options struct {
	Encoding    encoding.Options // profile and features; NoPresence is set where it belongs
	Parallelism int              // columns, and pieces of them, encoded at a time; 0 means GOMAXPROCS
	Budget      *storage.Budget  // of staged bytes; beyond it buffers spill to temporary files
	TempDir     string           // of those files; empty means the system's
	Allocator   memory.Allocator // for conversions of arrays; nil means the default
	Memory      *Memory          // of the stripes before; nil for none
}

// Source gives a [Column] what it reads: the stripe's descriptors and the
// artifacts that they refer to. It must be safe for concurrent use.
type Source interface {
	// Rows is the number of records of the stripe.
	Rows() int64
	// Descriptor is the stripe's descriptor of a schema id, or nil if the stripe lacks the field: all its values are null.
	Descriptor(ctx context.Context, id uint32) (*shardpb.StripeFieldDescriptor, error)
	// Artifact opens the artifact that ref, found in the descriptor of id, points into. The caller does not close it.
	Artifact(ctx context.Context, id uint32, ref *commonpb.DataRef) (storage.Reader, error)
}

// ReadOptions are those of a [Column].
type ReadOptions struct {
	Allocator memory.Allocator // of the returned arrays; nil means the default
	// MaxBlockBytes bounds the decoded size of one block; beyond it reading fails
	// with an error that wraps fault.ErrLimit. Zero means 64 MiB, for blocks of
	// more than 256 KiB 256 times their size, and never more than 1 GiB.
	// MaxDictionaryBytes bounds a value dictionary; zero means 1 GiB.
	MaxBlockBytes      int64
	MaxDictionaryBytes int64
	// MaxArrayBytes bounds the values of one returned array or child array;
	// beyond it reading fails with [ErrBatchTooLarge]. Zero means 1 GiB. Constants
	// and nulls that take no bytes in the file get a quarter of that at most.
	MaxArrayBytes int64
	// Counters are added to by reads, if they are not nil.
	Counters *Counters
	// Prefetched has bytes that were read before, for several columns at once; others
	// are read when they are needed.
	Prefetched storage.Prefetched
}

// Counters count what reads of columns did. They may be added to by several
// goroutines.
type Counters struct {
	Blocks atomic.Int64 // that were read
	Bytes  atomic.Int64 // of these blocks
	Whole  atomic.Int64 // those of which all values were wanted
	Values atomic.Int64 // that were wanted

	mu   sync.Mutex
	seen map[place]struct{} // blocks that were read
}

// place is where a block lies.
type place struct {
	r      storage.Reader
	offset int64
}

// Distinct is the number of blocks that were read, however often.
func (c *Counters) Distinct() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.seen))
}

func (o *ReadOptions) setDefaults() {
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	if o.MaxDictionaryBytes == 0 {
		o.MaxDictionaryBytes = 1 << 30
	}
	if o.MaxArrayBytes == 0 {
		o.MaxArrayBytes = 1 << 30
	}
}

// ErrBatchTooLarge says that a range of rows does not fit one array: its
// strings or items need more than 32-bit offsets, or more memory than
// [ReadOptions] allow. Fewer rows at a time may fit.
var ErrBatchTooLarge = fmt.Errorf("%w: batch too large, read fewer rows at a time", fault.ErrLimit)
