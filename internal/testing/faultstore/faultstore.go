// Package faultstore injects faults into storage, and counts operations and bytes. It is
// for tests.
//
//	f := faultstore.New()
//	store := f.Local() // or f.Wrap(any store)
//	f.FailAt(faultstore.Sync, 2)
//	… the second fsync of a shard's writer fails …
package faultstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"
	"time"

	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/storage"
)

// Op is a kind of operation.
type Op uint8

// The kinds of operations. In a store made by [Faults.Wrap], Publish is a Sync and a
// Rename, Flush is a Write of no bytes, and ReadAt and ReadSuffix are a Read each.
const (
	Open   Op = iota // of an artifact or folder, for reading
	Create           // of an artifact
	Read             // of bytes
	Write            // of bytes
	Sync             // of a file or folder
	Rename           // to the final name, or another one
	Close            // of a reader or writer
	Remove           // of an artifact
	numOps
)

// Ops lists all kinds of operations.
var Ops = []Op{Open, Create, Read, Write, Sync, Rename, Close, Remove}

// String returns the name of the kind.
func (o Op) String() string {
	return [...]string{"open", "create", "read", "write", "sync", "rename", "close", "remove"}[o]
}

// Err is wrapped by all injected errors.
var Err = errors.New("injected fault")

// Faults decides which operations fail, and counts all of them. Its methods may be
// called concurrently.
type Faults struct {
	mu       sync.Mutex
	from, to [numOps]int // operations n with from ≤ n < to fail; the first operation is 1
	every    [numOps]int // if not 0, operations with multiples of this number fail
	counts   [numOps]int
	read     int64
	written  int64
	before   func(op Op, n int)
	err      error                        // of operations that fail; nil: an error that wraps Err
	short    bool                         // reads that fail return fewer bytes instead of an error
	change   func(path string, off int64) // called before a read that would fail, which then does not
}

// New returns Faults that only count.
func New() *Faults { return &Faults{} }

// FailAt lets the k-th operation of a kind from now on fail. The next one has k = 1.
func (f *Faults) FailAt(op Op, k int) { f.fail(op, k, 1) }

// FailFrom lets the k-th operation of a kind from now on and all later ones fail, as on
// a full disk.
func (f *Faults) FailFrom(op Op, k int) { f.fail(op, k, 1<<30) }

// FailEvery lets every k-th operation of a kind fail.
func (f *Faults) FailEvery(op Op, k int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.every[op] = k
}

func (f *Faults) fail(op Op, k, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from[op] = f.counts[op] + k
	f.to[op] = f.from[op] + n
}

// With lets operations fail with an error as it is, instead of one that wraps [Err].
func (f *Faults) With(err error) { f.err = err }

// Before lets call be called before each operation, with its number among those of all kinds, by several goroutines if these use the store. It must be set before
// the first one.
func (f *Faults) Before(call func(op Op, n int)) { f.before = call }

// Count is the number of operations of a kind so far, failed ones included.
func (f *Faults) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[op]
}

// Total is the number of operations of all kinds so far.
func (f *Faults) Total() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.counts {
		n += c
	}
	return n
}

// BytesRead is the number of bytes of all successful reads so far.
func (f *Faults) BytesRead() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read
}

// BytesWritten is the number of bytes of all successful writes so far.
func (f *Faults) BytesWritten() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.written
}

// Reset sets all counts to 0. No operations fail any more.
func (f *Faults) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from, f.to, f.every, f.counts, f.read, f.written = [numOps]int{}, [numOps]int{}, [numOps]int{}, [numOps]int{}, 0, 0
}

func (f *Faults) step(op Op, bytes int) error {
	n, err := f.count(op, bytes)
	if f.before != nil { // without the lock, as it may use other files
		f.before(op, n)
	}
	return err
}

// count counts an operation, and says which of all kinds it is, and whether it fails.
func (f *Faults) count(op Op, bytes int) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[op]++
	k := f.counts[op]
	for _, c := range f.counts {
		n += c
	}
	if f.from[op] <= k && k < f.to[op] || f.every[op] > 0 && k%f.every[op] == 0 {
		if f.err != nil {
			return n, f.err
		}
		return n, fmt.Errorf("%w: %s %d", Err, op, k)
	}
	switch op {
	case Read:
		f.read += int64(bytes)
	case Write:
		f.written += int64(bytes)
	}
	return n, nil
}

