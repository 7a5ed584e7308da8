// Package work has the memory of reads in progress, the limits of their results, and the buffers that nodes of different kinds have in common:
// bits and offsets.
package work

import (
	"cmp"
	"context"
	"math"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/storage"
)

// Limits are the limits of a read.
type Limits struct {
	Allocator memory.Allocator // of the returned arrays
	// MaxArrayBytes bounds the values of one returned array or child array;
	// beyond it reading fails with [fault.ErrBatchTooLarge]. Constants
	// and nulls that take no bytes in the file get a quarter of that at most.
	MaxArrayBytes int64
	// MaxBlockBytes bounds the decoded size of one block; 0 means 64 MiB, for blocks of more than 256 KiB 256 times their size, and
	// never more than 1 GiB.
	MaxBlockBytes int64
}

// defaultArrayBytes is the default of Limits.MaxArrayBytes.
const defaultArrayBytes = 1 << 30

// Values without bytes in the file have limits of their own: a constant, a run or a bomb of a few bytes could take
// any amount of memory.
const (
	// maxFree bounds an array of constants or nulls that take no bytes at all.
	maxFree = 256 << 20
	// smallBlock is the size that any block may decode to, and expansion how many times
	// its size a larger one, unless Limits.MaxBlockBytes says otherwise.
	smallBlock = 64 << 20
	expansion  = 256
)

// BlockBytes is the size that a block of size bytes may decode to.
func (o *Limits) BlockBytes(size int) int64 {
	if o.MaxBlockBytes > 0 {
		return o.MaxBlockBytes
	}
	return min(max(smallBlock, expansion*int64(size)), blocks.Largest)
}

// CheckItems checks that an array may have n items below it. Each takes a bit at
// least, most take bytes, which readers of those count themselves.
func (o *Limits) CheckItems(n int64) error {
	if n < 0 || n > o.MaxArrayBytes || n > math.MaxInt {
		return fault.ErrBatchTooLarge
	}
	return nil
}

// CheckFree checks that n values of which the file holds no bytes may take size
// bytes each.
func (o *Limits) CheckFree(n, size int64) error {
	if n > min(o.MaxArrayBytes, maxFree)/max(size, 1) {
		return fault.ErrBatchTooLarge
	}
	return nil
}

// Worker is the scratch memory of one goroutine for the time of one read.
type Worker struct {
	blocks.Scratch
	Limits  Limits
	Numeric numeric.Scratch
	Bytes   bytestring.Scratch
	Codes   []uint32
	Words   []uint64
	Bits    []byte

	// Of conditions.
	Found    []uint64 // a bit per row of a block, as words
	Marked   []byte   // the same, as bytes
	Sure     []byte   // bits of values for which a condition is true whatever their fields are
	Held     []byte   // the result of the caller's condition
	Selected []byte   // a bit per row that the caller asks about
}

var workers = sync.Pool{New: func() any { return new(Worker) }}

// Get is a worker for a read whose blocks decode to maxBlock bytes at most, or to the default of [Limits] if that is 0. The caller puts it back.
func Get(maxBlock int64, o *table.ReadOptions) *Worker {
	if o == nil {
		o = &table.ReadOptions{}
	}
	w := workers.Get().(*Worker)
	w.Limits = Limits{o.Allocator, cmp.Or(o.MaxArrayBytes, defaultArrayBytes), maxBlock}
	if o.Allocator == nil {
		w.Limits.Allocator = memory.DefaultAllocator
	}
	w.Prefetched = o.Prefetched
	w.Counters, _ = o.Counters.(*blocks.Counters)
	return w
}

// Put gives the worker to other reads. It drops the options, which may hold much memory.
func (w *Worker) Put() {
	w.Limits, w.Prefetched, w.Counters, w.Known = Limits{}, nil, nil, nil
	workers.Put(w)
}

// Limit bounds the memory of arrays.
func (w *Worker) Limit() build.Limit {
	return build.Limit{Allocator: w.Limits.Allocator, Bytes: w.Limits.MaxArrayBytes}
}

// Free reads a node by repeating a value, or null, that takes no bytes in the file.
type Free struct {
	size int64 // of a value
	fill func(mem memory.Allocator, n int) (arrow.Array, error)
}

// Constant repeats the value of an array of one.
func Constant(one arrow.Array) *Free {
	r := &Free{size: 16, fill: func(mem memory.Allocator, n int) (arrow.Array, error) { return arrowutil.Repeat(mem, one, n) }}
	for _, b := range one.Data().Buffers() {
		if b != nil {
			r.size += int64(b.Len())
		}
	}
	return r
}

// Nulls repeats a null of a type.
func Nulls(dt arrow.DataType) *Free {
	return &Free{build.NullBytes(dt), func(mem memory.Allocator, n int) (arrow.Array, error) { return arrowutil.Nulls(mem, dt, n), nil }}
}

// Need calls add for no bytes.
func (r *Free) Need(*Worker, rowset.Set, func(storage.ByteRange)) {}

// Read repeats the value for rows.
func (r *Free) Read(_ context.Context, w *Worker, rows rowset.Set) (arrow.Array, error) {
	if err := w.Limits.CheckFree(rows.Len(), r.size); err != nil {
		return nil, err
	}
	return r.fill(w.Limits.Allocator, int(rows.Len()))
}
