package share

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

const (
	// unit is what the places and sizes of regions are multiples of.
	unit = 2 << 20
	// ahead is the number of streams that the other process has not taken over yet.
	ahead = 3
)

// errGone says that the other process has ended.
var errGone = errors.New("nobody reads the shared memory any more")

// regions are the parts of the shared memory.
type regions struct {
	data    *os.File
	mu      sync.Mutex
	end     int64             // of all regions
	all     map[int64]*region // by their offsets
	free    []*region         // those whose bytes may be overwritten
	printed int               // those that were not taken over
	gone    error
	changed chan struct{}
}

func newRegions(data *os.File) *regions {
	return &regions{data: data, all: map[int64]*region{}, changed: make(chan struct{}, 1)}
}

// take waits until the other process has taken over enough, and returns a region of at least n bytes.
func (r *regions) take(ctx context.Context, n int64) (*region, error) {
	for {
		if g, err := r.try(n); g != nil || err != nil {
			return g, err
		}
		select {
		case <-r.changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (r *regions) try(n int64) (*region, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone != nil {
		return nil, r.gone
	}
	if r.printed == ahead {
		return nil, nil
	}
	r.printed++
	// The smallest that suffices, unless most of it would be idle.
	best := -1
	for i, g := range r.free {
		if g.size >= n && g.size <= 4*n+unit && (best < 0 || g.size < r.free[best].size) {
			best = i
		}
	}
	if best >= 0 {
		g := r.free[best]
		r.free = slices.Delete(r.free, best, best+1)
		return g, g.reuse()
	}
	g := &region{data: r.data, offset: r.end, size: (n + unit - 1) / unit * unit}
	r.end += g.size
	r.all[g.offset] = g
	return g, r.data.Truncate(r.end)
}

// receive reads what the other process returns until that ends.
func (r *regions) receive(returns io.Reader) error {
	var number [8]byte
	for {
		if _, err := io.ReadFull(returns, number[:]); err != nil {
			return err
		}
		if err := r.answered(int64(binary.LittleEndian.Uint64(number[:]))); err != nil {
			return err
		}
	}
}

// answered takes note of an answer.
func (r *regions) answered(number int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.all[number&^1]
	switch {
	case g == nil || slices.Contains(r.free, g):
		return fmt.Errorf("%d is no region of the shared memory", number)
	case number != g.offset:
		r.free = append(r.free, g)
	case r.printed == 0:
		return fmt.Errorf("%d was taken over already", number)
	default:
		r.printed--
	}
	r.wake()
	return nil
}

// leave says why nothing is received any more.
func (r *regions) leave(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone = errGone; !errors.Is(err, io.EOF) {
		r.gone = fmt.Errorf("shared memory: %w", err)
	}
	r.wake()
}

func (r *regions) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// region is a part of the shared memory, and the output to it.
type region struct {
	data         *os.File
	offset, size int64
	at           int64  // of the next byte, in the region
	mapped       []byte // nil as long as it is written for the first time: the kernel need not clear its pages then
}

// reuse prepares the region for other bytes.
func (g *region) reuse() (err error) {
	g.at = 0
	if g.mapped == nil {
		if g.mapped, err = mapFile(g.data, g.offset, int(g.size)); err != nil {
			return fmt.Errorf("map shared memory: %w", err)
		}
	}
	return nil
}

// Write implements [table.Output].
func (g *region) Write(_ context.Context, p []byte) error {
	at := g.at
	if g.at += int64(len(p)); g.at > g.size {
		return io.ErrShortBuffer
	}
	if g.mapped != nil {
		copy(g.mapped[at:], p)
		return nil
	}
	_, err := g.data.WriteAt(p, g.offset+at)
	return err
}

// Publish implements [table.Output].
func (*region) Publish(context.Context) error { return nil }

// Abort implements [table.Output].
func (*region) Abort(context.Context) error { return nil }
