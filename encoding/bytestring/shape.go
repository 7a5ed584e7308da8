package bytestring

import (
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// AppendTreeAs appends the tree of v in a given form, written as
// [describe.Node.String] does: "Plain", "BlockDictionary(FLBitPack,raw)",
// "FSST(Delta(FFOR))", "LZ4(raw)". Parts that are not named are raw, or Plain
// where only a tree can be. Of Zstd, a level can be given: "Zstd[3]", from 1,
// fastest, to 4. Null slots of any length must be empty. It serves tests and
// reproducible samples; SingleValue of unequal values is an error, as are forms
// for types that do not take them.
func AppendTreeAs(dst []byte, v Values, valid bitmap.Bits, shape string) ([]byte, error) {
	s, err := parseShape(shape)
	if err != nil {
		return dst, fmt.Errorf("shape %q: %w", shape, err)
	}
	if valid.Data == nil {
		valid = bitmap.All(v.N)
	}
	in := input{Values: v, valid: valid, nulls: valid.Nulls()}
	r := request{numbers: &numbers{shapes: s.parts}, level: s.level, forced: true}
	out, ok, err := s.row.append(new(workspace), dst, &in, r)
	if err == nil && !ok {
		err = misuse("%v does not take the values", s.row.code)
	}
	return out, err
}

// shape is a parsed form of a tree.
type shape struct {
	row   *row
	level zstd.EncoderLevel
	parts []string // forms of the parts, in their order
}

func parseShape(text string) (s shape, err error) {
	name, rest, nested := strings.Cut(text, "(")
	if nested {
		if !strings.HasSuffix(rest, ")") {
			return s, misuse("no ) at the end")
		}
		s.parts = splitParts(rest[:len(rest)-1])
	}
	name, params, _ := strings.Cut(name, "[")
	for _, r := range rows {
		if r.code.String() == name {
			s.row, s.level = r, r.level
		}
	}
	if s.row == nil {
		return s, misuse("no encoding of byte strings is called %q", name)
	}
	if s.row.leveled && len(params) > 1 && params[0] >= '1' && params[0] <= '4' {
		s.level = zstd.EncoderLevel(params[0] - '0')
	}
	defaults := s.row.parts
	if defaults == nil {
		defaults = []string{"raw"}
	}
	if len(s.parts) > len(defaults) {
		return s, misuse("%d parts, at most %d", len(s.parts), len(defaults))
	}
	s.parts = append(s.parts, defaults[len(s.parts):]...)
	return s, nil
}

// splitParts cuts at the commas that are not inside parentheses.
func splitParts(text string) (parts []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}
