package read

import (
	"bytes"
	"context"
	"fmt"
	"sort"
	"sync/atomic"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/storage"
)

// clusterColumn is a column in a cluster.
type clusterColumn struct {
	pages  *pages
	id     uint32
	codec  column.Codec // not of a Switch
	bits   uint16
	list   []envelope.Page
	starts []int64 // first element of each page, and the number of elements
	shared bool    // some pages are stored once for several places

	// lastEnd has the last element of each page of an index column, plus one, as far as it was
	// decoded: the first collection of the next page begins there.
	lastEnd []atomic.Int64
}

// openColumn lays out the pages of a column. elements is how many it has by what is
// around it, or -1 if that is not known before its values are read.
func (t *Table) openColumn(c *envelope.Cluster, id uint32, kind column.Kind, elements int64) (*clusterColumn, error) {
	desc := &t.schema.Columns[id]
	out := &clusterColumn{pages: &t.pages, id: id, bits: desc.Bits, list: c.Pages(id)}
	if desc.Type != column.Switch {
		var err error
		if out.codec, err = column.NewCodec(desc.Type, desc.Bits, desc.Min, desc.Max, kind); err != nil {
			return nil, fault.In(err, out.name(), -1)
		}
	}
	have := int64(0)
	for _, p := range out.list {
		have += int64(p.Elements)
	}
	first := int64(0)
	if elements >= 0 && have != elements {
		missing := int64(len(c.Columns)) <= int64(id)
		deferred := desc.Flags&envelope.ColumnDeferred != 0
		if !missing && !deferred || have > elements {
			return nil, fault.In(fault.Corruptf("%d elements where %d are due", have, elements), out.name(), -1)
		}
		first = elements - have
	}
	out.starts = make([]int64, len(out.list)+1)
	out.starts[0] = first
	if desc.Type.Index() {
		out.lastEnd = make([]atomic.Int64, len(out.list))
	}
	seen := make(map[uint64]bool, len(out.list))
	for i, p := range out.list {
		out.starts[i+1] = out.starts[i] + int64(p.Elements)
		out.shared = out.shared || seen[p.Offset]
		seen[p.Offset] = true
	}
	return out, nil
}

func (c *clusterColumn) name() string { return fmt.Sprintf("column %d", c.id) }

// len is the number of elements in the cluster.
func (c *clusterColumn) len() int64 { return c.starts[len(c.list)] }

// within tells whether runs lie in the column.
func (c *clusterColumn) within(rs runs) error {
	for _, r := range rs {
		if !r.absent() && r.from+r.n > c.len() {
			return fault.In(fault.Corruptf("element %d is asked for, of %d", r.from+r.n-1, c.len()), c.name(), -1)
		}
	}
	return nil
}

// pagesOf calls f with each page that runs need, once for each run.
func (c *clusterColumn) pagesOf(rs runs, f func(page int, from, to int64)) {
	for _, r := range rs {
		if r.absent() {
			continue
		}
		end := r.from + r.n
		for i := max(sort.Search(len(c.list), func(i int) bool { return c.starts[i+1] > r.from }), 0); i < len(c.list) && c.starts[i] < end; i++ {
			if c.starts[i] < c.starts[i+1] {
				f(i, max(r.from, c.starts[i]), min(end, c.starts[i+1]))
			}
		}
	}
}

// appendRanges appends the bytes of the pages that runs need.
func (c *clusterColumn) appendRanges(dst []storage.ByteRange, rs runs) []storage.ByteRange {
	last := -1
	c.pagesOf(rs, func(page int, _, _ int64) {
		if page != last {
			dst = c.pages.appendRange(dst, c.list[page])
		}
		last = page
	})
	return dst
}

// prefetch reads the pages that runs need and that are not prefetched yet.
func (c *clusterColumn) prefetch(ctx context.Context, rs runs, in input) (input, error) {
	missing := in.have.Missing(c.appendRanges(nil, rs))
	if len(missing) < 2 {
		return in, nil
	}
	more, err := storage.Prefetch(ctx, missing, storage.DefaultCoalesce(c.pages.file.Reader().Capabilities().Latency))
	in.have = append(in.have[:len(in.have):len(in.have)], more...)
	return in, err
}

// unpack calls decode with the content of a page, which must not be kept.
func (c *clusterColumn) unpack(ctx context.Context, page int, in input, decode func(b []byte) error) error {
	in.counters.AddBlock(c.list[page].Offset, int64(c.list[page].Size))
	return c.pages.unpack(ctx, c.list[page], c.bits, in.have, nil, decode)
}

// whole decodes a page into the memory that room gives, which has room for its values from at on.
func (c *clusterColumn) whole(ctx context.Context, page int, in input, at int64, room func() []byte) error {
	n := int(c.list[page].Elements)
	if !c.codec.Plain() {
		return c.unpack(ctx, page, in, func(b []byte) error { return c.codec.Decode(room(), int(at), b, n) })
	}
	in.counters.AddBlock(c.list[page].Offset, int64(c.list[page].Size))
	width := c.codec.Kind().Size(1)
	place := func() []byte { return room()[int(at)*width:][:n*width] }
	return c.pages.unpack(ctx, c.list[page], c.bits, in.have, place, func([]byte) error { return nil })
}

