package shardtest

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/storage"
)

// Allocated is the number of bytes that the program has allocated so far, freed
// ones included: an upper bound of what it needs at a time.
func Allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Goroutines notes how many goroutines there are; the function that it gives
// fails the test if there are more of them, a moment after they have ended.
func Goroutines(t testing.TB) (check func()) {
	before := runtime.NumGoroutine()
	return func() {
		t.Helper()
		// A goroutine that has told its waiter that it is done may still be there.
		for range 200 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		stacks := make([]byte, 64<<10)
		t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
	}
}

// Allocator counts what is allocated and not freed, and the most of it.
type Allocator struct {
	mem       memory.Allocator
	now, most atomic.Int64
}

// NewAllocator makes an Allocator of Go's memory.
func NewAllocator() *Allocator { return &Allocator{mem: memory.NewGoAllocator()} }

// Allocate implements memory.Allocator.
func (a *Allocator) Allocate(size int) []byte {
	a.add(size)
	return a.mem.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	a.add(size - len(b))
	return a.mem.Reallocate(size, b)
}

// Free implements memory.Allocator.
func (a *Allocator) Free(b []byte) {
	a.now.Add(-int64(len(b)))
	a.mem.Free(b)
}

func (a *Allocator) add(n int) {
	now := a.now.Add(int64(n))
	for {
		most := a.most.Load()
		if now <= most || a.most.CompareAndSwap(most, now) {
			return
		}
	}
}

// InUse is the number of bytes that are allocated now.
func (a *Allocator) InUse() int64 { return a.now.Load() }

// Most is the greatest number of bytes that were allocated at a time.
func (a *Allocator) Most() int64 { return a.most.Load() }

// Store is a store that knows whether all its readers were closed.
type Store struct {
	storage.Store
	open atomic.Int64
}

// NewStore wraps a store.
func NewStore(s storage.Store) *Store { return &Store{Store: s} }

// Files makes a store of artifacts by their URL. The bytes are not copied.
func Files(files map[string][]byte) *Store { return NewStore(byURL(files)) }

// OneFile makes a store in which every location names the same bytes, which are
// not copied.
func OneFile(b []byte) *Store { return NewStore(oneFile{b: b}) }

// Open implements storage.Store.
func (s *Store) Open(ctx context.Context, location string) (storage.Reader, error) {
	r, err := s.Store.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	s.open.Add(1)
	return &openReader{Reader: r, s: s}, nil
}

// OpenReaders is the number of readers that are not closed.
func (s *Store) OpenReaders() int64 { return s.open.Load() }

type openReader struct {
	storage.Reader
	s      *Store
	closed atomic.Bool
}

func (r *openReader) Close() error {
	if !r.closed.Swap(true) {
		r.s.open.Add(-1)
	}
	return r.Reader.Close()
}

type oneFile struct {
	storage.Store
	b []byte
}

func (s oneFile) Open(_ context.Context, location string) (storage.Reader, error) {
	return storage.FromBytes(location, s.b), nil
}

type byURL map[string][]byte

func (s byURL) Open(_ context.Context, location string) (storage.Reader, error) {
	url, err := storage.URL(location)
	if err != nil {
		return nil, err
	}
	b, ok := s[url]
	if !ok {
		return nil, fmt.Errorf("no artifact %s", url)
	}
	return storage.FromBytes(location, b), nil
}

func (s byURL) Create(context.Context, string, storage.CreateOptions) (storage.Writer, error) {
	return nil, fmt.Errorf("this store is for reading")
}

func (s byURL) Remove(context.Context, string) error {
	return fmt.Errorf("this store is for reading")
}
