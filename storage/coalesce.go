package storage

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"sync"

	"github.com/amudai/amudai-go/internal/base/parallel"
)

// A ByteRange is a range of bytes in an artifact.
type ByteRange struct {
	Reader Reader // two ranges are of one artifact if their Readers are ==
	Offset int64
	Size   int64 // bytes
}

// TotalSize is the sum of the sizes of ranges.
func TotalSize(ranges []ByteRange) (n int64) {
	for _, r := range ranges {
		n += r.Size
	}
	return n
}

// Defaults of [CoalesceOptions] for each [Latency].
const (
	// LocalGap bytes take about as long as the system call for another read. Ranges
	// with smaller gaps are joined on every store.
	LocalGap = 4 << 10
	// LocalRequestBytes is the size beyond which reads of a file get no faster.
	LocalRequestBytes = 4 << 20
	// RemoteGap bytes arrive sooner than the first byte of another request to an object
	// store (10 to 50 ms, at 10 to 100 MB/s).
	RemoteGap = 256 << 10
	// RemoteRequestBytes take much longer to arrive than the first byte of a request.
	RemoteRequestBytes = 16 << 20
	// RemoteRequests is the number of concurrent requests. It does not depend on the
	// number of processors, as requests mostly wait.
	RemoteRequests = 32
)

// CoalesceOptions control how byte ranges are joined into requests.
//
//	ranges      |aaa|   |bb|              |cccc|
//	requests    |aaa|...|bb|              |cccc|     only the first gap is at most Gap
type CoalesceOptions struct {
	// Gap is the largest number of unwanted bytes between two ranges of one request.
	// Gaps of up to LocalGap are always allowed.
	Gap int64
	// Limit is the size in bytes from which a request gets no further ranges. Ranges with
	// gaps of up to LocalGap are joined even beyond it: a later read may span them.
	Limit int64
	// Requests is the number of concurrent requests; 0 means 1.
	Requests int
}

// DefaultCoalesce returns the options for readers of a latency.
func DefaultCoalesce(l Latency) CoalesceOptions {
	if l == LatencyHigh {
		return CoalesceOptions{Gap: RemoteGap, Limit: RemoteRequestBytes, Requests: RemoteRequests}
	}
	return CoalesceOptions{Gap: LocalGap, Limit: LocalRequestBytes, Requests: 1}
}

// Coalesce returns the requests that together read all ranges. It sorts ranges by reader,
// in the order of first appearance, and offset. Requests have the same order.
func Coalesce(ranges []ByteRange, o CoalesceOptions) (requests []ByteRange) {
	number := readerNumbers(ranges)
	slices.SortFunc(ranges, func(a, b ByteRange) int {
		return cmp.Or(cmp.Compare(number[a.Reader], number[b.Reader]), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Size, b.Size))
	})
	for _, r := range ranges {
		if k := len(requests) - 1; k >= 0 && o.joins(requests[k], r) {
			last := &requests[k]
			last.Size = max(last.Size, r.Offset+r.Size-last.Offset)
			continue
		}
		requests = append(requests, r)
	}
	return requests
}

// joins reports whether next becomes part of the request for the ranges before it.
func (o CoalesceOptions) joins(request, next ByteRange) bool {
	gap := next.Offset - (request.Offset + request.Size)
	switch {
	case next.Reader != request.Reader:
		return false
	case gap <= LocalGap:
		return true
	}
	return gap <= o.Gap && next.Offset+next.Size-request.Offset <= o.Limit
}

func readerNumbers(ranges []ByteRange) map[Reader]int {
	number := map[Reader]int{}
	for _, r := range ranges {
		if _, ok := number[r.Reader]; !ok {
			number[r.Reader] = len(number)
		}
	}
	return number
}

// Prefetched holds the bytes read by one or more calls of [Prefetch]: results of several
// calls can be appended to each other. It is immutable and may be used concurrently.
type Prefetched []*prefetch

// prefetch is the result of one call of Prefetch, sorted by reader and offset.
type prefetch []prefetchedRange

type prefetchedRange struct {
	number int // of the reader (readerNumbers)
	r      Reader
	offset int64
	bytes  []byte

	mu      sync.Mutex
	checked map[int64]struct{} // offsets of the parts that Checked has accepted
}

// Prefetch reads ranges in as few requests as o allows, and sorts ranges as [Coalesce]
// does. The first failed request cancels the others. Prefetch returns when all have ended.
func Prefetch(ctx context.Context, ranges []ByteRange, o CoalesceOptions) (Prefetched, error) {
	if len(ranges) == 0 {
		return nil, nil
	}
	requests := Coalesce(ranges, o)
	number := readerNumbers(requests)
	read := make(prefetch, len(requests))
	if err := parallel.Each(ctx, len(requests), o.Requests, func(ctx context.Context, i int) (err error) {
		r := requests[i]
		read[i].number, read[i].r, read[i].offset = number[r.Reader], r.Reader, r.Offset
		read[i].bytes, err = ReadRange(ctx, r.Reader, r.Offset, r.Size)
		return err
	}); err != nil {
		return nil, err
	}
	return Prefetched{&read}, nil
}