// values decodes the elements of runs into dst, which has room for them.
func (c *clusterColumn) values(ctx context.Context, dst []byte, rs runs, in input) error {
	return c.read(ctx, rs, in, func(page int, at, from, to int64, in input) error {
		if err := c.part(ctx, dst, page, at, from, to, in); err != nil {
			return err
		}
		if c.lastEnd != nil && to == c.starts[page+1] {
			c.lastEnd[page].Store(arrowutil.As[int64](dst)[at+to-from-1] + 1)
		}
		return nil
	}, func(at, n int64) { clearValues(dst, at, n, c.codec.Kind()) })
}

// part decodes the elements of a page from from up to to, to value at of dst on.
func (c *clusterColumn) part(ctx context.Context, dst []byte, page int, at, from, to int64, in input) error {
	begin, end := c.starts[page], c.starts[page+1]
	if !c.shared && from == begin && to == end {
		return c.whole(ctx, page, in, at, func() []byte { return dst })
	}
	whole, err := c.decoded(ctx, page, in)
	if err != nil {
		return err
	}
	copyValues(dst, at, whole, from-begin, to-from, c.codec.Kind())
	if to == end && !c.shared { // a scan goes on with the next page
		c.pages.decoded.Remove(c.key(page, c.codec.Kind()))
	}
	return nil
}

// before is the end of the collection before one, if it is known without a read.
func (c *clusterColumn) before(element int64) (end int64, known bool) {
	if element <= c.starts[0] {
		return 0, true
	}
	page := sort.Search(len(c.list), func(i int) bool { return c.starts[i+1] >= element })
	if page == len(c.list) || c.starts[page+1] != element {
		return 0, false
	}
	v := c.lastEnd[page].Load()
	return v - 1, v > 0
}

// read calls part for each part of a page that runs need, and zero for elements that are
// absent or not stored; at is the place of the first element in the result.
func (c *clusterColumn) read(ctx context.Context, rs runs, in input,
	part func(page int, at, from, to int64, in input) error, zero func(at, n int64),
) error {
	if err := c.within(rs); err != nil {
		return err
	}
	in, err := c.prefetch(ctx, rs, in)
	if err != nil {
		return err
	}
	in.last = &lastPage{page: -1}
	at := int64(0)
	for i, r := range rs {
		if before := min(r.n, max(c.starts[0]-r.from, 0)); r.absent() {
			zero(at, r.n)
		} else if before > 0 {
			zero(at, before)
		}
		c.pagesOf(rs[i:i+1], func(page int, from, to int64) {
			if err == nil {
				in.counters.AddValues(to-from, from == c.starts[page] && to == c.starts[page+1])
				if err = part(page, at+from-r.from, from, to, in); err != nil {
					err = fault.In(place(err, page, c.list[page]), c.name(), -1)
				}
			}
		})
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		at += r.n
	}
	return nil
}

// decoded gives all values of a page, those of a Switch as they are stored. They stay the cache's.
func (c *clusterColumn) decoded(ctx context.Context, page int, in input) (values []byte, err error) {
	if in.last.page == page { // the cache may be too small for all columns that are read at the same time
		return in.last.values, nil
	}
	defer func() {
		if err == nil {
			*in.last = lastPage{page, values}
		}
	}()
	p, kind := c.list[page], c.codec.Kind()
	key := c.key(page, kind)
	if v, ok := c.pages.decoded.Get(key); ok {
		return v, nil
	}
	if kind == 0 {
		err = c.unpack(ctx, page, in, func(b []byte) error {
			values = bytes.Clone(b)
			return nil
		})
	} else {
		err = c.whole(ctx, page, in, 0, func() []byte {
			values = make([]byte, kind.Size(int(p.Elements)))
			return values
		})
	}
	if err == nil {
		c.pages.decoded.Put(key, values, int64(len(values)))
	}
	return values, err
}

func (c *clusterColumn) key(page int, kind column.Kind) pageKey {
	p := c.list[page]
	return pageKey{offset: p.Offset, column: c.id, kind: kind, n: p.Elements}
}

// switches are the values of a variant's column.
type switches struct {
	tags   []int8
	places []int32
}

// switches decodes the elements of runs of a Switch column.
func (c *clusterColumn) switches(ctx context.Context, rs runs, in input) (switches, error) {
	n := rs.len()
	out := switches{make([]int8, n), make([]int32, n)}
	err := c.read(ctx, rs, in, func(page int, at, from, to int64, in input) error {
		b, err := c.decoded(ctx, page, in)
		if err != nil {
			return err
		}
		return column.DecodeSwitch(out.tags[at:at+to-from], out.places[at:at+to-from], b, int(from-c.starts[page]))
	}, func(at, n int64) { clear(out.tags[at : at+n]); clear(out.places[at : at+n]) })
	return out, err
}

// copyValues copies n values from value from of src to value at of dst. Both are buffers
// of values of a kind.
func copyValues(dst []byte, at int64, src []byte, from, n int64, k column.Kind) {
	if k == column.KindBool {
		bitmap.Bits{Data: src, Off: int(from), Len: int(n)}.CopyTo(dst, int(at))
		return
	}
	width := int64(k.Size(1))
	copy(dst[at*width:(at+n)*width], src[from*width:])
}

// clearValues makes n values zero, from value at of dst on.
func clearValues(dst []byte, at, n int64, k column.Kind) {
	if k == column.KindBool {
		bitmap.ClearRange(dst, int(at), int(n))
		return
	}
	width := int64(k.Size(1))
	clear(dst[at*width : (at+n)*width])
}
