package valueset

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/text"
)

// place is where a literal lies in a domain: at is the first value that is not below it, after the first value above it.
// They differ if the literal is a value itself.
type place struct {
	at, after point
	nan       bool // no value is equal to the literal, less or greater
}

// Compare is the set of the values that compare to a literal, other than null, as one of = <> < <= > >= says. An error
// says why the literal does not suit the domain.
func (d *Domain) Compare(o ast.Op, l ast.Literal) (Set, error) {
	p, err := d.place(l)
	if err != nil {
		return Set{}, err
	}
	if p.nan {
		if o == ast.OpNe {
			return d.All(), nil
		}
		return Set{}, nil
	}
	lo, hi := d.whole.lo, d.whole.hi
	switch o {
	case ast.OpEq, ast.OpNe:
		lo, hi = p.at, p.after
	case ast.OpLt:
		hi = p.at
	case ast.OpLe:
		hi = p.after
	case ast.OpGt:
		lo = p.after
	case ast.OpGe:
		lo = p.at
	}
	set := newSet([]span{{lo, hi}}, false)
	if o == ast.OpNe {
		set = d.Not(set)
	}
	return set, nil
}

// place finds the place of a literal other than null.
func (d *Domain) place(l ast.Literal) (place, error) {
	switch {
	case l.Kind == ast.LitBad:
		return place{}, fmt.Errorf("%s", l.Text)
	case d.IsText() || d.family == famUUID:
		return d.placeBytes(l)
	case d.IsBool():
		return d.placeBool(l)
	case d.family == famFloat:
		return d.placeFloat(l)
	case d.family == famInstant || d.family == famClock || d.family == famDuration:
		return d.placeTime(l)
	case d.family == famNumber:
		return d.placeNumber(l)
	case d.family == famNone:
		return place{}, fmt.Errorf("columns of type %s are only asked whether they are null", d.Name)
	}
	r, err := d.numberOf(l)
	if err != nil {
		return place{}, err
	}
	if d.scale != 0 {
		power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(d.scale, -d.scale))), nil))
		if d.scale < 0 {
			power.Inv(power)
		}
		r.Mul(r, power)
	}
	return d.placeRat(r), nil
}

// mismatch is the error of a literal that does not suit the domain.
func (d *Domain) mismatch(l ast.Literal, want string) error {
	return fmt.Errorf("%s is no value of type %s: write %s", l.Describe(), d.Name, want)
}

// numberOf is the number that a literal stands for; it may be written as a string.
func (d *Domain) numberOf(l ast.Literal) (*big.Rat, error) {
	if l.Kind == ast.LitString {
		n, err := ast.ParseNumber(strings.TrimSpace(l.Text))
		if err != nil {
			return nil, d.mismatch(l, "a number")
		}
		l = n
	}
	if l.Kind != ast.LitNumber {
		return nil, d.mismatch(l, "a number")
	}
	return l.Rat(), nil
}

// placeRat is the place of a number among integers.
func (d *Domain) placeRat(r *big.Rat) place {
	floor, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	after := new(big.Int).Add(floor, one)
	if rest.Sign() != 0 {
		floor = after
	}
	return place{at: d.clamp(floor), after: d.clamp(after)}
}

// clamp moves a point into the domain, or to its end.
func (d *Domain) clamp(n *big.Int) point {
	switch {
	case n.Cmp(d.whole.lo.n) < 0:
		return d.whole.lo
	case n.Cmp(d.whole.hi.n) > 0:
		return d.whole.hi
	}
	return point{n: n}
}

func (d *Domain) placeBool(l ast.Literal) (place, error) {
	switch strings.ToLower(l.Text) {
	case "false":
		return place{at: point{n: new(big.Int)}, after: point{n: one}}, nil
	case "true":
		return place{at: point{n: one}, after: d.whole.hi}, nil
	}
	return place{}, d.mismatch(l, "true or false")
}

func (d *Domain) placeNumber(l ast.Literal) (place, error) {
	if l.Kind != ast.LitNumber {
		return place{}, d.mismatch(l, "a number")
	}
	b, ok := text.AppendOrdered(nil, []byte(l.Text))
	if !ok {
		return place{}, d.mismatch(l, "a number")
	}
	return place{at: point{s: string(b)}, after: point{s: string(b) + "\x00"}}, nil
}

func (d *Domain) placeBytes(l ast.Literal) (place, error) {
	switch {
	case d.family == famUUID && l.Kind == ast.LitString:
		b, err := hex.DecodeString(strings.ReplaceAll(strings.Trim(l.Text, "{}"), "-", ""))
		if err != nil || len(b) != 16 {
			return place{}, d.mismatch(l, "'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'")
		}
		l.Text = string(b)
	case l.Kind != ast.LitString && l.Kind != ast.LitBytes:
		return place{}, d.mismatch(l, "it in quotes: 'text' or x'00ff'")
	}
	return place{at: point{s: l.Text}, after: point{s: l.Text + "\x00"}}, nil
}
