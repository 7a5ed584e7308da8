// Package faultstore makes the k-th read, write, sync, rename or other step of
// storage fail, and counts steps and bytes. It is for tests.
//
//	f := faultstore.New()
//	store := f.Local() // or f.Wrap(any store)
//	f.FailAt(faultstore.Sync, 2)
//	… write a shard: the second fsync fails …
package faultstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"sync"

	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/storage"
)

// Op is a kind of step.
type Op uint8

// The kinds of steps. Over a store that is not local, Publish counts as a Sync
// and a Rename, and each positioned or suffix read as one Read.
const (
	Open   Op = iota // of an artifact or folder, for reading
	Create           // of an artifact
	Read             // of bytes
	Write            // of bytes
	Sync             // of a file or folder
	Rename           // to the final name
	Close            // of a reader or writer
	Remove           // of an artifact
	numOps
)

// Ops lists all kinds.
var Ops = []Op{Open, Create, Read, Write, Sync, Rename, Close, Remove}

// String is the name of the kind.
func (o Op) String() string {
	return [...]string{"open", "create", "read", "write", "sync", "rename", "close", "remove"}[o]
}

// Err is the error of a failed step, which wraps it.
var Err = errors.New("injected fault")

// Faults is a plan of failures and a count of steps. It may be used by many
// goroutines at once.
type Faults struct {
	mu       sync.Mutex
	from, to [numOps]int // steps of this kind in [from, to) fail; they count from 1
	every    [numOps]int // if not 0, each step of this kind whose number is a multiple fails
	counts   [numOps]int
	read     int64
	written  int64
}

// New is a plan without failures.
func New() *Faults { return &Faults{} }

// FailAt makes the k-th step of a kind fail, counted from 1 and from now.
func (f *Faults) FailAt(op Op, k int) { f.fail(op, k, 1) }

// FailFrom makes the k-th step of a kind and all later ones fail, as a full disk does.
func (f *Faults) FailFrom(op Op, k int) { f.fail(op, k, 1<<30) }

// FailEvery makes every k-th step of a kind fail.
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

// Count is the number of steps of a kind so far, failed ones included.
func (f *Faults) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[op]
}

// BytesRead is the number of bytes read so far.
func (f *Faults) BytesRead() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read
}

// BytesWritten is the number of bytes written so far.
func (f *Faults) BytesWritten() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.written
}

// Reset sets all counts to 0 and drops the failures.
func (f *Faults) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from, f.to, f.every, f.counts, f.read, f.written = [numOps]int{}, [numOps]int{}, [numOps]int{}, [numOps]int{}, 0, 0
}

func (f *Faults) step(op Op, bytes int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[op]++
	k := f.counts[op]
	if f.from[op] <= k && k < f.to[op] || f.every[op] > 0 && k%f.every[op] == 0 {
		return fmt.Errorf("%w: %s %d", Err, op, k)
	}
	switch op {
	case Read:
		f.read += int64(bytes)
	case Write:
		f.written += int64(bytes)
	}
	return nil
}

// Local is a store of local files whose file system follows the plan.
func (f *Faults) Local() storage.Store { return storage.NewLocal(fileSystem{f, sys.OS{}}) }

// Budget is a budget of limit bytes whose temporary files follow the plan.
func (f *Faults) Budget(limit int64) *storage.Budget {
	return storage.NewBudgetOn(fileSystem{f, sys.OS{}}, limit)
}

type fileSystem struct {
	f  *Faults
	fs sys.FS
}

func (s fileSystem) Open(name string) (sys.File, error) {
	if err := s.f.step(Open, 0); err != nil {
		return nil, err
	}
	return s.file(s.fs.Open(name))
}

func (s fileSystem) Create(name string) (sys.File, error) {
	if err := s.f.step(Create, 0); err != nil {
		return nil, err
	}
	return s.file(s.fs.Create(name))
}

func (s fileSystem) file(f sys.File, err error) (sys.File, error) {
	if err != nil {
		return nil, err
	}
	return file{f, s.f}, nil
}

func (s fileSystem) Rename(from, to string, replace bool) error {
	if err := s.f.step(Rename, 0); err != nil {
		return err
	}
	return s.fs.Rename(from, to, replace)
}

func (s fileSystem) Remove(name string) error {
	if err := s.f.step(Remove, 0); err != nil {
		return err
	}
	return s.fs.Remove(name)
}

func (s fileSystem) Exists(name string) (bool, error) { return s.fs.Exists(name) }

func (s fileSystem) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := s.f.step(Open, 0); err != nil {
		return nil, err
	}
	return s.fs.ReadDir(name)
}

func (s fileSystem) SyncDir(name string) error {
	if err := s.f.step(Sync, 0); err != nil {
		return err
	}
	return s.fs.SyncDir(name)
}

type file struct {
	sys.File
	f *Faults
}

func (f file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.f.step(Read, len(p)); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

// Write leaves half of the bytes behind when it fails, as a full disk does.
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

func (f file) Sync() error {
	if err := f.f.step(Sync, 0); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f file) Close() error {
	return errors.Join(f.f.step(Close, 0), f.File.Close())
}

// Wrap is a store over another one that follows the plan.
func (f *Faults) Wrap(s storage.Store) storage.Store { return wrapped{f, s} }

type wrapped struct {
	f *Faults
	s storage.Store
}

func (w wrapped) Open(ctx context.Context, location string) (storage.Reader, error) {
	if err := w.f.step(Open, 0); err != nil {
		return nil, err
	}
	r, err := w.s.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	return reader{r, w.f}, nil
}

func (w wrapped) Create(ctx context.Context, location string, o storage.CreateOptions) (storage.Writer, error) {
	if err := w.f.step(Create, 0); err != nil {
		return nil, err
	}
	out, err := w.s.Create(ctx, location, o)
	if err != nil {
		return nil, err
	}
	return writer{out, w.f}, nil
}

func (w wrapped) Remove(ctx context.Context, location string) error {
	if err := w.f.step(Remove, 0); err != nil {
		return err
	}
	return w.s.Remove(ctx, location)
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

func (w writer) Write(p []byte) (int, error) {
	if err := w.f.step(Write, len(p)); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

func (w writer) Publish(ctx context.Context) error {
	for _, op := range []Op{Sync, Rename} {
		if err := w.f.step(op, 0); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Writer.Publish(ctx)
}
