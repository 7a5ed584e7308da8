package blockpack

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/storage"
)

// CatalogOptions are the options of [NewCatalog]. The zero value is the default.
type CatalogOptions struct {
	// Options are those of the files. CacheBytes is for each file, by default 1 MiB.
	Options
	// IndexBytes bounds the indexes of traces that are kept, by default 256 MiB.
	IndexBytes int64
	// Files is the number of files that are looked into at the same time, by default 8.
	Files int
}

// Catalog finds traces in many files. It keeps the least and the greatest id of each file it has seen, and the compact indexes of
// those used last, but no file open. Many goroutines may use it at once.
//
// Files must not change. Of one that has, call Forget.
type Catalog struct {
	o    CatalogOptions
	tail atomic.Int64 // bytes that the end of the latest file took

	mu     sync.Mutex
	ranges map[string]read.TraceRange // by location
	files  *lru.Cache[string, *catalogFile]
}

// catalogFile is a file that is open while somebody uses it.
type catalogFile struct {
	*read.Table
	reader *reopened
}

const (
	catalogIndexBytes = 256 << 20
	catalogCacheBytes = 1 << 20
	catalogFiles      = 8
	maxTail           = 16 << 20
)

// NewCatalog makes an empty catalog.
func NewCatalog(o CatalogOptions) *Catalog {
	if o.IndexBytes == 0 {
		o.IndexBytes = catalogIndexBytes
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = catalogCacheBytes
	}
	if o.Files <= 0 {
		o.Files = catalogFiles
	}
	return &Catalog{o: o, ranges: map[string]read.TraceRange{}, files: lru.New[string, *catalogFile](o.IndexBytes)}
}

// Found is spans of traces in a file.
type Found struct {
	arrow.RecordBatch
	Location string
}

// Traces returns the spans of traces in files, in the order of the locations and of each file, as [File.Traces] does. Offset, Limit
// and Root apply to each file. A file that cannot be read is an error with its location, after which the loop may go on.
func (c *Catalog) Traces(ctx context.Context, locations []string, ids [][]byte, o TraceOptions) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		if o.Parallelism == 0 {
			o.Parallelism = max(runtime.GOMAXPROCS(0)/c.o.Files, 1)
		}
		read.InOrder(ctx, locations, c.o.Files, func(ctx context.Context, location string) (fileTraces, error) {
			r := c.file(ctx, location, ids, o)
			return r, r.err
		}, fileTraces.release, func(location string, r fileTraces, err error) bool {
			r.err = err
			return r.yield(location, yield) && ctx.Err() == nil
		})
	}
}

// fileTraces is what was found in a file.
type fileTraces struct {
	batches []arrow.RecordBatch
	err     error
}

func (r fileTraces) release() {
	for _, b := range r.batches {
		b.Release()
	}
}

func (r *fileTraces) yield(location string, yield func(Found, error) bool) bool {
	defer r.release()
	for _, b := range r.batches {
		if !yield(Found{b, location}, nil) {
			return false
		}
	}
	return r.err == nil || yield(Found{Location: location}, r.err)
}

// file finds traces in a file.
func (c *Catalog) file(ctx context.Context, location string, ids [][]byte, o TraceOptions) (r fileTraces) {
	c.mu.Lock()
	known, ok := c.ranges[location]
	c.mu.Unlock()
	if ok && !known.MayHave(ids) {
		return r
	}
	f, err := c.open(ctx, location)
	if err != nil {
		return fileTraces{err: err}
	}
	defer func() { r.err = errors.Join(r.err, f.reader.release()) }()
	for b, err := range f.Traces(ctx, ids, o) {
		if err != nil {
			r.err = err
			break
		}
		b.Retain()
		r.batches = append(r.batches, b)
	}
	return r
}

// open gives a file whose reader is open until it is released.
func (c *Catalog) open(ctx context.Context, location string) (*catalogFile, error) {
	if f, ok := c.files.Get(location); ok {
		return f, f.reader.acquire(ctx)
	}
	store := c.o.Store
	if store == nil {
		var err error
		if store, err = storage.ForLocation(location); err != nil {
			return nil, err
		}
	}
	r := &reopened{store: store, location: location}
	if err := r.acquire(ctx); err != nil {
		return nil, err
	}
	o := c.o.Options
	if o.SuffixBytes == 0 {
		o.SuffixBytes = int(c.tail.Load())
	}
	t, err := read.Open(ctx, r, o.read())
	if err != nil {
		return nil, errors.Join(err, r.release())
	}
	f := &catalogFile{t, r}
	c.tail.Store(min(t.TailBytes(), maxTail))
	known, err := t.TraceRange(ctx)
	if err != nil {
		return nil, errors.Join(err, r.release())
	}
	c.mu.Lock()
	c.ranges[location] = known
	c.mu.Unlock()
	c.files.Put(location, f, t.TailBytes()+2*c.o.CacheBytes)
	return f, nil
}

// Forget drops what is known of a file.
func (c *Catalog) Forget(location string) {
	c.mu.Lock()
	delete(c.ranges, location)
	c.mu.Unlock()
	c.files.Remove(location)
}

// reopened is a reader that is open as long as somebody uses it.
type reopened struct {
	storage.Reader
	store    storage.Store
	location string

	mu    sync.Mutex
	users int
}

func (r *reopened) acquire(ctx context.Context) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users == 0 {
		if r.Reader, err = r.store.Open(ctx, r.location); err != nil {
			return err
		}
	}
	r.users++
	return nil
}

func (r *reopened) release() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users--
	if r.users > 0 {
		return nil
	}
	return r.Reader.Close()
}
