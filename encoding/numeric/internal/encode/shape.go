package encode

import (
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/alp"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// Plan says how to write a tree.
type Plan struct {
	Code encoding.Code
	Kids [2]*Plan // of the parts; nil: chosen when the values are known; with code 0: raw

	Level  int // of a compressor: 0 is fast
	Limit  int // most distinct values of a dictionary, 0 for any
	ALP    alp.Params
	ALPSet bool
	// Reference and Width are what statistics say; Width 0 means that they do not.
	Reference uint64
	Width     int
}

// ParseShape reads the form of a tree as encoding.Tree.String writes it, such as RunLength(raw,FLBitPack[2]). Widths are
// ignored, as they follow from the values; e and f of ALP and the level of Zstd and LZ4 are heeded.
func (t *Table) ParseShape(shape string) (*Plan, error) {
	p := shapeParser{t, shape}
	out, err := p.plan()
	if err == nil && p.rest != "" {
		err = fmt.Errorf("text behind the tree: %q", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("shape %q: %w", shape, err)
	}
	return out, nil
}

type shapeParser struct {
	table *Table
	rest  string
}

func (s *shapeParser) plan() (*Plan, error) {
	end := strings.IndexAny(s.rest, "[(),")
	if end < 0 {
		end = len(s.rest)
	}
	name := s.rest[:end]
	s.rest = s.rest[end:]
	out := &Plan{}
	var row *Row
	if name != "raw" && name != "-" {
		if row = s.table.named(name); row == nil {
			return nil, fmt.Errorf("no numeric encoding is called %q", name)
		}
		out.Code = row.Code
	}
	if err := s.params(out, row); err != nil {
		return nil, err
	}
	return out, s.kids(out)
}

// named is the row of the encoding with a name, nil if there is none.
func (t *Table) named(name string) *Row {
	for _, r := range t.rows {
		if r.Code.String() == name {
			return r
		}
	}
	return nil
}

func (s *shapeParser) params(out *Plan, row *Row) error {
	if !strings.HasPrefix(s.rest, "[") {
		return nil
	}
	params, rest, ok := strings.Cut(s.rest[1:], "]")
	if !ok {
		return fmt.Errorf("no ] in %q", s.rest)
	}
	s.rest = rest
	if row != nil && row.Params != nil {
		return row.Params(out, params)
	}
	return nil
}

func (s *shapeParser) kids(out *Plan) error {
	for i := range out.Kids {
		out.Kids[i] = &Plan{} // raw, where nothing else is said
	}
	if !strings.HasPrefix(s.rest, "(") {
		return nil
	}
	for i := range out.Kids {
		s.rest = s.rest[1:]
		kid, err := s.plan()
		if err != nil {
			return err
		}
		out.Kids[i] = kid
		switch {
		case strings.HasPrefix(s.rest, ")"):
			s.rest = s.rest[1:]
			return nil
		case !strings.HasPrefix(s.rest, ","):
			return fmt.Errorf("no ) in %q", s.rest)
		}
	}
	return fmt.Errorf("more than %d children", len(out.Kids))
}

// Suits tells whether a form takes values of a type.
func (t *Table) Suits(p *Plan, typ word.Type) bool {
	if p == nil || p.Code == 0 {
		return true
	}
	r := t.Find(p.Code)
	if !r.Types.Has(typ) {
		return false
	}
	for i, kid := range p.Kids {
		kidType := typ
		if i < len(r.Parts) {
			kidType = r.Parts[i].Type(typ)
		}
		if !t.Suits(kid, kidType) {
			return false
		}
	}
	return true
}
