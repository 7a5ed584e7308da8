package storage

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// A ByteRange is a range of bytes of an artifact.
type ByteRange struct {
	Reader Reader // compared by identity
	Offset int64
	Size   int64
}

// TotalSize is the number of bytes of all ranges together.
func TotalSize(ranges []ByteRange) (n int64) {
	for _, r := range ranges {
		n += r.Size
	}
	return n
}

// Defaults of [CoalesceOptions], by the latency of a reader.
const (
	// LocalGap bytes cost about as much as a read of a local file. Ranges closer than
	// this are joined on every store.
	LocalGap = 4 << 10
	// LocalRequestBytes: larger reads of a file are no faster.
	LocalRequestBytes = 4 << 20
	// RemoteGap bytes arrive in less time than an object store takes to answer
	// (10 to 50 ms at 10 to 100 MB/s).
	RemoteGap = 256 << 10
	// RemoteRequestBytes make the wait for the first byte of a request small beside the
	// time its bytes take.
	RemoteRequestBytes = 16 << 20
	// RemoteRequests are sent at a time, with a single processor too: nearly all of
	// their time is waiting.
	RemoteRequests = 8
)

// CoalesceOptions say how byte ranges are joined into requests.
//
//	ranges      |aaa|   |bb|              |cccc|
//	requests    |aaa|...|bb|              |cccc|     the first gap is small enough
type CoalesceOptions struct {
	// Gap is the most unwanted bytes between two ranges that are read to save a
	// request. Ranges not more than LocalGap apart are always joined.
	Gap int64
	// Limit is about how many bytes a request reads. A request exceeds it only if a
	// single range does, or for ranges not more than LocalGap apart: these may be parts
	// of what is asked for in one piece later.
	Limit int64
	// Requests is the number of requests sent at a time; 0 means 1.
	Requests int
}

// DefaultCoalesce are the options that suit readers of a latency.
func DefaultCoalesce(l Latency) CoalesceOptions {
	if l == LatencyHigh {
		return CoalesceOptions{Gap: RemoteGap, Limit: RemoteRequestBytes, Requests: RemoteRequests}
	}
	return CoalesceOptions{Gap: LocalGap, Limit: LocalRequestBytes, Requests: 1}
}

// Coalesce sorts ranges by reader and offset, and returns the requests that read them
// all. Readers come in the order of their first range.
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

// joins tells whether next is read by the same request as the ranges in front of it.
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

// Prefetched holds bytes that were read ahead by one [Prefetch] or more. Append the
// results of several to hold them together. It does not change, and may be used by
// many goroutines.
type Prefetched []*prefetch

// prefetch is what one Prefetch read, by reader, then by offset.
type prefetch []prefetchedRange

type prefetchedRange struct {
	number int // of the reader, in the order of the ranges
	r      Reader
	offset int64
	bytes  []byte
}

// Prefetch reads ranges, in as few requests as o allows. It sorts ranges. If any
// request fails, so does Prefetch, once no request is under way any more.
func Prefetch(ctx context.Context, ranges []ByteRange, o CoalesceOptions) (Prefetched, error) {
	if len(ranges) == 0 {
		return nil, nil
	}
	requests := Coalesce(ranges, o)
	number := readerNumbers(requests)
	read := make(prefetch, len(requests))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(o.Requests, 1))
	for i, r := range requests {
		fetch := func() (err error) {
			defer fault.RecoverInternal(&err)
			read[i] = prefetchedRange{number: number[r.Reader], r: r.Reader, offset: r.Offset}
			read[i].bytes, err = ReadRange(ctx, r.Reader, r.Offset, r.Size)
			return err
		}
		if o.Requests > 1 && len(requests) > 1 {
			g.Go(fetch)
		} else if err := fetch(); err != nil {
			return nil, err
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return Prefetched{&read}, nil
}

// Missing returns ranges without those that p holds. It reuses the slice.
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

// Bytes are the n bytes of r from offset on, nil if p does not hold all of them. They
// must not be changed.
func (p Prefetched) Bytes(r Reader, offset, n int64) []byte {
	for _, f := range p {
		if b := f.bytes(r, offset, n); b != nil {
			return b
		}
	}
	return nil
}

func (f prefetch) bytes(r Reader, offset, n int64) []byte {
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
		from := offset - f[k].offset
		return f[k].bytes[from : from+n : from+n]
	}
	return nil
}

// Read is [ReadRange] that takes the bytes from p if it holds them. The result belongs
// to the caller.
func (p Prefetched) Read(ctx context.Context, r Reader, offset, n int64) ([]byte, error) {
	if b := p.Bytes(r, offset, n); b != nil {
		return slices.Clone(b), nil // so that the bytes around it can be freed
	}
	return ReadRange(ctx, r, offset, n)
}

// trustedBytes is how much memory [ReadRange] takes before the first byte has arrived.
const trustedBytes = 16 << 20

// ReadRange reads n bytes of r from offset on into memory of its own. The size of an
// artifact may be a claim of its server, and a reference in it a lie, so memory grows
// with the bytes that arrive: 16 MiB, then as much again as there is already.
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
	b := slices.Grow(buf[:0], int(min(max(n, 1), trustedBytes))) // not nil, for no bytes either
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