// do does an operation, unless it fails before.
func (f *Faults) do(op Op, call func() error) error {
	if err := f.step(op, 0); err != nil {
		return err
	}
	return call()
}

// get is do for an operation with a result.
func get[T any](f *Faults, op Op, call func() (T, error)) (result T, err error) {
	if err := f.step(op, 0); err != nil {
		return result, err
	}
	return call()
}

// FS returns the local file system with faults.
func (f *Faults) FS() sys.FS { return fileSystem{f, disk} }

// Local returns a store of local files with faults in its file system.
func (f *Faults) Local() storage.Store { return storage.NewLocal(f.FS()) }

// Budget returns a budget of limit bytes with faults in its temporary files.
func (f *Faults) Budget(limit int64) *storage.Budget {
	return storage.NewBudgetOn(f.FS(), limit)
}

type fileSystem struct {
	f  *Faults
	fs sys.FS
}

func (s fileSystem) Open(name string) (sys.File, error) {
	return s.open(Open, name, func() (sys.File, error) { return s.fs.Open(name) })
}

func (s fileSystem) OpenIn(dir, path string) (sys.File, error) {
	return s.open(Open, filepath.Join(dir, path), func() (sys.File, error) { return s.fs.OpenIn(dir, path) })
}

func (s fileSystem) Create(name string, like fs.FileInfo) (sys.File, error) {
	return s.open(Create, name, func() (sys.File, error) { return s.fs.Create(name, like) })
}

func (s fileSystem) open(op Op, name string, call func() (sys.File, error)) (sys.File, error) {
	f, err := get(s.f, op, call)
	if err != nil {
		return nil, err
	}
	return file{f, s.f, name}, nil
}

func (s fileSystem) SetAccess(name string, like fs.FileInfo) error { return s.fs.SetAccess(name, like) }

func (s fileSystem) Rename(from, to string, replace bool) error {
	return s.f.do(Rename, func() error { return s.fs.Rename(from, to, replace) })
}

func (s fileSystem) Link(from, to string) error {
	return s.f.do(Rename, func() error { return s.fs.Link(from, to) })
}

func (s fileSystem) Remove(name string) error {
	return s.f.do(Remove, func() error { return s.fs.Remove(name) })
}

func (s fileSystem) Exists(name string) (bool, error) { return s.fs.Exists(name) }

func (s fileSystem) Stat(name string) (fs.FileInfo, error) { return s.fs.Stat(name) }

func (s fileSystem) SetModTime(name string, t time.Time) error { return s.fs.SetModTime(name, t) }

func (s fileSystem) Lock(ctx context.Context, dir string) (func(), error) { return s.fs.Lock(ctx, dir) }

func (s fileSystem) ReadDir(name string) ([]fs.DirEntry, error) {
	return get(s.f, Open, func() ([]fs.DirEntry, error) { return s.fs.ReadDir(name) })
}

func (s fileSystem) MakeFolder(name string) error {
	return s.f.do(Create, func() error { return s.fs.MakeFolder(name) })
}

func (s fileSystem) SyncDir(name string) error {
	return s.f.do(Sync, func() error { return s.fs.SyncDir(name) })
}

type file struct {
	sys.File
	f    *Faults
	name string
}

func (f file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.f.step(Read, len(p)); err != nil {
		switch {
		case f.f.change != nil:
			f.f.change(f.name, off)
		case f.f.short:
			n, _ := f.File.ReadAt(p[:len(p)/2], off)
			return n, nil
		default:
			return 0, err
		}
	}
	return f.File.ReadAt(p, off)
}

// Write writes half of the bytes before it fails, as on a full disk.
func (f file) Write(p []byte) (int, error) {
	if err := f.f.step(Write, len(p)); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f file) WriteAt(p []byte, off int64) (int, error) {
	if err := f.f.step(Write, len(p)); err != nil {
		n, _ := f.File.WriteAt(p[:len(p)/2], off)
		return n, err
	}
	return f.File.WriteAt(p, off)
}

func (f file) Sync() error { return f.f.do(Sync, f.File.Sync) }

