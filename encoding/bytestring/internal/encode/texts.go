package encode

import (
	"maps"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Texts writes the byte strings in a column's trees, in the best form or in given ones. Each part has an encoder of its
// own, which remembers the best form from block to block.
type Texts struct {
	table    *Table
	options  encoding.Options
	level    int  // of the tree with the parts, 0 for the outermost
	trial    bool // on a sample
	encoders map[uint64]*Encoder
	shapes   []string // forced forms, in the order of the tree's parts; nil: choose
	err      error    // a forced form does not take the byte strings
}

// clone is texts for another goroutine, with the same memory of earlier ones.
func (s *Texts) clone() Texts {
	c := *s
	c.encoders = maps.Clone(s.encoders)
	for key, e := range c.encoders {
		c.encoders[key] = e.Clone()
	}
	return c
}

// Append writes byte strings of any length, none of them null, as a tree. part is the index of their form among those of
// [Table.AppendTreeAs], and key tells their memory from that of other parts.
func (s *Texts) Append(dst []byte, part int, key uint64, v vector.Values) []byte {
	valid := bitmap.All(v.N)
	if s.shapes != nil {
		out, err := s.table.appendTreeAs(dst, v, valid, s.shapes[part], s.level+1)
		if err != nil {
			s.err = err
		}
		return out
	}
	e := s.encoders[key]
	if e == nil {
		e = newEncoder(s.table, s.options, 0, s.level+1)
		if e.texts.trial = s.trial; s.trial {
			e.numbers.Options = forTrial(s.options)
		}
		if s.encoders == nil {
			s.encoders = map[uint64]*Encoder{}
		}
		s.encoders[key] = e
	}
	return e.appendTree(dst, Input{Values: v, Valid: valid})
}
