package storage

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strconv"
	"sync"
)

// Memory is a store of artifacts in memory, for tests and short-lived data. Locations
// with the same [URL] name the same artifact.
type Memory struct {
	mu      sync.Mutex
	objects map[string]object // by URL
	version uint64            // of the newest object
}

// object is one version of an artifact. It is immutable.
type object struct {
	bytes   []byte
	version uint64
}

func (o object) Version() Version { return Version(strconv.FormatUint(o.version, 10)) }

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{objects: map[string]object{}} }

// Put stores a copy of b, and replaces the artifact at the location, if there is one.
func (s *Memory) Put(location string, b []byte) error {
	return s.publish(location, bytes.Clone(b), CreateOptions{Overwrite: true})
}

// publish stores b, which it keeps, if the artifact at the location may be replaced.
func (s *Memory) publish(location string, b []byte, o CreateOptions) error {
	key, err := URL(location)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(key, location, o); err != nil {
		return err
	}
	s.version++
	s.objects[key] = object{b, s.version}
	return nil
}

// check fails if options do not allow to publish at the location. The caller holds the
// lock.
func (s *Memory) check(key, location string, o CreateOptions) error {
	old, taken := s.objects[key]
	switch {
	case o.IfMatch != "":
		if !taken || old.Version() != o.IfMatch {
			return changed(location)
		}
	case taken && !o.Overwrite:
		return exists(location)
	}
	return nil
}

// Locations returns the URLs of all artifacts, sorted.
func (s *Memory) Locations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for key := range s.objects {
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
	o, ok := s.objects[key]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: Redact(location), Err: fs.ErrNotExist}
	}
	return &memoryReader{Redact(location), o}, nil
}

// Link implements [Linker].
func (s *Memory) Link(ctx context.Context, from, to string) error {
	r, err := s.Open(ctx, from)
	if err != nil {
		return err
	}
	return s.publish(to, r.(*memoryReader).o.bytes, CreateOptions{})
}

// FromBytes returns a reader of b, which must not change any more. It has no version.
func FromBytes(name string, b []byte) Reader { return &memoryReader{Redact(name), object{bytes: b}} }

type memoryReader struct {
	name string
	o    object
}

func (r *memoryReader) size() int64 { return int64(len(r.o.bytes)) }

func (r *memoryReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckRange(off, int64(len(p)), r.size()); err != nil {
		return err
	}
	copy(p, r.o.bytes[off:])
	return nil
}

func (r *memoryReader) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	n = min(max(n, 0), len(r.o.bytes))
	return r.o.bytes[len(r.o.bytes)-n:], r.size(), nil
}

func (r *memoryReader) Version(context.Context) (Version, error) {
	if r.o.version == 0 {
		return "", noVersion(r.name)
	}
	return r.o.Version(), nil
}

func (r *memoryReader) Size(context.Context) (int64, error) { return r.size(), nil }
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
	if err := s.check(key, location, o); err != nil {
		return nil, err
	}
	return &memoryWriter{s: s, location: location, o: o}, nil
}

type memoryWriter struct {
	s        *Memory
	location string
	o        CreateOptions
	b        []byte
	err      error // the first; errEnded after the end
}

func (w *memoryWriter) Write(ctx context.Context, p []byte) error {
	if w.err == nil {
		w.err = ctx.Err()
	}
	if w.err == nil {
		w.b = append(w.b, p...)
	}
	return w.err
}

func (w *memoryWriter) WriteAt(ctx context.Context, p []byte, off int64) error {
	if w.err == nil {
		w.err = ctx.Err()
	}
	if w.err == nil {
		w.err = CheckRange(off, int64(len(p)), w.Size())
	}
	if w.err == nil {
		copy(w.b[off:], p)
	}
	return w.err
}

func (w *memoryWriter) Flush(context.Context) error { return w.err }
func (w *memoryWriter) Size() int64                 { return int64(len(w.b)) }
func (w *memoryWriter) Name() string                { return Redact(w.location) }

func (w *memoryWriter) Publish(ctx context.Context) error {
	err := w.err
	w.err = errEnded
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = w.s.publish(w.location, w.b, w.o)
	}
	return err
}

func (w *memoryWriter) Abort(context.Context) error {
	w.b, w.err = nil, errEnded
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
	if _, ok := s.objects[key]; !ok {
		return &fs.PathError{Op: "remove", Path: Redact(location), Err: fs.ErrNotExist}
	}
	delete(s.objects, key)
	return nil
}
