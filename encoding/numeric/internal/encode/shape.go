package encode

import (
	"fmt"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/alp"
	"github.com/amudai/amudai-go/encoding/internal/shape"
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
func (t *Table) ParseShape(text string) (*Plan, error) {
	name, params, parts, err := shape.Split(text)
	if err != nil {
		return nil, err
	}
	out := &Plan{}
	if name != "raw" && name != "-" {
		row := t.named(name)
		if row == nil {
			return nil, fmt.Errorf("no numeric encoding that is written is called %q", name)
		}
		out.Code = row.Code
		if row.Params != nil && params != "" {
			if err := row.Params(out, params); err != nil {
				return nil, err
			}
		}
	}
	if len(parts) > len(out.Kids) {
		return nil, fmt.Errorf("more than %d children in %q", len(out.Kids), text)
	}
	for i := range out.Kids {
		out.Kids[i] = &Plan{} // raw, where nothing else is said
		if i < len(parts) {
			if out.Kids[i], err = t.ParseShape(parts[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// named is the row of the encoding with a name that is written, nil if there is none.
func (t *Table) named(name string) *Row {
	for _, r := range t.rows {
		if r.Code.String() == name && !r.ReadOnly {
			return r
		}
	}
	return nil
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
