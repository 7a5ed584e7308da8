package encode

import (
	"cmp"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	forms "github.com/amudai/amudai-go/encoding/internal/shape"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// AppendTreeAs appends the tree of v in a form given by name.
func (t *Table) AppendTreeAs(dst []byte, v vector.Values, valid bitmap.Bits, text string) ([]byte, error) {
	return t.appendTreeAs(dst, v, valid, text, 0)
}

// appendTreeAs is AppendTreeAs for a tree that is so many levels deep in another.
func (t *Table) appendTreeAs(dst []byte, v vector.Values, valid bitmap.Bits, text string, level int) ([]byte, error) {
	s, err := t.parseShape(text)
	if err != nil {
		return dst, fmt.Errorf("shape %q: %w", text, err)
	}
	if s.row.Nests && level+1 >= tree.MaxLevels {
		return dst, fmt.Errorf("shape %q: byte strings nested more than %d deep", text, tree.MaxLevels)
	}
	if valid.Data == nil {
		valid = bitmap.All(v.N)
	}
	in := Input{Values: v, Valid: valid, Nulls: valid.Nulls()}
	r := Request{Numbers: &Numbers{shapes: s.parts}, Texts: &Texts{table: t, level: level, shapes: s.parts}, Level: s.level, Forced: true}
	out, ok := s.row.Append(new(Workspace), dst, &in, r)
	if err = cmp.Or(r.Numbers.err, r.Texts.err); err == nil && !ok {
		err = fmt.Errorf("bytestring: %v does not take the values", s.row.Code)
	}
	return out, err
}

// shape is a parsed form of a tree.
type shape struct {
	row   *Row
	level zstd.EncoderLevel
	parts []string // forms of the parts, in their order
}

func (t *Table) parseShape(text string) (s shape, err error) {
	name, params, parts, err := forms.Split(text)
	if err != nil {
		return s, fmt.Errorf("bytestring: %w", err)
	}
	s.parts = parts
	for _, r := range t.rows {
		if r.Code.String() == name {
			s.row, s.level = r, r.Level
		}
	}
	if s.row == nil {
		return s, fmt.Errorf("bytestring: no encoding of byte strings is called %q", name)
	}
	if s.row.Leveled && len(params) > 0 && params[0] >= '1' && params[0] <= '4' {
		s.level = zstd.EncoderLevel(params[0] - '0')
	}
	defaults := s.row.Parts
	if defaults == nil {
		defaults = []string{"raw"}
	}
	if len(s.parts) > len(defaults) {
		return s, fmt.Errorf("bytestring: %d parts, at most %d", len(s.parts), len(defaults))
	}
	s.parts = append(s.parts, defaults[len(s.parts):]...)
	return s, nil
}
