package read

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
	"github.com/amudai/amudai-go/storage"
)

// PageRange is the bytes of a page in the file, with its checksum. Pages of equal content may share them.
type PageRange struct {
	envelope.Page
	Bits uint16
}

// Stored is the number of bytes in the file.
func (p PageRange) Stored() uint64 { return stored(p.Page) }

// checkBytes bounds the memory of what CheckPages and CheckField read at once.
const checkBytes = 64 << 20

// CheckPages reads and unpacks the pages of a column of a cluster for which isNew is true, and gives their
// number. problem is called for each that is damaged, and may end the check by an error. Other errors are
// those of reading.
func (t *Table) CheckPages(ctx context.Context, cluster int, id uint32, isNew func(PageRange) bool, problem func(error) error) (pages int64, err error) {
	desc := &t.schema.Columns[id]
	err = t.pages.each(ctx, t.clusters[cluster].Pages(id), func(i int, p envelope.Page, have storage.Prefetched) error {
		if !isNew(PageRange{p, desc.Bits}) {
			return nil
		}
		pages++
		err := t.checkPage(ctx, p, desc, have)
		if !fault.Is(err) {
			return err
		}
		return problem(t.pageError(err, cluster, id, i, p))
	})
	return pages, err
}

// pageError says which page an error is about.
func (t *Table) pageError(err error, cluster int, id uint32, page int, p envelope.Page) error {
	return t.placed(fault.In(place(err, page, p), fmt.Sprintf("column %d", id), -1), cluster)
}

// CopyPages reads the pages of columns of a cluster, one column after the other, and calls do with each as it is stored, and with the number of the column
// among them. Checksums are compared, values are not looked at. The bytes must not be kept.
func (t *Table) CopyPages(ctx context.Context, cluster int, ids []uint32, do func(k int, p PageRange, packed []byte) error) error {
	var all []envelope.Page
	var ends []int
	for _, id := range ids {
		all = append(all, t.clusters[cluster].Pages(id)...)
		ends = append(ends, len(all))
	}
	k, first := 0, 0
	return t.pages.each(ctx, all, func(i int, p envelope.Page, have storage.Prefetched) error {
		for ; i == ends[k]; k++ {
			first = i
		}
		r := PageRange{p, t.schema.Columns[ids[k]].Bits}
		err := t.pages.check(p, r.RawBytes())
		var packed []byte
		if err == nil {
			packed, err = t.pages.bytes(ctx, p, have)
		}
		if err == nil {
			err = compress.Check(packed, r.RawBytes())
		}
		if err == nil {
			err = do(k, r, packed)
		}
		if err != nil {
			return t.pageError(err, cluster, ids[k], i-first, p)
		}
		return nil
	})
}

// each calls do with the pages of a list, many of which are read together.
func (s *pages) each(ctx context.Context, list []envelope.Page, do func(i int, p envelope.Page, have storage.Prefetched) error) (err error) {
	var have storage.Prefetched
	ahead := 0
	for i, p := range list {
		if i >= ahead {
			if have, ahead, err = s.ahead(ctx, list, i); err != nil {
				return err
			}
		}
		if err := do(i, p, have); err != nil {
			return err
		}
	}
	return nil
}

// ahead reads the pages from i on, up to checkBytes, and gives the first that it did not read.
func (s *pages) ahead(ctx context.Context, list []envelope.Page, i int) (storage.Prefetched, int, error) {
	var ranges []storage.ByteRange
	for bytes := uint64(0); i < len(list); i++ {
		bytes += min(stored(list[i]), checkBytes)
		if bytes > checkBytes && len(ranges) > 0 {
			break
		}
		if stored(list[i]) <= checkBytes {
			ranges = s.appendRange(ranges, list[i])
		}
	}
	have, err := storage.Prefetch(ctx, ranges, storage.DefaultCoalesce(s.file.Reader().Capabilities().Latency))
	return have, i, err
}

func (t *Table) checkPage(ctx context.Context, p envelope.Page, desc *envelope.Column, have storage.Prefetched) error {
	if desc.Type.Known() {
		return t.pages.unpack(ctx, p, desc.Bits, have, nil, func([]byte) error { return nil })
	}
	if err := p.Check(t.file.Size(), t.anchor.MaxKeySize); err != nil {
		return err
	}
	_, err := t.pages.bytes(ctx, p, have)
	return err
}

// placed adds the cluster and the file to an error.
func (t *Table) placed(err error, cluster int) error {
	return t.Located(fault.In(err, fmt.Sprintf("cluster %d", cluster), -1))
}

// Fields are the top-level fields that can be read.
func (t *Table) Fields() []*fields.Field { return t.tree.Fields }

// ErrTooLarge tells that a value is larger than a check decodes at once.
var ErrTooLarge = errors.New("too large to be checked")

// CheckField decodes all values of a top-level field in a cluster, and gives how many entries it has.
// Entries in front of the first stored value of a deferred column are zeros, and left out.
func (t *Table) CheckField(ctx context.Context, cluster, field int) (entries int64, err error) {
	cl := &t.clusters[cluster]
	f := t.tree.Fields[field]
	defer func() {
		if err != nil {
			err = t.placed(fault.In(err, fmt.Sprintf("field %q", f.Arrow.Name), -1), cluster)
		}
	}()
	open, err := t.openField(cl, f, int64(cl.Entries))
	if err != nil {
		return 0, err
	}
	at := open.firstStored(int64(cl.Entries))
	entries = int64(cl.Entries) - at
	for n := int64(64 << 10); at < int64(cl.Entries); {
		n = min(n, int64(cl.Entries)-at)
		b := builder{ctx: ctx, mem: memory.DefaultAllocator, limit: checkBytes}
		_, err := b.data(open, runs{{at, n}})
		b.release()
		switch {
		case errors.Is(err, fault.ErrBatchTooLarge) && n > 1:
			n /= 2
		case errors.Is(err, fault.ErrBatchTooLarge):
			return entries, fmt.Errorf("entry %d: %w", at, ErrTooLarge)
		case err != nil:
			return entries, err
		default:
			at += n
		}
	}
	return entries, nil
}

// firstStored is the first of n values of a field that some page holds a part of, or n.
func (f *openField) firstStored(n int64) int64 {
	first := n
	if f.Layout == fields.FixedBytes {
		first = n * f.N
	}
	if len(f.columns) > 0 && len(f.columns[0].list) > 0 {
		first = min(first, f.columns[0].starts[0])
	}
	switch f.Layout {
	case fields.FixedBytes:
		first = min(first/f.N, n)
	case fields.Struct:
		for _, kid := range f.children {
			first = min(first, kid.firstStored(n))
		}
	case fields.FixedList:
		for _, kid := range f.children {
			first = min(first, kid.firstStored(n*f.N)/f.N)
		}
	}
	return first
}

// RawBytes is the number of bytes of the page's elements before they are compressed.
func (p PageRange) RawBytes() uint64 { return column.PageSize(p.Elements, p.Bits) }

// Envelope reads an envelope and unpacks it.
func (t *Table) Envelope(ctx context.Context, l envelope.Link) ([]byte, error) {
	all, err := t.envelopes(ctx, []envelope.Link{l})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}
