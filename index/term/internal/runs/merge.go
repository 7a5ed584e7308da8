// Package runs has terms with their rows in the order of an index: they are collected in memory, kept in temporary files, and merged.
package runs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// Run is terms in the order of an index, with their rows.
type Run interface {
	// Next goes to the next term; false after the last one.
	Next() (ok bool, err error)
	// Term is the current term, valid until the next.
	Term() (term []byte, field int)
	// Rows yields the rows of the current term, once, several at a time. The slice is valid until the next call.
	Rows(yield func(rows []uint32)) error
	// Len is the number of rows of the current term.
	Len() uint32
}

// batch is how many rows are yielded at a time.
const batch = 512

// Visitor takes a term of a field, valid during the call, in which rows is to be called once. It yields the rows in their order, some of them twice in a row.
type Visitor func(term []byte, field int, rows func(yield func(rows []uint32)) error) error

// head is a run and its current term.
type head struct {
	Run
	text  []byte
	begin uint64 // the first bytes of a term in upper case, zeros behind it; 0 in an order of others
	field int
	order int // among runs, that of their rows
}

// advance goes to the next term; false after the last one.
func (h *head) advance(c analysis.Collation) (ok bool, err error) {
	if ok, err = h.Next(); !ok {
		return false, err
	}
	h.text, h.field = h.Term()
	if c == analysis.CaseInsensitive {
		var begin [beginLen]byte
		copy(begin[:], h.text)
		h.begin = binary.BigEndian.Uint64(begin[:])
	}
	return true, nil
}

// heads are those of runs as a heap: the first has the least term, and of those that have it the first rows.
type heads struct {
	collation analysis.Collation
	all       []*head
}

func (h *heads) less(a, b *head) bool {
	if a.begin != b.begin {
		return a.begin < b.begin
	}
	order := Compare(h.collation, a.text, a.field, b.text, b.field)
	return order < 0 || order == 0 && a.order < b.order
}

func (h *heads) down(i int) {
	for {
		kid := 2*i + 1
		if kid >= len(h.all) {
			return
		}
		if kid+1 < len(h.all) && h.less(h.all[kid+1], h.all[kid]) {
			kid++
		}
		if !h.less(h.all[kid], h.all[i]) {
			return
		}
		h.all[i], h.all[kid] = h.all[kid], h.all[i]
		i = kid
	}
}

// advance moves the first run on.
func (h *heads) advance() error {
	ok, err := h.all[0].advance(h.collation)
	if !ok {
		last := len(h.all) - 1
		h.all[0] = h.all[last]
		h.all = h.all[:last]
	}
	h.down(0)
	return err
}

// Merge calls visit with the terms of runs in their order. The runs are in the order of their rows.
func Merge(ctx context.Context, c analysis.Collation, runs []Run, visit Visitor) error {
	h := heads{collation: c}
	for i, r := range runs {
		first := &head{Run: r, order: i}
		ok, err := first.advance(c)
		if err != nil {
			return err
		}
		if ok {
			h.all = append(h.all, first)
		}
	}
	for i := len(h.all)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	var text []byte
	var field int
	rows := func(yield func([]uint32)) error {
		for len(h.all) > 0 && h.all[0].field == field && bytes.Equal(h.all[0].text, text) {
			if err := h.all[0].Rows(yield); err != nil {
				return err
			}
			if err := h.advance(); err != nil {
				return err
			}
		}
		return nil
	}
	for len(h.all) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, field = append(text[:0], h.all[0].text...), h.all[0].field
		if err := visit(text, field, rows); err != nil {
			return err
		}
	}
	return nil
}

// memoryRun is the terms in memory.
type memoryRun struct {
	m       *Memory
	keys    []key
	current *entry
}

// Run is the terms in the order of a collation, until others are added.
func (m *Memory) Run(c analysis.Collation) Run { return &memoryRun{m: m, keys: m.sorted(c)} }

// Last is [Memory.Run] after which no terms are added.
func (m *Memory) Last(c analysis.Collation) Run {
	m.table = nil
	return m.Run(c)
}

func (r *memoryRun) Next() (bool, error) {
	if len(r.keys) == 0 {
		return false, nil
	}
	r.current, r.keys = r.m.entry(int(r.keys[0].entry)), r.keys[1:]
	return true, nil
}

func (r *memoryRun) Term() ([]byte, int) { return r.m.term(r.current), int(r.current.field) }
func (r *memoryRun) Len() uint32         { return r.current.n }

func (r *memoryRun) Rows(yield func([]uint32)) error {
	r.m.rows(r.current, yield)
	return nil
}

// Write writes a run to a temporary file: for each term its length, itself, its field, the number of its rows, and their gaps,
// all numbers as uvarints.
func Write(out *bufio.Writer, r Run) error {
	var buf []byte
	for {
		ok, err := r.Next()
		if !ok || err != nil {
			return err
		}
		term, field := r.Term()
		buf = binary.AppendUvarint(buf[:0], uint64(len(term)))
		buf = append(buf, term...)
		buf = binary.AppendUvarint(buf, uint64(field))
		buf = binary.AppendUvarint(buf, uint64(r.Len()))
		last := uint32(0)
		err = r.Rows(func(rows []uint32) {
			for _, row := range rows {
				buf = binary.AppendUvarint(buf, uint64(row-last))
				last = row
			}
			if len(buf) > 1<<15 {
				_, _ = out.Write(buf) // the error is that of Flush, too
				buf = buf[:0]
			}
		})
		if err != nil {
			return err
		}
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
}

// fileRun reads what Write wrote.
type fileRun struct {
	in    *bufio.Reader
	text  []byte
	field int
	n     uint32
	list  []uint32
}

// NewFile is the run that [Write] wrote to a file.
func NewFile(s *storage.Spool) Run {
	return &fileRun{in: bufio.NewReaderSize(io.NewSectionReader(s, 0, s.Size()), 64<<10)}
}

func (r *fileRun) Next() (bool, error) {
	length, err := binary.ReadUvarint(r.in)
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.text = append(r.text[:0], make([]byte, length)...)
	if _, err := io.ReadFull(r.in, r.text); err != nil {
		return false, err
	}
	field, err := binary.ReadUvarint(r.in)
	if err != nil {
		return false, err
	}
	n, err := binary.ReadUvarint(r.in)
	r.field, r.n = int(field), uint32(n)
	return err == nil, err
}

func (r *fileRun) Term() ([]byte, int) { return r.text, r.field }
func (r *fileRun) Len() uint32         { return r.n }

func (r *fileRun) Rows(yield func([]uint32)) error {
	row := uint32(0)
	for n := r.n; n > 0; n -= uint32(len(r.list)) {
		r.list = r.list[:0]
		for range min(n, batch) {
			gap, err := binary.ReadUvarint(r.in)
			if err != nil {
				return err
			}
			row += uint32(gap)
			r.list = append(r.list, row)
		}
		yield(r.list)
	}
	return nil
}
