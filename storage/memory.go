package storage

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"sync"
)

// Memory is a store of artifacts in memory, for tests and short-lived data.
// Locations name the same artifact if [URL] gives the same for them.
type Memory struct {
	mu   sync.Mutex
	data map[string][]byte // by URL; the bytes never change
}

// NewMemory is an empty store.
func NewMemory() *Memory { return &Memory{data: map[string][]byte{}} }

// Put stores a copy of b, over what was there.
func (s *Memory) Put(location string, b []byte) error {
	key, err := URL(location)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[key] = bytes.Clone(b)
	return nil
}

// Locations lists the URLs of all artifacts, sorted.
func (s *Memory) Locations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for key := range s.data {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

// Open implements [Store].
func (s *Memory) Open(ctx context.Context, location string) (Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key, err := URL(location)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.data[key]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: location, Err: fs.ErrNotExist}
	}
	return FromBytes(location, b), nil
}

// FromBytes is a reader of b, which must not change any more.
func FromBytes(name string, b []byte) Reader { return &memoryReader{Redact(name), b} }

type memoryReader struct {
	name string
	b    []byte
}

func (r *memoryReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckRange(off, int64(len(p)), int64(len(r.b))); err != nil {
		return err
	}
	copy(p, r.b[off:])
	return nil
}

func (r *memoryReader) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	n = min(max(n, 0), len(r.b))
	return r.b[len(r.b)-n:], int64(len(r.b)), nil
}

func (r *memoryReader) Size(context.Context) (int64, error) { return int64(len(r.b)), nil }
func (r *memoryReader) Name() string                        { return r.name }
func (r *memoryReader) Capabilities() Capabilities          { return Capabilities{Latency: LatencyLow} }
func (r *memoryReader) Close() error                        { return nil }

// Create implements [Store].
func (s *Memory) Create(ctx context.Context, location string, o CreateOptions) (Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key, err := URL(location)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.data[key]; taken && !o.Overwrite {
		return nil, exists(location)
	}
	return &memoryWriter{s: s, location: location, o: o}, nil
}

type memoryWriter struct {
	s        *Memory
	location string
	o        CreateOptions
	b        []byte
	ended    bool
}

func (w *memoryWriter) Write(p []byte) (int, error) {
	if w.ended {
		return 0, errEnded
	}
	w.b = append(w.b, p...)
	return len(p), nil
}

func (w *memoryWriter) Size() int64  { return int64(len(w.b)) }
func (w *memoryWriter) Name() string { return Redact(w.location) }

func (w *memoryWriter) Publish(ctx context.Context) error {
	if w.ended {
		return errEnded
	}
	w.ended = true
	if err := ctx.Err(); err != nil {
		return err
	}
	key, err := URL(w.location)
	if err != nil {
		return err
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if _, taken := w.s.data[key]; taken && !w.o.Overwrite {
		return exists(w.location)
	}
	w.s.data[key] = w.b
	return nil
}

func (w *memoryWriter) Abort() error {
	w.ended = true
	return nil
}

// Remove implements [Store].
func (s *Memory) Remove(ctx context.Context, location string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	key, err := URL(location)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.data[key]; !ok {
		return &fs.PathError{Op: "remove", Path: location, Err: fs.ErrNotExist}
	}
	delete(s.data, key)
	return nil
}
