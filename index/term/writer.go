package term

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/index/term/internal/packed"
	"github.com/amudai/amudai-go/index/term/internal/runs"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/frontcode"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
)

// Options are the properties of an index.
type Options struct {
	Rows      int64 // of the table
	Coarse    int   // rows of the table that are one row in lists, 0 for 1
	Fields    int   // 0 for 1
	Scored    int   // of the first so many fields lists have frequencies, and the last so many are their lengths
	Collation Collation
}

// total is the number of rows in lists.
func (o *Options) total() int64 { return (o.Rows + int64(o.Coarse) - 1) / int64(o.Coarse) }

// version is that of the format: 2 has frequencies.
func (o *Options) version() uint16 {
	if o.Scored > 0 {
		return 2
	}
	return 1
}

func (o *Options) check() error {
	o.Coarse, o.Fields = max(o.Coarse, 1), max(o.Fields, 1)
	switch {
	case o.Coarse > maxCoarse:
		return fault.Limitf("term index with one row for %d", o.Coarse)
	case o.total() > postings.MaxRow+1:
		return fault.Limitf("term index of %d rows: lists have at most %d", o.Rows, postings.MaxRow+1)
	case o.Fields > 1<<16-1:
		return fault.Limitf("term index of %d fields", o.Fields)
	case o.Scored < 0 || o.Scored > min(o.Fields/2, 1<<8-1) || o.Scored > 0 && o.Coarse > 1:
		return fault.Limitf("term index with frequencies in %d of %d fields, one row for %d", o.Scored, o.Fields, o.Coarse)
	}
	return nil
}

// writer writes an index. For each term in order, begin, its rows in order, and end; at last finish. The first error of the destination is kept for finish.
type writer struct {
	out       io.Writer
	o         Options
	total     int
	packer    packed.Packer
	block     openBlock
	directory []byte
	grams     gramWriter
	written   int64
	hash      xxh3.Hasher // of what is written
	listsSize int         // bytes of the long lists of the open block
	blocks    uint32
	terms     uint64
	postings  uint64
	err       error

	term   []byte
	field  int
	list   openList
	scored scoredList // in place of list, in fields with frequencies
}

// openList is the rows of the current term: all of them, or those of the last part.
type openList struct {
	rows     []uint32
	n        int
	divided  bool
	parts    []listPart // complete ones
	table    []byte
	postings postings.Writer
}

type listPart struct{ rows, size int }

func newWriter(out io.Writer, o Options) (*writer, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	w := &writer{out: out, o: o, total: int(o.total()), grams: gramWriter{collation: o.Collation, memory: gramMemory}}
	w.scored.lengths = make([][]uint8, o.Scored)
	return w, nil
}

// merge writes the terms of runs, and finishes the index.
func (w *writer) merge(ctx context.Context, all []runs.Run) error {
	err := runs.Merge(ctx, w.o.Collation, all, func(term []byte, field int, rows func(yield func(rows []uint32)) error) error {
		w.begin(term, field)
		if err := rows(w.rows); err != nil {
			return err
		}
		w.end()
		return w.err
	})
	if err != nil {
		return err
	}
	return w.finish()
}

// begin begins a term, in upper case if the index is case-insensitive. The writer refers to it until end.
func (w *writer) begin(term []byte, field int) {
	l := &w.list
	w.term, w.field = term, field
	l.rows, l.n, l.divided, l.parts, l.postings.Bytes = l.rows[:0], 0, false, l.parts[:0], l.postings.Bytes[:0]
	w.scored.reset()
}

// rows adds rows of the table to the current term. Repeated rows count once, but as frequencies.
func (w *writer) rows(rows []uint32) {
	if w.field < w.o.Scored {
		w.scored.add(w.field, rows)
		return
	}
	if of, ok := w.o.lengthsOf(w.field); ok && w.err == nil {
		w.err = w.scored.setLengths(of, w.term, rows, w.total)
	}
	l, coarse := &w.list, uint32(max(w.o.Coarse, 1))
	for _, r := range rows {
		if coarse > 1 {
			r /= coarse
		}
		if n := len(l.rows); n > 0 && l.rows[n-1] == r {
			continue
		}
		if l.divided && r/partRows != uint32(len(l.parts)) {
			w.closePart(int(r / partRows))
		}
		l.rows = append(l.rows, r)
		l.n++
		if l.n > longRows && !l.divided {
			w.divide()
		}
	}
}

