// Package lazy has a column of a block that is decoded as far as it is asked for, for all who read it.
package lazy

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Column is the data of a column of a block, decoded as far as was asked for:
//
//	bytes  →  dictionary  →  all rows
//	       →  few rows
//
// Once all rows are decoded, the bytes are dropped. Its methods may be called concurrently.
type Column struct {
	name string
	t    column.Type
	rows int
	o    column.DecodeOptions

	mu       sync.Mutex
	data     []byte         // nil before they are read, and when whole is set
	coded    bool           // dict is set
	dict     column.Values  // the dictionary
	nulls    bool           // some row has no value; known with dict
	whole    *column.Column // all rows
	entriesN arrow.Array    // the dictionary, and null if there are nulls
}

// New returns a column of which nothing is read: see [Column.SetBytes].
func New(name string, t column.Type, rows int, o column.DecodeOptions) *Column {
	return &Column{name: name, t: t, rows: rows, o: o}
}

// Decoded returns a column whose rows are known.
func Decoded(c *column.Column) *Column {
	return &Column{name: c.Name, t: c.Type, rows: c.Rows, whole: c}
}

// Rows is the number of rows.
func (s *Column) Rows() int { return s.rows }

var decoders = sync.Pool{New: func() any { return new(column.Decoder) }}

// with calls f with a reader of the bytes.
func (s *Column) with(f func(r *column.Reader) error) error {
	d := decoders.Get().(*column.Decoder)
	defer decoders.Put(d)
	r, err := d.Open(s.data, s.name, s.t, s.rows, s.o)
	if err != nil {
		return err
	}
	return f(r)
}

// NeedsBytes reports whether the bytes must be read before anything is decoded.
func (s *Column) NeedsBytes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data == nil && s.whole == nil
}

// SetBytes gives the bytes, unless they are there.
func (s *Column) SetBytes(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data == nil && s.whole == nil {
		s.data = data
	}
}

// Size is about the memory that is held.
func (s *Column) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(len(s.name)+len(s.data)) + valuesSize(&s.dict) + 256
	if c := s.whole; c != nil {
		n += int64(len(c.Present) + 4*len(c.Codes))
		if !s.coded {
			n += valuesSize(&c.Values)
		}
	}
	return n
}

func valuesSize(v *column.Values) int64 {
	return int64(8*len(v.Numbers) + 4*len(v.Offsets) + len(v.Data))
}

// Entries are the values of the dictionary, and null if some row is, as an array of a type; nil if there is no dictionary.
func (s *Column) Entries(f arrow.Field) (arrow.Array, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entriesN != nil {
		return s.entriesN, nil
	}
	if err := s.readDictionary(); err != nil || !s.coded {
		return nil, err
	}
	n := s.dict.Len()
	c := &column.Column{Name: s.name, Type: s.t, Rows: n, Values: s.dict}
	if s.nulls {
		c.Rows++
		c.Present = make([]byte, (c.Rows+7)/8)
		bitmap.SetRange(c.Present, 0, n)
	}
	var err error
	f.Nullable = true
	s.entriesN, err = spans.Array(memory.DefaultAllocator, c, c.Rows, f)
	return s.entriesN, err
}

// Repeat is an entry of [Column.Entries], which were asked for before, in n rows; nil for null.
func (s *Column) Repeat(entry, n int) *column.Column {
	s.mu.Lock()
	defer s.mu.Unlock()
	if entry >= s.dict.Len() {
		return nil
	}
	c := &column.Column{Name: s.name, Type: s.t, Rows: n, Codes: make([]uint32, n), Values: s.dict}
	for i := range c.Codes {
		c.Codes[i] = uint32(entry)
	}
	return c
}

// readDictionary decodes the dictionary, if there is one. The caller has the lock.
func (s *Column) readDictionary() error {
	if s.coded || s.whole != nil {
		return nil
	}
	return s.with(func(r *column.Reader) (err error) {
		if !r.Coded() {
			return nil
		}
		if s.dict, err = r.Dictionary(); err != nil {
			return err
		}
		s.coded, s.nulls = true, r.PresentCount() < s.rows
		return nil
	})
}

// all decodes all rows.
func (s *Column) All() (*column.Column, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole != nil {
		return s.whole, nil
	}
	err := s.with(func(r *column.Reader) (err error) {
		if !s.coded {
			s.whole, err = r.Column()
			return err
		}
		codes, err := r.Codes(s.dict.Len())
		if err != nil {
			return err
		}
		s.whole = &column.Column{Name: s.name, Type: s.t, Rows: s.rows, Present: r.Present(), Codes: codes, Values: s.dict}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.whole.Codes != nil && !s.coded {
		s.coded, s.dict, s.nulls = true, s.whole.Values, s.whole.PresentCount() < s.rows
	}
	s.data = nil
	return s.whole, nil
}

// fewRows of a column, at most this share of all, are decoded alone. More are worth decoding all, which later reads need not.
const fewRows = 8

// Take decodes rows.
func (s *Column) Take(rows rowset.Set) (*column.Column, error) {
	if fewRows*rows.Len() <= int64(s.rows) {
		if c, err := s.few(rows); c != nil || err != nil {
			return c, err
		}
	}
	c, err := s.All()
	if err != nil {
		return nil, err
	}
	return Select(c, rows), nil
}

// few decodes few rows, unless all are decoded.
func (s *Column) few(rows rowset.Set) (c *column.Column, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole != nil {
		return nil, nil
	}
	list := make([]int, 0, rows.Len())
	for row := range rows.Rows() {
		list = append(list, int(row))
	}
	err = s.with(func(r *column.Reader) (err error) {
		c, err = r.Take(list)
		return err
	})
	return c, err
}

// Select is rows of a column. It may share its memory.
func Select(c *column.Column, rows rowset.Set) *column.Column {
	n := int(rows.Len())
	if n == c.Rows {
		return c
	}
	out := &column.Column{Name: c.Name, Type: c.Type, Rows: n, PackedUUID: c.PackedUUID}
	if c.Present != nil {
		out.Present = make([]byte, (n+7)/8)
	}
	single := rows.NumRanges() == 1
	switch {
	case c.Codes != nil:
		if out.Values = c.Values; !single {
			out.Codes = make([]uint32, 0, n)
		}
	case c.Type.Textual():
		out.Values.Offsets = append(make([]uint32, 0, n+1), 0)
		out.Values.Data = make([]byte, 0, len(c.Values.Data)/max(c.Rows, 1)*n)
	default:
		out.Values.Numbers = make([]uint64, 0, n)
	}
	at, seen, rank := 0, 0, 0 // in the result; rows of the column before seen have rank values
	for r := range rows.Ranges() {
		from, to := int(r.From), int(r.To)
		first, last := from, to
		if c.Present != nil {
			bits := bitmap.Bits{Data: c.Present, Len: c.Rows}
			first = rank + bits.Slice(seen, from).Count()
			last = first + bits.Slice(from, to).Count()
			bits.Slice(from, to).CopyTo(out.Present, at)
			seen, rank = to, last
		}
		switch {
		case c.Codes == nil:
			out.Values.AppendRange(&c.Values, first, last)
		case single:
			out.Codes = c.Codes[first:last:last]
		default:
			out.Codes = append(out.Codes, c.Codes[first:last]...)
		}
		at += to - from
	}
	return out
}
