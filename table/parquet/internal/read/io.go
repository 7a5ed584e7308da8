package read

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// readerAt is the file as arrow-go reads it, which passes no context. A read of bytes within a window has its context
// and its prefetched bytes.
type readerAt struct {
	reader  storage.Reader
	mu      sync.Mutex
	windows []*window
}

// window is a range of bytes that a call reads.
type window struct {
	ctx      context.Context
	have     storage.Prefetched
	from, to int64
}

// open adds a window. The caller calls close when it has read.
func (r *readerAt) open(w *window) (close func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.windows = append(r.windows, w)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.windows = slices.DeleteFunc(r.windows, func(o *window) bool { return o == w })
	}
}

func (r *readerAt) find(from, to int64) (context.Context, storage.Prefetched) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.windows {
		if w.from <= from && to <= w.to && w.ctx.Err() == nil {
			return w.ctx, w.have
		}
	}
	for _, w := range r.windows {
		if w.from <= from && from <= w.to {
			return w.ctx, w.have
		}
	}
	return context.Background(), nil
}

func (r *readerAt) ReadAt(p []byte, off int64) (int, error) {
	ctx, have := r.find(off, off+int64(len(p)))
	if b := have.Bytes(r.reader, off, int64(len(p))); b != nil {
		return copy(p, b), nil
	}
	if err := r.reader.ReadAt(ctx, p, off); err != nil {
		return 0, fault.NoEOF(err)
	}
	return len(p), nil
}

var _ io.ReaderAt = (*readerAt)(nil)
