package tree

import (
	"context"
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
)

// basket has the values of some entries of a branch.
type basket struct {
	data    []byte
	offsets []byte // of entries in data, big-endian 32-bit numbers that count from the start of the record; nil if all are of one size
	key     int    // bytes of the record in front of data
	n       int    // entries
}

// entry is where an entry begins in the data.
func (b *basket) entry(i int) int {
	switch {
	case i == b.n:
		return len(b.data)
	case b.offsets == nil:
		return len(b.data) / b.n * i
	}
	return int(int32(binary.BigEndian.Uint32(b.offsets[4*i:]))) - b.key
}

// basketHead is what stands behind the strings of a basket's key.
//
//	u16 version 3, i32 size of a buffer
//	i32 bytes of an entry, or more than entries if there are offsets; negative if features follow: an object of a byte
//	i32 entries, i32 where the data ends in the record, u8 flags
type basketHead struct {
	entries, last int
	flags         int
}

func (c *cursor) basketHead() (h basketHead) {
	c.take(6)
	if c.i32() < 0 {
		if _, end := c.header(); end >= 0 && c.err == nil {
			c.pos = end
		}
	}
	h.entries, h.last, h.flags = c.i32(), c.i32(), c.u8()
	return h
}

const (
	noOffsets = 80 // offsets are to be computed
	flagsOf   = 40 // there are displacements
)

// newBasket cuts the payload of a basket, which lies behind a key of some bytes.
func newBasket(h basketHead, payload []byte, key int) (*basket, error) {
	border := h.last - key
	b := &basket{key: key, n: h.entries}
	switch {
	case border < 0 || border > len(payload) || h.entries < 0:
		return nil, fault.Corruptf("%d entries end at byte %d of %d", h.entries, border, len(payload))
	case h.flags >= noOffsets:
		return nil, fault.Unsupportedf("a basket without offsets, which its writer left out")
	case border < len(payload): // a number of offsets, and these
		b.offsets = payload[border:]
		if len(b.offsets) < 4+4*h.entries {
			return nil, fault.Corruptf("%d bytes of offsets for %d entries", len(b.offsets), h.entries)
		}
		b.offsets = b.offsets[4:]
	case h.entries > 0 && border%h.entries != 0:
		return nil, fault.Corruptf("%d entries of one size in %d bytes", h.entries, border)
	}
	b.data = payload[:border]
	return b, nil
}

// basketIn is a basket that is part of the tree's record.
func basketIn(r *reader, o *classObject) (*basket, error) {
	c := cursor{b: r.b, pos: int(o.int("start")), end: int(o.int("end"))}
	if c.end < c.pos || c.end > len(r.b) {
		return nil, fault.Corruptf("no end of a basket")
	}
	c.take(4)
	wide := c.u16() > 1000
	c.take(8)
	key := c.u16()
	c.take(2 + 8)
	if wide {
		c.take(8)
	}
	for range 3 {
		c.text()
	}
	h := c.basketHead()
	var offsets []byte
	switch flags := h.flags; {
	case flags >= noOffsets || flags > flagsOf:
		return nil, fault.Unsupportedf("a basket in the tree with the flags %d", flags)
	case flags != 0 && flags%10 != 2 && h.entries > 0:
		n := c.count(4)
		offsets = c.take(4 * n)
	}
	if h.flags != 1 && h.flags <= 10 {
		return nil, fault.Corruptf("a basket without values")
	}
	raw := c.take(h.last)
	if c.err != nil || key > len(raw) {
		return nil, fault.Corruptf("a basket of %d bytes behind a key of %d: %v", len(raw), key, c.err)
	}
	b := &basket{data: raw[key:], key: key, n: h.entries, offsets: offsets}
	if h.entries < 0 || offsets != nil && len(offsets) < 4*h.entries || offsets == nil && h.entries > 0 && len(b.data)%h.entries != 0 {
		return nil, fault.Corruptf("%d entries in %d bytes, and %d bytes of offsets", h.entries, len(b.data), len(offsets))
	}
	return b, nil
}

// of are the baskets of a branch that have some of the entries of a range.
func (br *branch) of(r rowset.Range) (from, to int) {
	from = sort.Search(len(br.baskets), func(i int) bool { return br.baskets[i].last > r.From })
	to = from + sort.Search(len(br.baskets)-from, func(i int) bool { return br.baskets[from+i].first >= r.To })
	return from, to
}

// in adds a basket to an error about its content.
func (br *branch) in(err error, i int) error {
	return fault.In(err, fmt.Sprintf("branch %q, basket %d", br.name, i), br.baskets[i].offset)
}

// basketKey names an unpacked basket.
type basketKey struct {
	branch *branch
	i      int
}

// basket reads a basket, unless it was kept.
func (t *Table) basket(ctx context.Context, br *branch, i int, o *table.ReadOptions) (b *basket, err error) {
	at := br.baskets[i]
	defer func() { err = br.in(err, i) }()
	defer fault.Recover(&err)
	if at.object != nil {
		if b, err = basketIn(br.record, at.object); err == nil && int64(b.n) < at.last-at.first {
			err = fault.Corruptf("%d entries where %d are due", b.n, at.last-at.first)
		}
		return b, err
	}
	if b, ok := t.baskets.Get(basketKey{br, i}); ok {
		return b, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	raw := o.Prefetched.Bytes(t.file.Reader(), at.offset, at.size)
	if raw == nil {
		if raw, err = storage.ReadRange(ctx, t.file.Reader(), at.offset, at.size); err != nil {
			return nil, err
		}
	}
	key, extra, payload, err := rootfile.ParseBasket(raw, at.offset)
	if err != nil {
		return nil, err
	}
	c := cursor{b: extra, end: len(extra)}
	h := c.basketHead()
	if c.err != nil {
		return nil, c.err
	}
	if int64(h.entries) != at.last-at.first {
		return nil, fault.Corruptf("%d entries where %d are due", h.entries, at.last-at.first)
	}
	if b, err = newBasket(h, payload, int(key.HeaderSize)); err != nil {
		return nil, err
	}
	if n, ok := o.Counters.(*table.BlockCounters[basketKey]); ok {
		n.AddBlock(basketKey{br, i}, at.size)
	}
	t.baskets.Put(basketKey{br, i}, b, int64(len(payload)))
	return b, nil
}