// divide divides the rows so far into parts.
func (w *writer) divide() {
	l := &w.list
	all := l.rows
	l.rows, l.divided = all[:0], true
	for _, r := range all {
		if r/partRows != uint32(len(l.parts)) {
			w.closePart(int(r / partRows))
		}
		l.rows = append(l.rows, r) // not before the row it overwrites was read
	}
}

// closePart encodes the rows of a part, and goes on with another.
func (w *writer) closePart(next int) {
	l := &w.list
	base := len(l.parts) * partRows
	from := len(l.postings.Bytes)
	if len(l.rows) > 0 {
		for i := range l.rows {
			l.rows[i] -= uint32(base)
		}
		l.postings.Append(l.rows, min(partRows, w.total-base))
		l.postings.Align()
		l.postings.Bytes = container.AppendChecksum(l.postings.Bytes, from)
	}
	l.parts = append(l.parts, listPart{len(l.rows), len(l.postings.Bytes) - from})
	for len(l.parts) < next {
		l.parts = append(l.parts, listPart{})
	}
	l.rows = l.rows[:0]
}

// end writes the current term.
func (w *writer) end() {
	l, s, b := &w.list, &w.scored, &w.block
	n, size := l.n+s.n, 0
	switch {
	case n == 0:
		return
	case s.n > shortRows:
		s.endBlock(w.field)
		s.table = container.AppendChecksum(s.table, 0)
		size = w.write(s.table) + w.write(s.blocks)
	case s.n > 0:
		b.short.Append(s.rows, w.total)
		b.short.AppendCounts(s.frequencies)
	case l.divided:
		w.closePart((w.total + partRows - 1) / partRows)
		l.table = l.table[:0]
		for _, p := range l.parts {
			if l.table = binary.AppendUvarint(l.table, uint64(p.rows)); p.rows > 0 {
				l.table = binary.AppendUvarint(l.table, uint64(p.size))
			}
		}
		l.table = container.AppendChecksum(l.table, 0)
		size = w.write(l.table) + w.write(l.postings.Bytes)
	case l.n > shortRows:
		l.postings.Append(l.rows, w.total)
		l.postings.Align()
		l.postings.Bytes = container.AppendChecksum(l.postings.Bytes, 0)
		size = w.write(l.postings.Bytes)
	default:
		b.short.Append(l.rows, w.total)
	}
	w.listsSize += size
	w.grams.add(w.term, b.add(w.term, w.field, n, size))
	w.terms++
	w.postings += uint64(n)
	if b.n == blockTerms {
		w.endBlock()
	}
}

func (w *writer) write(b []byte) int {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
	_, _ = w.hash.Write(b)
	w.written += int64(len(b))
	return len(b)
}

// endBlock writes the open block, and its entry in the directory.
func (w *writer) endBlock() {
	b := &w.block
	if b.n == 0 || w.err != nil {
		return
	}
	if b.out, w.err = b.append(b.out[:0], &w.packer, w.o.Fields > 1); w.err != nil {
		return
	}
	d := append(w.directory, byte(len(b.first)))
	d = append(d, b.first...)
	if w.o.Fields > 1 {
		d = binary.AppendUvarint(d, uint64(b.firstField))
	}
	w.directory = binary.AppendUvarint(binary.AppendUvarint(d, uint64(w.listsSize)), uint64(w.write(b.out)))
	w.grams.endBlock(w.blocks)
	w.blocks++
	w.listsSize = 0
	b.reset()
}