// Missing returns the ranges that p does not hold. It filters ranges in place.
func (p Prefetched) Missing(ranges []ByteRange) []ByteRange {
	return slices.DeleteFunc(ranges, func(r ByteRange) bool { return p.Bytes(r.Reader, r.Offset, r.Size) != nil })
}

// Size is the number of bytes that p holds.
func (p Prefetched) Size() (n int64) {
	for _, f := range p {
		for i := range *f {
			n += int64(len((*f)[i].bytes))
		}
	}
	return n
}

// Bytes returns the n bytes of r from offset on, or nil if p does not hold all of them.
// The caller must not change them.
func (p Prefetched) Bytes(r Reader, offset, n int64) []byte {
	for _, f := range p {
		if b := f.bytes(r, offset, n); b != nil {
			return b
		}
	}
	return nil
}

// Checked is [Prefetched.Bytes] of bytes that check accepts: several readers of the same bytes check them once.
func (p Prefetched) Checked(r Reader, offset, n int64, check func(b []byte) error) ([]byte, error) {
	for _, f := range p {
		g := f.find(r, offset, n)
		if g == nil {
			continue
		}
		b := g.cut(offset, n)
		g.mu.Lock()
		defer g.mu.Unlock()
		if _, ok := g.checked[offset]; ok {
			return b, nil
		}
		err := check(b)
		if err == nil {
			if g.checked == nil {
				g.checked = map[int64]struct{}{}
			}
			g.checked[offset] = struct{}{}
		}
		return b, err
	}
	return nil, nil
}

func (f prefetch) bytes(r Reader, offset, n int64) []byte {
	if g := f.find(r, offset, n); g != nil {
		return g.cut(offset, n)
	}
	return nil
}

func (g *prefetchedRange) cut(offset, n int64) []byte {
	from := offset - g.offset
	return g.bytes[from : from+n : from+n]
}

// find returns the range that has the n bytes of r from offset on, or nil.
func (f prefetch) find(r Reader, offset, n int64) *prefetchedRange {
	for i := 0; i < len(f); {
		if f[i].r != r { // go on with the next reader
			i += sort.Search(len(f)-i, func(k int) bool { return f[i+k].number > f[i].number })
			continue
		}
		k := i + sort.Search(len(f)-i, func(k int) bool {
			g := &f[i+k]
			return g.number != f[i].number || g.offset+int64(len(g.bytes)) >= offset+n
		})
		if k == len(f) || f[k].r != r || f[k].offset > offset {
			return nil
		}
		return &f[k]
	}
	return nil
}

// Read returns a copy of the bytes in p, or the result of [ReadRange] if p does not hold
// them. The bytes are the caller's.
func (p Prefetched) Read(ctx context.Context, r Reader, offset, n int64) ([]byte, error) {
	if b := p.Bytes(r, offset, n); b != nil {
		return slices.Clone(b), nil // a subslice would keep the whole request in memory
	}
	return ReadRange(ctx, r, offset, n)
}

// trustedBytes is the most memory that ReadRange allocates before any byte has arrived.
const trustedBytes = 16 << 20

// ReadRange returns the n bytes of r from offset on. The bytes are the caller's.
//
// Neither n nor the size claimed by a server is trusted. Memory grows with the bytes that
// have arrived: the first read is of up to 16 MiB, and each further one at most doubles it.
func ReadRange(ctx context.Context, r Reader, offset, n int64) ([]byte, error) {
	return ReadInto(ctx, r, nil, offset, n)
}

// ReadInto is [ReadRange] into the memory of buf, if that is large enough: buffers can be
// used again and again. What buf held is lost.
func ReadInto(ctx context.Context, r Reader, buf []byte, offset, n int64) ([]byte, error) {
	if size, err := r.Size(ctx); err != nil {
		return nil, err
	} else if err := CheckRange(offset, n, size); err != nil {
		return nil, err
	}
	b := buf[:0]
	if first := int(min(max(n, 1), trustedBytes)); cap(b) < first { // not nil, for no bytes either
		b = make([]byte, 0, first)
	}
	for done := int64(0); ; {
		end := min(n, max(2*done, trustedBytes, int64(cap(b))))
		if int64(cap(b)) < end {
			grown := make([]byte, end)
			copy(grown, b[:done])
			b = grown
		}
		b = b[:end]
		if err := r.ReadAt(ctx, b[done:], offset+done); err != nil {
			return nil, err
		}
		if done = end; done == n {
			return b, nil
		}
	}
}
