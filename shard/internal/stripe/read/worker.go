package read

import (
	"cmp"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
)

// worker is the scratch memory of one goroutine for the time of one read.
type worker struct {
	blocks.Scratch
	options limits
	numeric numeric.Scratch
	bytes   bytestring.Scratch
	codes   []uint32
	words   []uint64
	bits    []byte

	// Of conditions.
	found    []uint64 // a bit per row of a block, as words
	marked   []byte   // the same, as bytes
	held     []byte   // the result of the caller's condition
	selected []byte   // a bit per row that the caller asks about
}

var workers = sync.Pool{New: func() any { return new(worker) }}

// getWorker is a worker for a read of a column. The caller puts it back.
func getWorker(c *Column, o *table.ReadOptions) *worker {
	if o == nil {
		o = &table.ReadOptions{}
	}
	w := workers.Get().(*worker)
	w.options = limits{o.Allocator, cmp.Or(o.MaxArrayBytes, defaultArrayBytes), c.maxBlock}
	if o.Allocator == nil {
		w.options.Allocator = memory.DefaultAllocator
	}
	w.Prefetched = o.Prefetched
	w.Counters, _ = o.Counters.(*blocks.Counters)
	return w
}

// put gives the worker to other reads. It drops the options, which may hold much memory.
func (w *worker) put() {
	w.options, w.Prefetched, w.Counters = limits{}, nil, nil
	workers.Put(w)
}

// limit bounds the memory of arrays.
func (w *worker) limit() build.Limit {
	return build.Limit{Allocator: w.options.Allocator, Bytes: w.options.MaxArrayBytes}
}