// finish writes what remains.
func (w *writer) finish() error {
	w.endBlock()
	if w.err != nil {
		return w.err
	}
	pages := w.grams.pages(int(w.blocks), w.written/gramShare)
	for _, p := range pages {
		w.directory = binary.AppendUvarint(w.directory, uint64(w.write(p)))
	}
	stored, err := w.packer.Pack(nil, w.directory)
	if err != nil {
		return err
	}
	f := make([]byte, 0, footerLen)
	f = binary.LittleEndian.AppendUint64(f, uint64(w.o.Rows))
	f = binary.LittleEndian.AppendUint32(f, uint32(w.o.Coarse))
	f = binary.LittleEndian.AppendUint16(f, uint16(w.o.Fields))
	f = append(f, byte(w.o.Collation), byte(w.o.Scored))
	f = binary.LittleEndian.AppendUint64(f, w.terms)
	f = binary.LittleEndian.AppendUint64(f, w.postings)
	f = binary.LittleEndian.AppendUint32(f, w.blocks)
	f = binary.LittleEndian.AppendUint32(f, uint32(len(stored)))
	f = binary.LittleEndian.AppendUint32(f, uint32(len(w.directory)))
	f = binary.LittleEndian.AppendUint32(f, uint32(max(len(pages)-1, 0)))
	f = binary.LittleEndian.AppendUint64(f, w.hash.Sum64())
	f = binary.LittleEndian.AppendUint64(f, footerHash(stored, f))
	f = append(f, magic...)
	f = binary.LittleEndian.AppendUint16(f, w.o.version())
	w.write(stored)
	w.write(f)
	return w.err
}

// footerHash is the hash of a directory as stored, and the beginning of the footer.
func footerHash(directory, footer []byte) uint64 {
	h := xxh3.New()
	_, _ = h.Write(directory)
	_, _ = h.Write(footer)
	return h.Sum64()
}

// openBlock is the terms of a block that is not complete.
type openBlock struct {
	n                       int
	first, last             []byte
	firstField              int
	shared, lengths, fields []byte
	counts, sizes, suffixes []byte
	short                   postings.Writer
	numbers, out            []byte
}

// add adds a term with n rows, whose list has size bytes before the block, or is short. It returns how many bytes the term shares with the one before.
func (b *openBlock) add(term []byte, field, n, size int) (shared int) {
	if b.n == 0 {
		b.first, b.firstField = append(b.first[:0], term...), field
	}
	shared = frontcode.CommonPrefix(term, b.last)
	b.shared, b.lengths = append(b.shared, byte(shared)), append(b.lengths, byte(len(term)-shared))
	b.suffixes = append(b.suffixes, term[shared:]...)
	b.fields = binary.AppendUvarint(b.fields, uint64(field))
	b.counts = binary.AppendUvarint(b.counts, uint64(n-1))
	if n > shortRows {
		b.sizes = binary.AppendUvarint(b.sizes, uint64(size))
	}
	b.last = append(b.last[:0], term...)
	b.n++
	return shared
}

// append appends the block.
func (b *openBlock) append(dst []byte, p *packed.Packer, fields bool) (out []byte, err error) {
	e := append(append(b.numbers[:0], b.shared...), b.lengths...)
	if fields {
		e = append(e, b.fields...)
	}
	e = append(append(e, b.counts...), b.sizes...)
	b.numbers = e
	b.short.Align()
	from := len(dst)
	dst = append(dst, make([]byte, blockHeader)...)
	if dst, err = p.Pack(dst, e); err != nil {
		return dst, err
	}
	numbers := len(dst) - from - blockHeader
	if dst, err = p.Pack(dst, b.suffixes); err != nil {
		return dst, err
	}
	suffixes := len(dst) - from - blockHeader - numbers
	for i, n := range []int{b.n, numbers, len(e), suffixes, len(b.suffixes)} {
		binary.LittleEndian.PutUint16(dst[from+2*i:], uint16(n))
	}
	return container.AppendChecksum(append(dst, b.short.Bytes...), from), nil
}

func (b *openBlock) reset() {
	b.n, b.last = 0, b.last[:0]
	b.shared, b.lengths, b.fields = b.shared[:0], b.lengths[:0], b.fields[:0]
	b.counts, b.sizes, b.suffixes = b.counts[:0], b.sizes[:0], b.suffixes[:0]
	b.short.Bytes = b.short.Bytes[:0]
}
