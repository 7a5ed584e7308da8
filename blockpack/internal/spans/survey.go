package spans

import (
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
)

// Survey finds the columns of blocks, and what all of their values have in common. The zero value has none.
type Survey struct {
	blocks int
	found  map[column.Key]*surveyed
}

type surveyed struct {
	traits column.Traits
	blocks int // that have the column
}

// Add adds the columns of a block.
func (s *Survey) Add(columns []*column.Column) {
	if s.found == nil {
		s.found = map[column.Key]*surveyed{}
	}
	s.blocks++
	for _, c := range columns {
		t := TraitsOf(c)
		f := s.found[c.Key()]
		if f == nil {
			f = &surveyed{traits: t}
			s.found[c.Key()] = f
		}
		f.traits = f.traits.Join(t)
		f.blocks++
	}
}

// Fields are the columns, by name and type.
func (s *Survey) Fields() []Field {
	list := make([]Field, 0, len(s.found))
	for k, f := range s.found {
		t := f.traits
		if f.blocks < s.blocks {
			t &^= column.Always
		}
		list = append(list, Field{Name: k.Name, Type: k.Type, Flags: t})
	}
	slices.SortFunc(list, func(a, b Field) int { return a.Key().Compare(b.Key()) })
	return list
}
