package main

import "fmt"

// Lanes that are neighbours are so in memory too, packed or not, and each row is
// 128 bytes. So a kernel handles 16 columns of 8 bytes, each 64/bits lanes wide,
// as single integers: it shifts all lanes at once and masks off what came in
// from a neighbour. In a column the rows follow each other in the words of w,
// so each word is loaded or stored once.
//
// The base is added to all lanes at once as well. hi is its highest bit in each
// lane, lo the rest. Where values have fewer bits than lanes, value + lo carries
// no further than that highest bit, and exclusive or with hi adds the bit there.

// layout is a word size and a width.
type layout struct{ bits, w int }

var order = [8]int{0, 4, 2, 6, 1, 5, 3, 7}

// rowAt is the place of a row in the chunk, in units of 8 bytes.
func (l layout) rowAt(row int) int { return (16*order[row/8] + 128*(row%8)) * l.bits / 64 }

// lanes is the mask of the bits [from, to) of each lane.
func (l layout) lanes(from, to int) string {
	var mask uint64
	for at := 0; at < 64; at += l.bits {
		for b := from; b < to; b++ {
			mask |= 1 << (at + b)
		}
	}
	return fmt.Sprintf("%#x", mask)
}

// baseArgs are the parameters that hold the base.
func (l layout) baseArgs() string {
	if l.bits == 64 {
		return "base uint64"
	}
	return "lo, hi uint64"
}

// splits tells whether any value lies in two words.
func (l layout) splits() bool { return l.bits%l.w != 0 }

// at is an element of the column that the loop is at.
func at(array string, offset int) string {
	if offset == 0 {
		return array + "[i]"
	}
	return fmt.Sprintf("%s[i+%d]", array, offset)
}

func shift(x, op string, n int) string {
	if n == 0 {
		return x
	}
	return fmt.Sprintf("%s%s%d", x, op, n)
}

func (l layout) unpack(p *printer) {
	p.line("func unpack%dw%d(dst *[%d]uint64, src *[%d]uint64, %s) {", l.bits, l.w, 16*l.bits, 16*l.w, l.baseArgs())
	p.line("for i := range 16 {")
	load := func(word int) string { return at("src", 16*word) }
	p.line("x := %s", load(0))
	if l.splits() {
		p.line("var y uint64")
	}
	for row := range l.bits {
		word, from := row*l.w/l.bits, row*l.w%l.bits
		have := l.bits - from // bits of the value in this word, if not all
		if from == 0 && row > 0 {
			p.line("x = %s", load(word))
		}
		var value string
		switch {
		case have >= l.w:
			value = l.masked(shift("x", ">>", from), from)
		case l.bits == 64:
			p.line("y, x = x>>%d, %s", from, load(word+1))
			value = fmt.Sprintf("(y|x<<%d)&%s", have, l.lanes(0, l.w))
		default:
			p.line("y, x = x>>%d&%s, %s", from, l.lanes(0, have), load(word+1))
			value = fmt.Sprintf("y|x<<%d&%s", have, l.lanes(have, l.w))
		}
		p.line("%s = %s", at("dst", l.rowAt(row)), l.plusBase(value))
	}
	p.line("}\n}\n")
}

// masked cuts a word that was shifted down by from to one value a lane.
func (l layout) masked(x string, from int) string {
	if l.w == l.bits || l.bits == 64 && from+l.w == 64 {
		return x
	}
	return x + "&" + l.lanes(0, l.w)
}

func (l layout) plusBase(value string) string {
	switch {
	case l.bits == 64:
		return fmt.Sprintf("(%s)+base", value)
	case l.w < l.bits:
		return fmt.Sprintf("((%s)+lo)^hi", value)
	default:
		return fmt.Sprintf("plus%d(%s, lo, hi)", l.bits, value)
	}
}

func (l layout) pack(p *printer) {
	p.line("func pack%dw%d(dst *[%d]uint64, src *[%d]uint64, %s) {", l.bits, l.w, 16*l.w, 16*l.bits, l.baseArgs())
	p.line("for i := range 16 {")
	if l.splits() {
		p.line("var x uint64")
	}
	p.line("var y uint64")
	for row := range l.bits {
		word, from := row*l.w/l.bits, row*l.w%l.bits
		have := l.bits - from // room for the value in this word
		value := l.minusBase(at("src", l.rowAt(row)))
		if have < l.w {
			p.line("x = %s", value)
			value = "x"
			if l.bits < 64 {
				value += "&" + l.lanes(0, have)
			}
		}
		if from == 0 {
			p.line("y = %s", value)
		} else {
			p.line("y |= (%s)<<%d", value, from)
		}
		if have <= l.w {
			p.line("%s = y", at("dst", 16*word))
		}
		if have < l.w {
			p.line("y = x>>%d", have)
			if l.bits < 64 {
				p.line("y &= %s", l.lanes(0, l.w-have))
			}
		}
	}
	p.line("}\n}\n")
}

// minusBase is the difference, cut to the width. A highest bit set in each lane
// keeps borrows out of the neighbour; the cut takes it off again.
func (l layout) minusBase(value string) string {
	switch {
	case l.bits == 64 && l.w == 64:
		return fmt.Sprintf("%s-base", value)
	case l.bits == 64:
		return fmt.Sprintf("(%s-base)&%s", value, l.lanes(0, l.w))
	case l.w < l.bits:
		return fmt.Sprintf("((%s|%s)-lo)&%s", value, l.lanes(l.bits-1, l.bits), l.lanes(0, l.w))
	default:
		return fmt.Sprintf("minus%d(%s, lo, hi)", l.bits, value)
	}
}
