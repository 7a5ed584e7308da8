package object

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/amudai/amudai-go/storage"
)

// Reader is a [storage.Reader] of one version of an object: that of the first answer, which is a condition of all other requests.
type Reader struct {
	from  Source
	retry Retry
	pace  *Pace
	key   string
	name  string // location, for messages

	mu    sync.Mutex
	known Properties // Version is empty until the first answer
}

// NewReader returns a reader of an object, which its location names in messages. It sends no request. Readers of a store have one pace.
func NewReader(from Source, retry Retry, pace *Pace, key, location string) *Reader {
	return &Reader{from: from, retry: retry, pace: pace, key: key, name: storage.Redact(location)}
}

// Name implements [storage.Reader].
func (r *Reader) Name() string { return r.name }

// Close implements [storage.Reader].
func (r *Reader) Close() error { return nil }

// Capabilities implements [storage.Reader].
func (r *Reader) Capabilities() storage.Capabilities {
	return storage.Capabilities{Latency: storage.LatencyHigh}
}

// Do sends a request as [Retry.Do] does, and names the object in its error.
func (r *Reader) Do(ctx context.Context, f func(context.Context) error) error {
	return named(r.name, r.retry.Do(ctx, f))
}

func (r *Reader) properties() Properties {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}

// Pin remembers the version of the first answer, and compares those of later ones with it.
func (r *Reader) Pin(p Properties) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known.Version == "" {
		r.known = p
	}
	if r.known.Version != p.Version || r.known.Size != p.Size {
		return storage.ErrChanged
	}
	return nil
}

// Size implements [storage.Reader].
func (r *Reader) Size(ctx context.Context) (int64, error) {
	err := r.head(ctx)
	return r.properties().Size, named(r.name, err)
}

// Version implements [storage.Reader].
func (r *Reader) Version(ctx context.Context) (storage.Version, error) {
	err := r.head(ctx)
	return r.properties().Version, named(r.name, err)
}

// head asks for the properties if they are unknown.
func (r *Reader) head(ctx context.Context) error {
	if r.properties().Version != "" {
		return nil
	}
	return r.compare(ctx)
}

// compare asks for the properties, and fails if the object is not the one that was read.
func (r *Reader) compare(ctx context.Context) error {
	return r.retry.Do(ctx, func(ctx context.Context) error {
		p, err := r.from.Head(ctx, r.key)
		if err != nil {
			return err
		}
		return r.Pin(p)
	})
}

// ReadAt implements [storage.Reader].
func (r *Reader) ReadAt(ctx context.Context, p []byte, off int64) error {
	size := r.properties().Size
	if r.properties().Version == "" {
		size = 1<<63 - 1 // the server checks
	}
	if err := storage.CheckRange(off, int64(len(p)), size); err != nil {
		return named(r.name, err)
	}
	for done := 0; done < len(p); { // an answer that breaks off is continued
		n, err := r.fetch(ctx, p[done:], off+int64(done))
		if err != nil {
			return named(r.name, err)
		}
		done += n
	}
	return ctx.Err()
}

// fetch reads as many bytes from offset off on into p as arrive.
func (r *Reader) fetch(ctx context.Context, p []byte, off int64) (n int, err error) {
	err = r.retry.Do(ctx, func(ctx context.Context) error {
		c, err := r.get(ctx, off, int64(len(p)))
		if err != nil {
			return err
		}
		defer c.Body.Close()
		if err := storage.CheckRange(off, int64(len(p)), c.Size); err != nil {
			return err
		}
		if c.Offset != off {
			return fmt.Errorf("the server sent bytes from %d instead of those from %d", c.Offset, off)
		}
		if n, err = ReadFull(ctx, c.Body, p); err != nil && n == 0 {
			return Transient(err)
		}
		return nil
	})
	if errors.Is(err, ErrRange) {
		if err = r.compare(ctx); err == nil {
			err = storage.CheckRange(off, int64(len(p)), r.properties().Size)
		}
		if err == nil {
			err = ErrRange // although the object is large enough
		}
	}
	return n, err
}

// get requests a range of the version that the reader is pinned to.
func (r *Reader) get(ctx context.Context, off, n int64) (Content, error) {
	get, v := r.from.Get, r.properties().Version
	if v != "" && storage.Hedges(ctx) {
		get = func(ctx context.Context, _ string, off, n int64, v storage.Version) (Content, error) {
			return r.getAgain(ctx, off, n, v)
		}
	}
	c, err := get(ctx, r.key, off, n, v)
	if errors.Is(err, ErrCondition) {
		return c, storage.ErrChanged
	}
	if err != nil {
		return c, err
	}
	if err := r.Pin(c.Properties); err != nil {
		return c, errors.Join(err, c.Body.Close())
	}
	return c, nil
}

// ReadSuffix implements [storage.Reader].
func (r *Reader) ReadSuffix(ctx context.Context, n int) (tail []byte, size int64, err error) {
	n = max(n, 1) // a suffix of no bytes is no valid range
	err = r.retry.Do(ctx, func(ctx context.Context) error {
		c, err := r.get(ctx, -1, int64(n))
		if err != nil {
			return err
		}
		defer c.Body.Close()
		size = c.Size
		tail = make([]byte, min(int64(n), size))
		if c.Offset != size-int64(len(tail)) {
			return fmt.Errorf("the server sent bytes from %d instead of the last %d", c.Offset, n)
		}
		if _, err = ReadFull(ctx, c.Body, tail); err != nil {
			return Transient(err)
		}
		return nil
	})
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, ErrRange) {
		return tail, size, named(r.name, err)
	}
	// An empty object has no ranges; without suffix ranges it takes two requests.
	if size, err = r.Size(ctx); err != nil {
		return nil, 0, err
	}
	tail = make([]byte, min(int64(n), size))
	return tail, size, r.ReadAt(ctx, tail, size-int64(len(tail)))
}
