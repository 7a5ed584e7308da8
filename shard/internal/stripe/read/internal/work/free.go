package work

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/storage"
)

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
