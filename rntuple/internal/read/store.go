// Package read reads the values of an RNTuple into Arrow arrays, cluster by cluster.
//
// A [Table] is what the scan engine reads: clusters are its stripes. A column of a
// cluster is read for a set of entries, from the top of its field down:
//
//	entries ── index column ── entries of the items ── index column ── …
//	   │
//	   └ pages of the column that hold them: read together, checked, unpacked,
//	     decoded into the array; a page that is wanted in part is kept for the next batch
//
// Elements of a column are counted in their cluster, as index columns do. An element
// before the first page of a deferred column is zero.
package read

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
)

// pages reads the pages of an ntuple.
type pages struct {
	file    *rootfile.File
	maxKey  uint64
	trusted bool // checksums of pages are not compared

	decoded *lru.Cache[pageKey, []byte] // pages that were wanted in part, or repeat
	scratch sync.Pool                   // of *scratch
}

// pageKey names a decoded page: its place, and the column and kind of value that it was decoded as.
type pageKey struct {
	offset uint64
	column uint32
	kind   column.Kind
	n      uint32
}

// scratch is what unpacking one page after the other takes.
type scratch struct {
	decoder compress.Decoder
	raw     []byte
}

// checksumBytes follow a page, if it has a checksum.
const checksumBytes = 8

func stored(p envelope.Page) uint64 {
	if p.Checksum {
		return p.Size + checksumBytes
	}
	return p.Size
}

// split tells whether a page is a blob of several keys.
func (s *pages) split(p envelope.Page) bool { return s.maxKey > 0 && stored(p) > s.maxKey }

// check tells whether a page can be in the file, and its content of so many bytes in the page.
func (s *pages) check(p envelope.Page, raw uint64) error {
	if err := p.Check(s.file.Size(), s.maxKey); err != nil {
		return err
	}
	if p.Size > raw {
		return fault.Corruptf("page of %d bytes for %d bytes of elements", p.Size, raw)
	}
	return nil
}

// appendRange appends the bytes of a page, if they are in one piece.
func (s *pages) appendRange(dst []storage.ByteRange, p envelope.Page) []storage.ByteRange {
	if s.split(p) || p.Check(s.file.Size(), s.maxKey) != nil || p.Elements == 0 {
		return dst
	}
	return append(dst, storage.ByteRange{Reader: s.file.Reader(), Offset: int64(p.Offset), Size: int64(stored(p))})
}

// bytes gives the stored bytes of a page, whose checksum was compared.
func (s *pages) bytes(ctx context.Context, p envelope.Page, have storage.Prefetched) (b []byte, err error) {
	size := stored(p)
	if s.split(p) {
		b, err = s.file.Blob(ctx, p.Offset, size, s.maxKey)
	} else if b = have.Bytes(s.file.Reader(), int64(p.Offset), int64(size)); b == nil {
		b, err = storage.ReadRange(ctx, s.file.Reader(), int64(p.Offset), int64(size))
	}
	if err != nil {
		return nil, err
	}
	if p.Checksum {
		if want, got := binary.LittleEndian.Uint64(b[p.Size:]), xxh3.Hash(b[:p.Size]); want != got && !s.trusted {
			return nil, fault.Checksumf("checksum is %016x, of the bytes %016x", want, got)
		}
	}
	return b[:p.Size], nil
}

// unpack calls decode with the uncompressed content of a page. It is in the memory that room gives, or without room must not be kept.
func (s *pages) unpack(ctx context.Context, p envelope.Page, bits uint16, have storage.Prefetched, room func() []byte, decode func(page []byte) error) error {
	raw := column.PageSize(p.Elements, bits)
	if err := s.check(p, raw); err != nil {
		return err
	}
	b, err := s.bytes(ctx, p, have)
	if err != nil {
		return err
	}
	if room == nil && uint64(len(b)) == raw {
		return decode(b)
	}
	if err := compress.Check(b, raw); err != nil {
		return err
	}
	w := s.scratch.Get().(*scratch)
	defer s.scratch.Put(w)
	if room == nil {
		room = func() []byte { return w.room(raw) }
	}
	page := room()
	if err := w.decoder.Decode(page, b); err != nil {
		return err
	}
	if cap(w.raw) > maxKept {
		w.raw = nil
	}
	return decode(page)
}

// room gives memory of n bytes until the next call.
func (w *scratch) room(n uint64) []byte {
	if uint64(cap(w.raw)) < n {
		w.raw = make([]byte, n)
	}
	return w.raw[:n]
}

// maxKept is the largest scratch memory that is kept for the next page: pages of most
// writers are smaller.
const maxKept = 4 << 20

// place adds to an error which page of which column it is about.
func place(err error, page int, p envelope.Page) error {
	return fault.In(err, fmt.Sprintf("page %d", page), int64(p.Offset))
}

// input is what a read begins with: bytes that were read before, and the counters of its work.
type input struct {
	have     storage.Prefetched
	counters *counters // nil for none
	last     *lastPage // of the column that is being read
}

// lastPage is the decoded page that values were copied of last.
type lastPage struct {
	page   int
	values []byte
}

// counters are those of pages, by offset. A page that comes from the cache is not read.
type counters = table.BlockCounters[uint64]
