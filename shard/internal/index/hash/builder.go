package hash

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"io"

	"github.com/amudai/amudai-go/storage"
)

// Builder collects hashes with their rows. It must not be used concurrently.
type Builder struct {
	spool   func() *storage.Spool
	limit   int // entries in memory
	entries []entry
	runs    []*storage.Spool // sorted entries
	n       int64
}

type entry struct {
	hash uint64
	row  uint32
}

const (
	entrySize  = 16 // in memory
	storedSize = 12
)

// NewBuilder returns a builder. It takes about so many bytes of memory, and then temporary files, which it closes.
func NewBuilder(memory int64, spool func() *storage.Spool) *Builder {
	return &Builder{spool: spool, limit: int(max(memory/(2*entrySize), 1<<10))}
}

// Add adds a row to a hash. The rows of a key come in ascending order; the same row may come again.
func (b *Builder) Add(hash uint64, row uint32) error {
	if len(b.entries) == b.limit {
		if err := b.spill(); err != nil {
			return err
		}
	}
	if len(b.entries) == cap(b.entries) {
		b.entries = append(make([]entry, 0, min(max(2*cap(b.entries), 1<<10), b.limit)), b.entries...)
	}
	b.entries = append(b.entries, entry{hash, row})
	b.n++
	return nil
}

// spill writes the entries in memory to a temporary file, sorted.
func (b *Builder) spill() error {
	b.sort()
	s := b.spool()
	b.runs = append(b.runs, s)
	w := bufio.NewWriterSize(s, 1<<16)
	var buf [storedSize]byte
	for _, e := range b.entries {
		binary.LittleEndian.PutUint64(buf[:], e.hash)
		binary.LittleEndian.PutUint32(buf[8:], e.row)
		if _, err := w.Write(buf[:]); err != nil {
			return err
		}
	}
	b.entries = b.entries[:0]
	return w.Flush()
}

// digitBits is the bits of a hash by which a pass of sort distributes entries.
const digitBits = 11

// sort sorts the entries in memory by their hashes. Those of a hash keep their order.
func (b *Builder) sort() {
	var counts [(64 + digitBits - 1) / digitBits][1 << digitBits]int32
	for _, e := range b.entries {
		for i := range counts {
			counts[i][e.hash>>(i*digitBits)&(1<<digitBits-1)]++
		}
	}
	from, to := b.entries, make([]entry, len(b.entries))
	for i := range counts {
		at := int32(0)
		for digit, n := range counts[i] {
			counts[i][digit] = at
			at += n
		}
		for _, e := range from {
			place := &counts[i][e.hash>>(i*digitBits)&(1<<digitBits-1)]
			to[*place] = e
			*place++
		}
		from, to = to, from
	}
	b.entries = from
}

// Close removes temporary files.
func (b *Builder) Close() (err error) {
	for _, s := range b.runs {
		err = cmp.Or(err, s.Close())
	}
	b.runs, b.entries = nil, nil
	return err
}

// cursor is a place in sorted entries: those in memory, or those of a temporary file.
type cursor struct {
	entry
	order  int // among cursors, that of their rows
	memory []entry
	file   *bufio.Reader
}

// next moves to the next entry; ok is false behind the last.
func (c *cursor) next() (ok bool, err error) {
	if c.file == nil {
		if len(c.memory) == 0 {
			return false, nil
		}
		c.entry, c.memory = c.memory[0], c.memory[1:]
		return true, nil
	}
	b, err := c.file.Peek(storedSize)
	if err == io.EOF && len(b) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.entry = entry{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])}
	_, err = c.file.Discard(storedSize)
	return true, err
}

func (c *cursor) less(o *cursor) bool {
	return c.hash < o.hash || c.hash == o.hash && c.order < o.order
}

// merge is cursors as a heap: the least is the first.
type merge []*cursor

// Each calls yield with the hashes of builders in ascending order, and their rows. Those of a hash come in the order in which they were added, if
// the rows of each builder follow those of the one before.
func Each(ctx context.Context, builders []*Builder, yield func(hash uint64, row uint32) error) error {
	m, err := newMerge(builders)
	if err != nil {
		return err
	}
	for n := 0; len(m) > 0; n++ {
		if n&(1<<16-1) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := yield(m[0].hash, m[0].row); err != nil {
			return err
		}
		if err := m.advance(); err != nil {
			return err
		}
	}
	return nil
}

// newMerge merges the entries of builders.
func newMerge(builders []*Builder) (m merge, err error) {
	add := func(c cursor) error {
		c.order = len(m)
		ok, err := c.next()
		if ok {
			m = append(m, &c)
		}
		return err
	}
	for _, b := range builders {
		for _, s := range b.runs {
			if err := add(cursor{file: bufio.NewReaderSize(io.NewSectionReader(s, 0, s.Size()), 1<<16)}); err != nil {
				return nil, err
			}
		}
		b.sort()
		if err := add(cursor{memory: b.entries}); err != nil {
			return nil, err
		}
	}
	for i := len(m)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m, nil
}

func (m merge) down(i int) {
	for {
		kid := 2*i + 1
		if kid >= len(m) {
			return
		}
		if kid+1 < len(m) && m[kid+1].less(m[kid]) {
			kid++
		}
		if !m[kid].less(m[i]) {
			return
		}
		m[i], m[kid] = m[kid], m[i]
		i = kid
	}
}

// advance moves the least cursor on.
func (m *merge) advance() error {
	h := *m
	ok, err := h[0].next()
	if !ok {
		h[0] = h[len(h)-1]
		h = h[:len(h)-1]
		*m = h
	}
	h.down(0)
	return err
}
