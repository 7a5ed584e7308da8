package term

import (
	"context"
	"io"
	"slices"

	"github.com/amudai/amudai-go/index/term/internal/runs"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/storage"
)

// Part is an index of some of the rows of a joined one.
type Part struct {
	*Index
	First int64 // row of the joined index that is the first of this one
}

// Join writes the index of all rows that some indexes have the terms of, in the order of their rows: the same bytes that [Write] makes of these rows. The parts
// have the collation, the fields and the coarseness of the options, which see to it that a row in lists stands for the same rows in both: First is a multiple
// of Coarse. Join takes about so many bytes of memory, and a block of each part.
func Join(ctx context.Context, out io.Writer, o Options, memory int64, parts ...Part) error {
	w, err := newWriter(out, o)
	if err != nil {
		return err
	}
	if w.o.Rows > postings.MaxRow+1 {
		return fault.Limitf("term index of more than %d rows", postings.MaxRow+1)
	}
	all := make([]runs.Run, 0, len(parts))
	for i, p := range parts {
		if p.Coarse != w.o.Coarse || p.Fields != w.o.Fields || p.Scored != w.o.Scored || p.Collation != w.o.Collation || p.First%int64(p.Coarse) != 0 || p.First < 0 || p.First > w.o.Rows-p.Rows {
			return fault.Unsupportedf("part %d of a term index: %d rows from %d on of %d, one in lists for %d, with %d fields in the order %d", i, p.Rows, p.First, w.o.Rows, p.Coarse, p.Fields, p.Collation)
		}
		all = append(all, newIndexRun(ctx, p, memory/int64(len(parts))))
	}
	return w.merge(ctx, all)
}

// indexRun reads a part. Its context is that of the call of Join.
type indexRun struct {
	ctx       context.Context
	index     Index // whose bytes that were read ahead are those of the run
	first     uint32
	window    int64 // bytes to read ahead
	readUntil int   // block
	block     block
	of, i     int // the block, and the term of it that comes next
	last      Entry
	short     postings.Reader // at the next short list
	list      []uint32
	counts    []uint32
	joined    []uint32
	terms     uint64
	postings  uint64
}

// minWindow is the least of bytes to read ahead, so that not every block is a request.
const minWindow = 16 << 10

func newIndexRun(ctx context.Context, p Part, memory int64) *indexRun {
	return &indexRun{ctx: ctx, index: *p.Index, first: uint32(p.First), window: max(memory, minWindow), of: -1}
}

func (r *indexRun) Next() (ok bool, err error) {
	defer func() { err = fault.Of(err, r.index.file.Reader.Name()) }()
	if r.i == r.block.len() {
		if r.of++; r.of == len(r.index.blocks) {
			return false, r.end()
		}
		if err := r.open(); err != nil {
			return false, err
		}
	}
	e := r.block.entry(r.of, r.i)
	if r.terms > 0 && runs.Compare(r.index.Collation, r.last.Term, r.last.Field, e.Term, e.Field) >= 0 {
		return false, fault.InBlock(fault.Corruptf("term %q of field %d is not behind %q", e.Term, e.Field, r.last.Term), r.of, r.index.blocks[r.of].block)
	}
	r.last, r.i = e, r.i+1
	r.terms, r.postings = r.terms+1, r.postings+uint64(e.Rows)
	return true, nil
}

// end checks that the index has had all that it is said to have.
func (r *indexRun) end() error {
	if r.terms != r.index.Terms || r.postings != r.index.Postings {
		return fault.Corruptf("term index of %d terms with %d rows is said to have %d, %d", r.terms, r.postings, r.index.Terms, r.index.Postings)
	}
	return nil
}

// open opens the next block.
func (r *indexRun) open() error {
	if r.of >= r.readUntil {
		if err := r.readAhead(); err != nil {
			return err
		}
	}
	r.last.Term = slices.Clone(r.last.Term) // the memory of the block is that of the next
	e := r.index.blocks[r.of]
	data, err := r.index.read(r.ctx, e.block, e.end)
	if err != nil {
		return err
	}
	if err := r.index.parse(&r.block, r.of, data); err != nil {
		return err
	}
	r.i, r.short = 0, postings.NewReader(r.block.short)
	return nil
}

// readAhead reads the next blocks, and the long lists before them. Those lists of a block that are longer than the window are read one by one.
func (r *indexRun) readAhead() (err error) {
	blocks := r.index.blocks
	from, to := blocks[r.of].lists, blocks[r.of].end
	if to-from > r.window {
		from = blocks[r.of].block
	}
	for r.readUntil = r.of + 1; r.readUntil < len(blocks) && blocks[r.readUntil].end-from <= r.window; r.readUntil++ {
		to = blocks[r.readUntil].end
	}
	r.index.ahead, err = storage.Prefetch(r.ctx, []storage.ByteRange{{Reader: r.index.file.Reader, Offset: r.index.file.Offset + from, Size: to - from}}, storage.CoalesceOptions{})
	return err
}

func (r *indexRun) Term() ([]byte, int) { return r.last.Term, r.last.Field }
func (r *indexRun) Len() uint32         { return uint32(r.last.Rows) }

func (r *indexRun) Rows(yield func([]uint32)) (err error) {
	coarse := uint32(r.index.Coarse)
	part := func(rows, frequencies []uint32) error {
		r.joined = r.joined[:0]
		for i, row := range rows {
			times := uint32(1)
			if frequencies != nil {
				times += frequencies[i]
			}
			for range times {
				r.joined = append(r.joined, r.first+row*coarse)
			}
		}
		yield(r.joined)
		return r.ctx.Err()
	}
	e := r.last
	if e.Rows > shortRows {
		err = r.index.each(r.ctx, e, 0, uint32(r.index.total), nil, lists{counts: true, yield: part})
	} else if r.list, r.counts, err = r.block.readShort(&r.short, r.list[:0], r.counts[:0], e.i, r.index.total); err == nil {
		if e.Field >= r.index.Scored {
			r.counts = nil
		}
		err = part(r.list, r.counts)
	}
	return fault.Of(fault.InBlock(fault.In(err, "lists", -1), e.of, -1), r.index.file.Reader.Name())
}
