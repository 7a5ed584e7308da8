package inputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

const (
	// tailBytes is what formats with a footer read first. It is read when an input is opened, as its size is needed anyway. Of the only input it is more, which
	// takes as long: the metadata of a wide table with many stripes do not wait for another answer. Of many inputs that would be many bytes.
	tailBytes, onlyTailBytes = 64 << 10, 256 << 10
	// firstWindow is the first read of a stream, lastWindow the largest: a look at the beginning must not read much, and
	// a long stream should wait for few answers.
	firstWindow = 1 << 20
	lastWindow  = 16 << 20
	// partBytes is the most that one request of a stream reads.
	partBytes = 4 << 20
)

// remoteInput reads an artifact of a store. All who read the input share one reader, so that they see one version of the
// artifact. The first request is for so many bytes at the end of the artifact, or if there are none for its size.
func remoteInput(ctx context.Context, location string, tail int, kept *Kept) (provider.Input, error) {
	store, err := storage.ForLocation(location)
	if err != nil {
		return provider.Input{}, err
	}
	if end := kept.find(location, tail); end != nil {
		return end.input(ctx, store, location), nil
	}
	r, err := store.Open(ctx, location)
	if err != nil {
		return provider.Input{}, Missing(location, err)
	}
	if s, ok := r.(storage.Streamer); ok && tail == 0 {
		body, err := s.Stream(ctx)
		if err != nil {
			return provider.Input{}, errors.Join(Missing(location, err), r.Close())
		}
		if body != nil { // as a pipe is
			return provider.Input{Name: storage.Redact(location), Reader: body, Size: -1, Closer: body}, nil
		}
	}
	end := &tailed{Reader: r}
	if tail > 0 {
		end.tail, end.size, err = r.ReadSuffix(ctx, tail)
	} else {
		end.size, err = r.Size(ctx)
	}
	if err != nil {
		return provider.Input{}, errors.Join(Missing(location, err), r.Close())
	}
	end.version, err = r.Version(ctx)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return provider.Input{}, errors.Join(Missing(location, err), r.Close())
	}
	in := end.input(ctx, store, location)
	if !kept.keep(location, end) {
		in.Closer = r
	}
	return in, nil
}

// input is an input without a Closer.
func (t *tailed) input(ctx context.Context, store storage.Store, location string) provider.Input {
	return provider.Input{
		Name: storage.Redact(location), Location: location, Store: pinned{store, location, t}, Version: t.version,
		At: &readerAt{ctx: ctx, r: t}, Size: t.size, Reader: &stream{ctx: ctx, r: t, window: firstWindow},
	}
}

// pinned is a store in which a location has been opened already.
type pinned struct {
	storage.Store
	location string
	r        storage.Reader
}

func (p pinned) Open(ctx context.Context, location string) (storage.Reader, error) {
	if location != p.location && !Same(location, p.location) {
		return p.Store.Open(ctx, location)
	}
	return shared{p.r}, ctx.Err()
}

func (p pinned) OpenIn(ctx context.Context, folder, location string) (storage.Reader, error) {
	return storage.OpenIn(ctx, p.Store, folder, location)
}

// shared is a reader that the input closes.
type shared struct{ storage.Reader }

func (shared) Close() error { return nil }

// tailed is a reader of an artifact whose size is known, and perhaps its end. It keeps the first bytes, too: formats look
// whether they are theirs each time that an input is opened.
type tailed struct {
	storage.Reader
	tail    []byte
	size    int64
	version storage.Version

	mu   sync.Mutex
	head []byte
}

// maxHead is the most first bytes that are kept.
const maxHead = 64

func (t *tailed) Size(ctx context.Context) (int64, error) { return t.size, ctx.Err() }

func (t *tailed) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	if most := int(min(int64(n), t.size)); n > 0 && most <= len(t.tail) {
		return t.tail[len(t.tail)-most:], t.size, ctx.Err()
	}
	return t.Reader.ReadSuffix(ctx, n)
}

func (t *tailed) ReadAt(ctx context.Context, p []byte, off int64) error {
	if start := off - (t.size - int64(len(t.tail))); start >= 0 && start+int64(len(p)) <= int64(len(t.tail)) {
		copy(p, t.tail[start:])
		return ctx.Err()
	}
	if off != 0 || len(p) == 0 || len(p) > maxHead {
		return t.Reader.ReadAt(ctx, p, off)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.head) < len(p) {
		head := make([]byte, len(p))
		if err := t.Reader.ReadAt(ctx, head, 0); err != nil {
			return err
		}
		t.head = head
	}
	copy(p, t.head)
	return ctx.Err()
}

// stream reads an artifact from its start. Windows of it are read in parts at a time.
type stream struct {
	ctx    context.Context
	r      *tailed
	off    int64  // of the next window
	window int64  // its size
	buf    []byte // of the last one
	rest   []byte // of buf, to be read
}

func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 && len(p) > 0 {
		if s.off == s.r.size {
			return 0, io.EOF
		}
		if err := s.fill(); err != nil {
			return 0, fault.NoEOF(err)
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// fill reads the next window.
func (s *stream) fill() error {
	n := min(s.window, s.r.size-s.off)
	if int64(cap(s.buf)) < n {
		s.buf = make([]byte, n)
	}
	s.buf = s.buf[:n]
	parts := int((n + partBytes - 1) / partBytes)
	if err := parallel.Each(s.ctx, parts, parts, func(ctx context.Context, part int) error {
		from := int64(part) * partBytes
		return s.r.ReadAt(ctx, s.buf[from:min(from+partBytes, n)], s.off+from)
	}); err != nil {
		return err
	}
	s.off, s.rest, s.window = s.off+n, s.buf, min(2*s.window, lastWindow)
	return nil
}

// readerAt is an artifact as an io.ReaderAt. It keeps what follows a short read, as most read on from there.
type readerAt struct {
	ctx context.Context
	r   *tailed

	mu   sync.Mutex
	kept []byte
	off  int64 // of kept
}

func (r *readerAt) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= r.r.size {
		return 0, io.EOF
	}
	return readAt(p, off, r.r.size, func(p []byte) error { return r.read(p, off) })
}

func (r *readerAt) read(p []byte, off int64) error {
	if len(p) >= firstWindow {
		return r.r.ReadAt(r.ctx, p, off)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if off < r.off || off+int64(len(p)) > r.off+int64(len(r.kept)) {
		n := int(min(firstWindow, r.r.size-off))
		if cap(r.kept) < n {
			r.kept = make([]byte, n)
		}
		r.kept, r.off = r.kept[:n], off
		if err := r.r.ReadAt(r.ctx, r.kept, off); err != nil {
			r.kept = r.kept[:0]
			return err
		}
	}
	copy(p, r.kept[off-r.off:])
	return nil
}

// Head returns the first n bytes of a location, or all.
func Head(ctx context.Context, location string, n int) (head []byte, err error) {
	if IsDevice(location) {
		return nil, fmt.Errorf("%s can be read only once", location)
	}
	in, err := open(ctx, location, nil, 0, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if in.At != nil && in.Size >= 0 {
		head = make([]byte, min(int64(n), in.Size))
		if remote, ok := in.At.(*readerAt); ok {
			return head, Missing(location, remote.r.ReadAt(ctx, head, 0)) // no more than these
		}
		_, err = in.At.ReadAt(head, 0)
	} else {
		head, err = io.ReadAll(io.LimitReader(in.Reader, int64(n)))
	}
	if err == io.EOF {
		err = nil
	}
	return head, err
}
