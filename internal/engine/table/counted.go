package table

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/amudai/amudai-go/storage"
)

// Counted is a reader of the bytes of a table that counts its requests.
type Counted struct {
	storage.Reader
	n, bytes, took atomic.Int64
}

// ReadAt implements [storage.Reader].
func (c *Counted) ReadAt(ctx context.Context, p []byte, off int64) error {
	defer c.add(len(p), time.Now())
	return c.Reader.ReadAt(ctx, p, off)
}

// ReadSuffix implements [storage.Reader].
func (c *Counted) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	begin := time.Now()
	tail, size, err := c.Reader.ReadSuffix(ctx, n)
	c.add(len(tail), begin)
	return tail, size, err
}

func (c *Counted) add(bytes int, begin time.Time) {
	c.n.Add(1)
	c.bytes.Add(int64(bytes))
	c.took.Add(int64(time.Since(begin)))
}

// Requests are those so far.
func (c *Counted) Requests() Requests {
	return Requests{N: c.n.Load(), Bytes: c.bytes.Load(), Took: time.Duration(c.took.Load())}
}
