// Package read turns the encoded buffers of a stripe into Arrow arrays. Each kind of
// node has its file. A [Column] reads any set of rows, tells which bytes of storage that
// takes, and finds rows by conditions on encoded values.
package read

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/storage"
)

// Options are the options of [OpenColumn].
type Options struct {
	// MaxBlockBytes bounds the decoded size of one block; beyond it reading fails
	// with an error that wraps fault.ErrLimit. Zero means 64 MiB, for blocks of
	// more than 256 KiB 256 times their size, and never more than 1 GiB.
	// MaxDictionaryBytes bounds a value dictionary; zero means 1 GiB.
	MaxBlockBytes      int64
	MaxDictionaryBytes int64
	// Prefetched has bytes that were read before, for several columns at once; others
	// are read when they are needed. An open column does not keep them.
	Prefetched storage.Prefetched
}

// limits are the limits of a read.
type limits struct {
	Allocator memory.Allocator // of the returned arrays
	// MaxArrayBytes bounds the values of one returned array or child array;
	// beyond it reading fails with [fault.ErrBatchTooLarge]. Constants
	// and nulls that take no bytes in the file get a quarter of that at most.
	MaxArrayBytes int64
	MaxBlockBytes int64 // of Options
}

// defaultArrayBytes is the default of limits.MaxArrayBytes.
const defaultArrayBytes = 1 << 30

// Values without bytes in the file have limits of their own: a constant, a run or a bomb of a few bytes could take
// any amount of memory.
const (
	// maxFree bounds an array of constants or nulls that take no bytes at all.
	maxFree = 256 << 20
	// smallBlock is the size that any block may decode to, and expansion how many times
	// its size a larger one, unless Options.MaxBlockBytes says otherwise.
	smallBlock = 64 << 20
	expansion  = 256
)

// blockBytes is the size that a block of size bytes may decode to.
func (o *limits) blockBytes(size int) int64 {
	if o.MaxBlockBytes > 0 {
		return o.MaxBlockBytes
	}
	return min(max(smallBlock, expansion*int64(size)), blocks.Largest)
}

// checkItems checks that an array may have n items below it. Each takes a bit at
// least, most take bytes, which readers of those count themselves.
func (o *limits) checkItems(n int64) error {
	if n < 0 || n > o.MaxArrayBytes || n > math.MaxInt {
		return fault.ErrBatchTooLarge
	}
	return nil
}

// checkFree checks that n values of which the file holds no bytes may take size
// bytes each.
func (o *limits) checkFree(n, size int64) error {
	if n > min(o.MaxArrayBytes, maxFree)/max(size, 1) {
		return fault.ErrBatchTooLarge
	}
	return nil
}
