package otlp

import (
	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Split divides a block into blocks that end at some rows; the last end is that of the block. The blocks share memory with it.
func (b Block) Split(ends []int) []Block {
	if len(ends) == 1 {
		return []Block{b}
	}
	out := make([]Block, len(ends))
	from := 0
	for i, end := range ends {
		out[i].Rows = end - from
		from = end
	}
	for _, c := range b.Columns {
		s := splitter{recoder: recoder{c, make([]uint32, c.Values.Len())}}
		for i := range out {
			if part := s.next(out[i].Rows); part != nil {
				out[i].Columns = append(out[i].Columns, part)
			}
		}
	}
	return out
}

// splitter divides a column.
type splitter struct {
	recoder
	row   int // first of the next part
	value int // likewise, of the present rows
}

// next gives the column of the next rows, nil if none has a value.
func (s *splitter) next(rows int) *column.Column {
	out := &column.Column{Name: s.c.Name, Type: s.c.Type, Rows: rows}
	count := rows
	if s.c.Present != nil {
		bits := bitmap.Bits{Data: s.c.Present, Len: s.c.Rows}.Slice(s.row, s.row+rows)
		if count = bits.Count(); count < rows {
			out.Present = make([]byte, (rows+7)/8)
			bits.CopyTo(out.Present, 0)
		}
	}
	from, end := s.value, s.value+count
	s.row, s.value = s.row+rows, end
	v := &s.c.Values
	switch {
	case count == 0:
		return nil
	case s.c.Codes != nil:
		out.Codes, out.Values = s.recode(s.c.Codes[from:end])
		dropCodes(out)
	case !s.c.Type.Textual():
		out.Values.Numbers = v.Numbers[from:end:end]
	default:
		first := v.Offsets[from]
		out.Values.Offsets = make([]uint32, 0, count+1)
		for _, o := range v.Offsets[from : end+1] {
			out.Values.Offsets = append(out.Values.Offsets, o-first)
		}
		out.Values.Data = v.Data[first:v.Offsets[end]:v.Offsets[end]]
	}
	return out
}

// recoder gives parts of a column dictionaries of their own.
type recoder struct {
	c     *column.Column
	codes []uint32 // code+1 of values in the part at hand
}

// recode gives codes of the values that they have only, in the order in which these come.
func (s *recoder) recode(old []uint32) (codes []uint32, values column.Values) {
	codes = make([]uint32, len(old))
	var used []uint32
	for i, code := range old {
		if s.codes[code] == 0 {
			used = append(used, code)
			s.codes[code] = uint32(len(used))
		}
		codes[i] = s.codes[code] - 1
	}
	for _, code := range used {
		s.codes[code] = 0
	}
	return codes, column.Pick(&s.c.Values, used)
}
