package bytestring

import (
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
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
	w := new(workspace)
	nums := numbers{shapes: s.parts}
	switch s.code {
	case encoding.Plain:
		return appendPlain(dst, v), nil
	case encoding.SingleValue:
		value, ok := in.same()
		if !ok {
			return dst, misuse("SingleValue of unequal values")
		}
		return appendSingleValue(dst, value), nil
	case encoding.BlockDictionary:
		out, _, err := w.appendDictionary(dst, &in, v.N, &nums)
		return out, err
	case encoding.DecimalTree:
		if v.Fixed != decimalLen {
			return dst, misuse("decimals of %d bytes", v.Fixed)
		}
		out, ok, err := w.appendDecimals(dst, &in, &nums)
		if err == nil && !ok {
			err = misuse("DecimalTree of values that are no decimals")
		}
		return out, err
	case encoding.FSST:
		return w.appendFSST(dst, v, w.train(v.Bytes()), &nums)
	case encoding.GroupedFSST:
		return w.appendGroupedFSST(dst, v, w.train(v.Bytes()), &nums)
	case encoding.Template:
		out, ok, err := w.appendTemplates(dst, v, s.level, v.N, &nums)
		if err == nil && !ok {
			err = misuse("Template of values of %d bytes", v.Fixed)
		}
		return out, err
	case encoding.LZ4:
		return w.appendLZ4(dst, v, &nums)
	case encoding.FlatLZ:
		return w.appendFlatLZ(dst, v, &nums)
	}
	return w.appendZstd(dst, v, s.level, &nums)
}

// shape is a parsed form of a tree.
type shape struct {
	code  encoding.Code
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
	for _, code := range []encoding.Code{
		encoding.Plain, encoding.SingleValue, encoding.BlockDictionary, encoding.FSST, encoding.LZ4, encoding.Zstd,
		encoding.DecimalTree, encoding.FlatLZ, encoding.Template, encoding.GroupedFSST,
	} {
		if code.String() == name {
			s.code = code
		}
	}
	if s.code == encoding.Zstd {
		s.level = zstd.SpeedDefault
	}
	if (s.code == encoding.Zstd || s.code == encoding.Template) && len(params) > 1 && params[0] >= '1' && params[0] <= '4' {
		s.level = zstd.EncoderLevel(params[0] - '0')
	}
	defaults := []string{"raw"}
	switch s.code {
	case 0:
		return s, misuse("no encoding of byte strings is called %q", name)
	case encoding.BlockDictionary:
		defaults = []string{"Plain", "raw"}
	case encoding.GroupedFSST:
		defaults = []string{"raw", "raw"}
	case encoding.DecimalTree:
		defaults = []string{"Plain"}
	case encoding.Template:
		defaults = []string{"Plain", "Plain"}
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