func (f file) Close() error {
	return errors.Join(f.f.step(Close, 0), f.File.Close())
}

// Wrap returns a store that adds faults to the operations of another one.
func (f *Faults) Wrap(s storage.Store) storage.Store { return wrapped{f, s} }

type wrapped struct {
	f *Faults
	s storage.Store
}

// Link implements [storage.Linker], if the store does.
func (w wrapped) Link(ctx context.Context, from, to string) error {
	l, ok := w.s.(storage.Linker)
	if !ok {
		return errors.ErrUnsupported
	}
	return w.f.do(Rename, func() error { return l.Link(ctx, from, to) })
}

// Copy implements [storage.Copier], if the store does.
func (w wrapped) Copy(ctx context.Context, from string, v storage.Version, to string, o storage.CreateOptions) error {
	c, ok := w.s.(storage.Copier)
	if !ok {
		return errors.ErrUnsupported
	}
	return w.f.do(Rename, func() error { return c.Copy(ctx, from, v, to, o) })
}

// Unfinished implements [storage.UnfinishedLister], if the store does.
func (w wrapped) Unfinished(ctx context.Context, prefix string) iter.Seq2[storage.Info, error] {
	u, ok := w.s.(storage.UnfinishedLister)
	if !ok {
		return func(func(storage.Info, error) bool) {}
	}
	return u.Unfinished(ctx, prefix)
}

func (w wrapped) Open(ctx context.Context, location string) (storage.Reader, error) {
	return w.open(func() (storage.Reader, error) { return w.s.Open(ctx, location) })
}

// OpenIn implements [storage.Confiner].
func (w wrapped) OpenIn(ctx context.Context, folder, location string) (storage.Reader, error) {
	return w.open(func() (storage.Reader, error) { return storage.OpenIn(ctx, w.s, folder, location) })
}

func (w wrapped) open(call func() (storage.Reader, error)) (storage.Reader, error) {
	r, err := get(w.f, Open, call)
	if err != nil {
		return nil, err
	}
	return reader{r, w.f}, nil
}

func (w wrapped) Create(ctx context.Context, location string, o storage.CreateOptions) (storage.Writer, error) {
	out, err := get(w.f, Create, func() (storage.Writer, error) { return w.s.Create(ctx, location, o) })
	if err != nil {
		return nil, err
	}
	return writer{out, w.f}, nil
}

func (w wrapped) Remove(ctx context.Context, location string) error {
	return w.f.do(Remove, func() error { return w.s.Remove(ctx, location) })
}

// RemoveVersion implements [storage.VersionRemover], if the store does.
func (w wrapped) RemoveVersion(ctx context.Context, location string, v storage.Version) error {
	return w.f.do(Remove, func() error { return storage.RemoveVersion(ctx, w.s, location, v) })
}

func (w wrapped) List(ctx context.Context, prefix string) iter.Seq2[storage.Info, error] {
	if err := w.f.step(Open, 0); err != nil {
		return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, err) }
	}
	return w.s.List(ctx, prefix)
}

type reader struct {
	storage.Reader
	f *Faults
}

func (r reader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := r.f.step(Read, len(p)); err != nil {
		return err
	}
	return r.Reader.ReadAt(ctx, p, off)
}

func (r reader) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	tail, size, err := r.Reader.ReadSuffix(ctx, n)
	if ferr := r.f.step(Read, len(tail)); ferr != nil {
		return nil, 0, ferr
	}
	return tail, size, err
}

func (r reader) Close() error {
	return errors.Join(r.f.step(Close, 0), r.Reader.Close())
}

type writer struct {
	storage.Writer
	f *Faults
}

func (w writer) Write(ctx context.Context, p []byte) error {
	if err := w.f.step(Write, len(p)); err != nil {
		return err
	}
	return w.Writer.Write(ctx, p)
}

func (w writer) Flush(ctx context.Context) error {
	return w.f.do(Write, func() error { return w.Writer.Flush(ctx) })
}

func (w writer) Publish(ctx context.Context) error {
	for _, op := range []Op{Sync, Rename} {
		if err := w.f.step(op, 0); err != nil {
			return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
		}
	}
	return w.Writer.Publish(ctx)
}
