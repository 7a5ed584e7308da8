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

// openObject opens an artifact of a store. All who read it share one reader, so that they see one version of the
// artifact. The first request is for so many bytes at its end, or if there are none for its size.
func openObject(ctx context.Context, location string, tail int) (*artifact, error) {
	store, err := storage.ForLocation(location)
	if err != nil {
		return nil, err
	}
	r, err := store.Open(ctx, location)
	if err != nil {
		return nil, Missing(location, err)
	}
	a := &artifact{Reader: r, store: store, location: location}
	if err = a.begin(ctx, tail); err != nil {
		return nil, errors.Join(Missing(location, err), a.Close())
	}
	return a, nil
}

// begin sends the first request.
func (a *artifact) begin(ctx context.Context, tail int) (err error) {
	if s, ok := a.Reader.(storage.Streamer); ok && tail == 0 {
		if a.body, err = s.Stream(ctx); err != nil || a.body != nil {
			return err
		}
	}
	if tail > 0 {
		a.tail, a.size, err = a.Reader.ReadSuffix(ctx, tail)
	} else {
		a.size, err = a.Reader.Size(ctx)
	}
	if err != nil {
		return err
	}
	if a.version, err = a.Reader.Version(ctx); errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
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

// artifact is an open artifact, of which any number of inputs are made. Its end may be in memory. Of one in a store of clouds the first bytes are kept, too:
// formats look whether they are theirs each time that an input is opened.
type artifact struct {
	storage.Reader
	store    storage.Store
	location string
	size     int64
	version  storage.Version // "" if the store has none
	tail     []byte
	body     io.ReadCloser // all bytes as one answer, which one input reads as a pipe; else nil

	users   int              // Kept.mu is locked for it
	checked uint64           // the last question that it was compared for, as users
	opened  *provider.Opened // of an input that stays open

	mu   sync.Mutex
	head []byte
}

// input is an input without a Closer.
func (a *artifact) input(ctx context.Context) provider.Input {
	in := provider.Input{Name: storage.Redact(a.location), Location: a.location, Version: a.version, Size: a.size}
	switch {
	case a.body != nil:
		return provider.Input{Name: in.Name, Reader: a.body, Size: -1}
	case a.local():
		at := fileAt{ctx, a.Reader, a.size}
		in.Store, in.At, in.Reader = pinned{a.store, a.location, a.Reader}, at, io.NewSectionReader(at, 0, a.size)
	default:
		in.Store, in.At, in.Reader = pinned{a.store, a.location, a}, &readerAt{ctx: ctx, r: a}, &stream{ctx: ctx, r: a, window: firstWindow}
	}
	return in
}

func (a *artifact) local() bool {
	_, is := a.store.(storage.Local)
	return is
}

// isCurrent asks the store whether its version is the one that is open.
func (a *artifact) isCurrent(ctx context.Context) (bool, error) {
	if a.version == "" {
		return false, nil
	}
	r, err := a.store.Open(ctx, a.location)
	if err != nil {
		return false, Missing(a.location, err)
	}
	v, err := r.Version(ctx)
	return v == a.version, errors.Join(Missing(a.location, err), r.Close())
}

// Close closes what inputs share, which nobody reads any more.
func (a *artifact) Close() (err error) {
	if a.opened != nil {
		err = a.opened.Close()
	}
	if a.body != nil {
		err = errors.Join(err, a.body.Close())
	}
	return errors.Join(err, a.Reader.Close())
}

// maxHead is the most first bytes that are kept.
const maxHead = 64

func (a *artifact) Size(ctx context.Context) (int64, error) { return a.size, ctx.Err() }

func (a *artifact) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	if most := int(min(int64(n), a.size)); n > 0 && most <= len(a.tail) {
		return a.tail[len(a.tail)-most:], a.size, ctx.Err()
	}
	return a.Reader.ReadSuffix(ctx, n)
}

func (a *artifact) ReadAt(ctx context.Context, p []byte, off int64) error {
	if start := off - (a.size - int64(len(a.tail))); start >= 0 && start+int64(len(p)) <= int64(len(a.tail)) {
		copy(p, a.tail[start:])
		return ctx.Err()
	}
	if off != 0 || len(p) == 0 || len(p) > maxHead {
		return a.Reader.ReadAt(ctx, p, off)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.head) < len(p) {
		head := make([]byte, len(p))
		if err := a.Reader.ReadAt(ctx, head, 0); err != nil {
			return err
		}
		a.head = head
	}
	copy(p, a.head)
	return ctx.Err()
}

// stream reads an artifact from its start. Windows of it are read in parts at a time.
type stream struct {
	ctx    context.Context
	r      *artifact
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
	r   *artifact

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
	in, err := open(ctx, location, nil, 0, false, nothing)
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
