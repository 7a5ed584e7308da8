package storage

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"
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
	bytes    []byte
	version  uint64
	modified time.Time
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
	s.objects[key] = object{b, s.version, time.Now()}
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

// key is the URL of a location.
func (s *Memory) key(ctx context.Context, location string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return URL(location)
}

// find returns the artifact at a location.
func (s *Memory) find(ctx context.Context, location string) (object, error) {
	key, err := s.key(ctx, location)
	if err != nil {
		return object{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[key]
	if !ok {
		err = &fs.PathError{Op: "open", Path: Redact(location), Err: fs.ErrNotExist}
	}
	return o, err
}

// Open implements [Store].
func (s *Memory) Open(ctx context.Context, location string) (Reader, error) {
	o, err := s.find(ctx, location)
	if err != nil {
		return nil, err
	}
	return readerAt{Redact(location), bytes.NewReader(o.bytes), int64(len(o.bytes)), o.Version()}, nil
}

// Link implements [Linker].
func (s *Memory) Link(ctx context.Context, from, to string) error {
	return s.Copy(ctx, from, "", to, CreateOptions{})
}

// Copy implements [Copier].
func (s *Memory) Copy(ctx context.Context, from string, v Version, to string, o CreateOptions) error {
	old, err := s.find(ctx, from)
	if err == nil && v != "" && v != old.Version() {
		err = changed(from)
	}
	if err != nil {
		return err
	}
	return s.publish(to, old.bytes, o)
}

// FromBytes returns a reader of b, which must not change any more. It has no version.
func FromBytes(name string, b []byte) Reader {
	return readerAt{name: Redact(name), r: bytes.NewReader(b), size: int64(len(b))}
}

// Create implements [Store].
func (s *Memory) Create(ctx context.Context, location string, o CreateOptions) (Writer, error) {
	key, err := s.key(ctx, location)
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
	return s.RemoveVersion(ctx, location, "")
}

// RemoveVersion implements [VersionRemover].
func (s *Memory) RemoveVersion(ctx context.Context, location string, v Version) error {
	key, err := s.key(ctx, location)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[key]
	switch {
	case !ok:
		return &fs.PathError{Op: "remove", Path: Redact(location), Err: fs.ErrNotExist}
	case v != "" && v != o.Version():
		return changed(location)
	}
	delete(s.objects, key)
	return nil
}
