package numeric

import (
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/alp"
)

// plan says how to write a tree. A kid that is nil is chosen when its values are
// known; one with code 0 is raw.
type plan struct {
	code   encoding.Code
	kids   [2]*plan
	level  int // of a compressor: 0 is fast
	limit  int // most distinct values of a dictionary, 0 for any
	alp    alp.Params
	alpSet bool
	// reference and width are what statistics say; width 0 means that they do not.
	// reference is the divisor for CommonDivisor.
	reference uint64
	width     int
}

// parseShape reads the form of a tree as [describe.Node.String] writes it, such
// as RunLength(raw,FLBitPack[2]). Widths are ignored, as they follow from the
// values; e and f of ALP and the level of Zstd and LZ4 are heeded.
func parseShape(shape string) (*plan, error) {
	p := shapeParser{rest: shape}
	out, err := p.plan()
	if err == nil && p.rest != "" {
		err = fmt.Errorf("text behind the tree: %q", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("shape %q: %w", shape, err)
	}
	return out, nil
}

type shapeParser struct{ rest string }

func (s *shapeParser) plan() (*plan, error) {
	end := strings.IndexAny(s.rest, "[(),")
	if end < 0 {
		end = len(s.rest)
	}
	name := s.rest[:end]
	s.rest = s.rest[end:]
	out := &plan{}
	if name != "raw" && name != "-" {
		code, ok := parseCode(name)
		if !ok {
			return nil, fmt.Errorf("no numeric encoding is called %q", name)
		}
		out.code = code
	}
	if err := s.params(out); err != nil {
		return nil, err
	}
	return out, s.kids(out)
}

func (s *shapeParser) params(out *plan) error {
	if !strings.HasPrefix(s.rest, "[") {
		return nil
	}
	params, rest, ok := strings.Cut(s.rest[1:], "]")
	if !ok {
		return fmt.Errorf("no ] in %q", s.rest)
	}
	s.rest = rest
	switch out.code {
	case encoding.ALP:
		if _, err := fmt.Sscanf(params, "e=%d,f=%d", &out.alp.E, &out.alp.F); err != nil {
			return fmt.Errorf("parameters of ALP: %w", err)
		}
		out.alpSet = true
		return alp.Valid[float64](out.alp)
	case encoding.Zstd, encoding.LZ4:
		out.level = 1
	}
	return nil
}

func (s *shapeParser) kids(out *plan) error {
	for i := range out.kids {
		out.kids[i] = &plan{} // raw, where nothing else is said
	}
	if !strings.HasPrefix(s.rest, "(") {
		return nil
	}
	for i := range out.kids {
		s.rest = s.rest[1:]
		kid, err := s.plan()
		if err != nil {
			return err
		}
		out.kids[i] = kid
		switch {
		case strings.HasPrefix(s.rest, ")"):
			s.rest = s.rest[1:]
			return nil
		case !strings.HasPrefix(s.rest, ","):
			return fmt.Errorf("no ) in %q", s.rest)
		}
	}
	return fmt.Errorf("more than %d children", len(out.kids))
}

// parseCode is the code of a numeric encoding with a name.
func parseCode(name string) (encoding.Code, bool) {
	for _, r := range rows {
		if r.code.String() == name {
			return r.code, true
		}
	}
	return 0, false
}

// suits tells whether a forced form takes values of a type.
func suits(p *plan, t Type) bool {
	if p == nil || p.code == 0 {
		return true
	}
	if !typesOf(p.code).has(t) {
		return false
	}
	first, second := t, t
	switch p.code {
	case encoding.FOR, encoding.ZigZag:
		first = t.unsigned()
	case encoding.RunLength:
		second = U32
	case encoding.TruncateU8, encoding.TruncateU16, encoding.TruncateU32, encoding.TruncateU64:
		first = truncateType(p.code)
	case encoding.ALP:
		first = t.integer()
	case encoding.ALPRD:
		first, second = U16, t.integer().unsigned()
	case encoding.BlockDictionary, encoding.Sparse:
		first = U32
	case encoding.CommonDivisor:
		first = t.unsigned()
	case encoding.Narrow, encoding.BytePlanes:
		first = U8
	case encoding.PrefixBins:
		second = U8
	case encoding.PatchedPack:
		first, second = U32, t.signed()
	}
	return suits(p.kids[0], first) && suits(p.kids[1], second)
}
