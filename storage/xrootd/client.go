package xrootd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// client is the [object.Source] of a location. It has one connection. Reads that come while it is busy wait, and are sent together then, by the first
// of them, as a vector read.
type client struct {
	o       Options
	address address

	mu      sync.Mutex
	waiting []*read
	busy    bool // a read leads: it has the connection

	conn *conn // of the read that leads; nil until it is open
}

// read is a range of a file that is wanted.
type read struct {
	off, n  int64
	lead    chan struct{} // closed when the read is to lead
	done    chan struct{} // closed when content and err are set
	content object.Content
	err     error
}

const (
	maxTogether = 512     // reads of a request
	maxVector   = 2 << 20 // bytes of a part of a vector read, with some room to the limit of servers
	maxRead     = 8 << 20 // bytes of an answer
)

// Head implements [object.Source].
func (c *client) Head(ctx context.Context, _ string) (object.Properties, error) {
	content, err := c.Get(ctx, "", 0, 0, "")
	return content.Properties, err
}

// Get implements [object.Source].
func (c *client) Get(ctx context.Context, _ string, off, n int64, v storage.Version) (object.Content, error) {
	if off < 0 {
		return object.Content{}, errors.ErrUnsupported
	}
	r := &read{off: off, n: min(n, maxRead), lead: make(chan struct{}), done: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, r)
	if !c.busy {
		c.busy = true
		close(r.lead)
	}
	c.mu.Unlock()
	select {
	case <-r.lead:
		c.leads(ctx, r)
	case <-r.done:
	case <-ctx.Done():
		c.leave(r)
		return object.Content{}, ctx.Err()
	}
	if r.err == nil && v != "" && v != r.content.Version {
		r.err = object.ErrCondition
	}
	return r.content, r.err
}

// leave takes a read whose context has ended off the list. If it was asked to lead meanwhile, the next one is.
func (c *client) leave(r *read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range c.waiting {
		if w == r {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			break
		}
	}
	select {
	case <-r.lead:
		c.next()
	default:
	}
}

// next has the first of the waiting reads lead.
func (c *client) next() {
	if c.busy = len(c.waiting) > 0; c.busy {
		close(c.waiting[0].lead)
	}
}

// leads sends the waiting reads, of which r is the first.
func (c *client) leads(ctx context.Context, r *read) {
	c.mu.Lock()
	n, bytes := 0, int64(0)
	for n < len(c.waiting) && n < maxTogether && (n == 0 || bytes+c.waiting[n].n <= maxRead) {
		bytes += c.waiting[n].n
		n++
	}
	all := c.waiting[:n:n]
	c.waiting = append([]*read(nil), c.waiting[n:]...)
	c.mu.Unlock()

	err := c.send(ctx, all)
	for _, one := range all {
		if one.err = err; one.err != nil && one != r && ctx.Err() != nil { // the context of another one
			one.err = object.Transient(fmt.Errorf("the connection ended: %w", io.ErrUnexpectedEOF))
		}
		close(one.done)
	}
	c.mu.Lock()
	c.next()
	c.mu.Unlock()
}

// send reads ranges by the connection, which it opens if there is none.
func (c *client) send(ctx context.Context, all []*read) (err error) {
	if c.conn == nil {
		if c.conn, err = open(ctx, c.o, c.address); err != nil {
			return err
		}
	}
	parts := make([]part, len(all))
	for i, r := range all {
		parts[i] = part{off: r.off, n: int(r.n)}
	}
	info, err := c.conn.read(ctx, parts)
	if err != nil { // what the server would send next is not known
		err = errors.Join(err, c.close())
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return err
	}
	for i, r := range all {
		r.content = object.Content{Properties: info, Offset: r.off, Body: io.NopCloser(bytes.NewReader(parts[i].bytes))}
	}
	return nil
}

// close ends the connection.
func (c *client) close() error {
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn = nil
	return err
}
