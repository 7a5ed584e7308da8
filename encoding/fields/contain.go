package fields

import "github.com/amudai/amudai-go/internal/base/scratch"

// maxPart is how many bytes of a part are looked for at once, one bit each.
const maxPart = 63

// Finder tells which patterns may have values that contain a part.
type Finder struct {
	at    [256]uint64 // by byte: where it is in the part
	done  uint64      // the part was seen
	keep  []byte
	digit uint64 // where the part has decimal digits
	hexes [2]uint64
}

// reset makes a part the one to look for.
func (f *Finder) reset(part []byte) {
	part = part[:min(len(part), maxPart)]
	*f = Finder{done: 1 << len(part), keep: f.keep}
	for i, b := range part {
		bit := uint64(1) << i
		f.at[b] |= bit
		if b-'0' < 10 {
			f.digit |= bit
		}
		if b-'0' < 10 || b-'a' < 6 {
			f.hexes[0] |= bit
		}
		if b-'0' < 10 || b-'A' < 6 {
			f.hexes[1] |= bit
		}
	}
}

// Find tells for each pattern whether its values may contain the part: 0 if not, or only within a field that is a byte
// string; else 1. The result is valid until the next call.
func (f *Finder) Find(d *Decoder, columns []*Column, part []byte) []byte {
	f.reset(part)
	for i := range scratch.Slice(&f.keep, d.Len()) {
		f.keep[i] = 0
		if f.may(d, d.patterns[i], d.places[d.patterns[i].place:d.patterns[i+1].place], columns) {
			f.keep[i] = 1
		}
	}
	return f.keep
}

// may goes through a pattern. Bit k of seen is set if the first k bytes of the part may have just passed.
func (f *Finder) may(d *Decoder, p pattern, places []Place, columns []*Column) bool {
	seen, text := uint64(1), d.text[p.text:]
	for _, place := range places {
		if seen = f.pass(seen, text[:place.Before]); seen&f.done != 0 {
			return true
		}
		text = text[place.Before:]
		if seen = f.passField(seen, columns[place.Column]); seen&f.done != 0 {
			return true
		}
	}
	return f.pass(seen, text[:p.after])&f.done != 0
}

// pass is what has passed after some bytes, with the whole part if that did.
func (f *Finder) pass(seen uint64, text []byte) uint64 {
	for _, b := range text {
		if seen = (seen&f.at[b])<<1 | 1; seen&f.done != 0 {
			break
		}
	}
	return seen
}

// passField is what may have passed after a field.
func (f *Finder) passField(seen uint64, c *Column) uint64 {
	switch c.Kind {
	case Text:
		if seen > 1 { // the part may end in the field
			return f.done
		}
		return f.done - 1 // or begin anywhere in it
	case Decimal, Signed:
		if c.Kind == Signed {
			seen |= (seen&f.at['-'])<<1 | 1
		}
		out := seen & f.done
		for range MaxDigits + 1 {
			seen = (seen&f.digit)<<1 | 1
			out |= seen
		}
		return out
	case Digits:
		for _, g := range c.Groups {
			if seen = f.pass(seen, g.Separator); seen&f.done == 0 {
				seen = f.passSome(seen, f.digit, g.Width)
			}
			if seen&f.done != 0 {
				break
			}
		}
		return seen
	}
	return f.passSome(seen, f.hexes[c.Kind-HexLower], c.Width)
}

// passSome is what may have passed after n bytes that may be any of those at some places of the part.
func (f *Finder) passSome(seen, places uint64, n int) uint64 {
	out := seen & f.done
	for range n {
		seen = (seen&places)<<1 | 1
		out |= seen & f.done
	}
	return seen | out
}

// TextColumns appends the columns of byte strings that a pattern has fields in, in their order.
func (d *Decoder) TextColumns(dst []uint32, code uint32, columns []*Column) []uint32 {
	for _, place := range d.places[d.patterns[code].place:d.patterns[code+1].place] {
		if columns[place.Column].Kind == Text {
			dst = append(dst, place.Column)
		}
	}
	return dst
}
