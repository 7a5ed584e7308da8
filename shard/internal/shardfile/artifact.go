package shardfile

import (
	"context"
	"io"
	"path"
	"sync"
	"sync/atomic"
	"time"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/storage"
)

// artifact is an open artifact of a shard, the storage.Reader of its buffers. Its last bytes may be in memory from
// the read that opened it. Reads of these need no request.
type artifact struct {
	url        string
	r          storage.Reader
	base       int64 // where the artifact begins in r
	size       int64
	reads      *reads
	tail       []byte
	tailOff    int64
	other      bool // it is the root of another shard
	headerMu   sync.Mutex
	headerErr  error // error of the header, nil if it is valid
	headerRead bool
}

// open learns the size, over a network with the end: the directory of an index, or descriptors of few columns, as each of many stripes may have an artifact.
func (a *artifact) open(ctx context.Context) (err error) {
	end := 16 << 10
	if path.Ext(a.url) == ".index" {
		end *= 4
	}
	if a.r.Capabilities().Latency == storage.LatencyHigh {
		a.tail, a.size, err = a.r.ReadSuffix(ctx, end)
	} else {
		a.size, err = a.r.Size(ctx)
	}
	a.tailOff = a.size - int64(len(a.tail))
	return err
}

// ReadAt implements storage.Reader. A range past the end is corruption: a reference in the shard has it.
func (a *artifact) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := a.check(off, int64(len(p))); err != nil {
		return err
	}
	if b := a.held(off, int64(len(p))); b != nil {
		copy(p, b)
		return nil
	}
	if ahead := a.reads.ahead.Load(); ahead != nil {
		if b := ahead.Bytes(a, off, int64(len(p))); b != nil {
			copy(p, b)
			return nil
		}
	}
	a.reads.requests.Add(1)
	a.reads.bytes.Add(int64(len(p)))
	defer func(start time.Time) { a.reads.took.Add(int64(time.Since(start))) }(time.Now())
	return fault.Of(a.r.ReadAt(ctx, p, a.base+off), a.Name())
}

// reads counts the reads of a shard, and has what was read ahead.
type reads struct {
	requests, bytes, took atomic.Int64
	ahead                 atomic.Pointer[storage.Prefetched]
}

// Hold has bytes of artifacts at hand for the reads that follow, in place of those of the last call. With nil it lets go of these.
func (f *File) Hold(ahead storage.Prefetched) { f.reads.ahead.Store(&ahead) }

// Reads are requests to storage.
type Reads struct {
	Requests, Bytes int64
	Took            time.Duration // sum of the durations of requests
}

// Reads are the reads of the shard since it was opened, without the first one.
func (f *File) Reads() Reads {
	return Reads{f.reads.requests.Load(), f.reads.bytes.Load(), time.Duration(f.reads.took.Load())}
}

func (a *artifact) check(off, n int64) error {
	if off < 0 || n < 0 || off > a.size || n > a.size-off {
		err := fault.Corruptf("%d bytes from offset %d lie past the end at %d: %w", n, off, a.size, io.ErrUnexpectedEOF)
		return fault.Of(err, a.Name())
	}
	return nil
}

// held returns n bytes at off if they are in memory, else nil.
func (a *artifact) held(off, n int64) []byte {
	if off < a.tailOff || n > int64(len(a.tail)) || off-a.tailOff > int64(len(a.tail))-n {
		return nil
	}
	b := a.tail[off-a.tailOff:]
	return b[:n:n]
}

// read returns the bytes from start up to end, which the caller must not change.
func (a *artifact) read(ctx context.Context, start, end int64) ([]byte, error) {
	if err := a.check(start, end-start); err != nil {
		return nil, err
	}
	if b := a.held(start, end-start); b != nil {
		return b, nil
	}
	return storage.ReadRange(ctx, a, start, end-start)
}

// checkHeader checks the first bytes of the artifact, once. Over a network it does so only if they are in memory, because the footer has
// the same bytes.
func (a *artifact) checkHeader(ctx context.Context) error {
	a.headerMu.Lock()
	defer a.headerMu.Unlock()
	if a.headerRead {
		return a.headerErr
	}
	if a.r.Capabilities().Latency == storage.LatencyHigh && a.held(0, container.MarkSize) == nil {
		return nil
	}
	b, err := a.read(ctx, 0, container.MarkSize)
	if err != nil {
		return err
	}
	_, err = container.CheckMark(b, "header")
	a.headerRead, a.headerErr = true, fault.Of(fault.In(err, "header", 0), a.Name())
	return a.headerErr
}

// ReadSuffix implements storage.Reader.
func (a *artifact) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	b, err := a.read(ctx, max(a.size-int64(max(n, 0)), 0), a.size)
	return b, a.size, err
}

// Size implements storage.Reader.
func (a *artifact) Size(context.Context) (int64, error) { return a.size, nil }

// Version implements storage.Reader.
func (a *artifact) Version(ctx context.Context) (storage.Version, error) {
	v, err := a.r.Version(ctx)
	return v, fault.Of(err, a.Name())
}

// in adds an element at a reference in the artifact to an error.
func (a *artifact) in(err error, element string, ref *commonpb.DataRef) error {
	return fault.Of(fault.In(err, element, int64(ref.GetRange().GetStart())), a.Name())
}

// Name implements storage.Reader.
func (a *artifact) Name() string { return a.r.Name() }

// Doubt adds a hint to an error about the bytes of the root of another shard, which may have changed.
func (a *artifact) Doubt(err error) error {
	if a.other && fault.Is(err) {
		err = advice.WithHint(err, "%s may have been changed since this shard was made of it by reference: amudai merge --own keeps a copy", a.Name())
	}
	return err
}

// Capabilities implements storage.Reader.
func (a *artifact) Capabilities() storage.Capabilities { return a.r.Capabilities() }

// Close does nothing: the shard owns its artifacts.
func (a *artifact) Close() error { return nil }
