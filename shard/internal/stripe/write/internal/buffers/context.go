// Package buffers stages the values of nodes, cuts them into blocks, which several goroutines encode side by side, and collects the blocks of each
// encoded buffer.
package buffers

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/storage"
)

// Context is shared by all node writers of a stripe.
type Context struct {
	Encoding encoding.Options
	Budget   *storage.Budget
	TempDir  string
	Features *FeatureLog
	Mem      memory.Allocator
	History  *History // may be nil
	Pool     *Pool
	Stage    StageSize

	NullsApart   bool // of numbers
	OffsetsApart bool // of byte strings

	// Cut is the number of rows of each block but the last of a DATA buffer, for members of packed groups; 0 where encoders choose.
	Cut int
}

// Plain is arr without dictionary, runs, views or extension; the caller releases it.
func (c *Context) Plain(arr arrow.Array) (arrow.Array, error) {
	return arrowutil.Plain(c.Mem, arr)
}

// InChunks calls f with slices of the plain arr, the first of at most room values and
// the others of at most what a node stages, so that this stays small whatever the
// length of arr.
func (c *Context) InChunks(arr arrow.Array, room int, f func(arrow.Array) error) error {
	arr, err := c.Plain(arr)
	if err != nil {
		return err
	}
	defer arr.Release()
	if arr.Len() <= room {
		return rules.ShiftRows(f(arr), 0)
	}
	for i, n := 0, room; i < arr.Len(); i, n = i+n, c.Stage.Values {
		part := array.NewSlice(arr, int64(i), int64(min(i+n, arr.Len())))
		err := f(part)
		part.Release()
		if err != nil {
			return rules.ShiftRows(err, i)
		}
	}
	return nil
}
