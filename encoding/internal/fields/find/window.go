package find

import (
	"math"
	"math/bits"

	"github.com/amudai/amudai-go/encoding/internal/fields"
)

// window is some groups of digits next to each other, with what is demanded of them: they are v / div % mod, without mod if that
// is 0. As numbers they are from low to high, and the digits of the first of them, to which add is added, end with tail.
type window struct {
	div, mod  uint64
	low, high uint64
	group     *fields.Group // the first, if only its last digits are demanded; else nil
	head      uint64        // by which the window is divided for its first group
	tail, ten uint64        // its last digits, and the power of ten that has one more
}

// holds reports whether a window has what is demanded; v is the number divided by div.
func (w *window) holds(v uint64) bool {
	if w.mod > 0 {
		v %= w.mod
	}
	if w.group != nil {
		if (v/w.head+w.group.Low)%w.ten != w.tail {
			return false
		}
		v %= w.head
	}
	return v-w.low <= w.high-w.low
}

// markWindow sets the bits of the numbers whose window has what is demanded. Of numbers that ascend slowly, most have the same one as
// the number before.
func markWindow[W word](found []uint64, numbers []W, w *window) {
	if narrow, ok := any(numbers).([]uint32); ok && w.div == 1 && w.mod > 1 && w.mod <= math.MaxUint32 {
		switch {
		case w.group == nil:
			markRests(found, narrow, w.mod, w.low, w.high-w.low)
			return
		case w.head == 1:
			markTails(found, narrow, w)
			return
		}
	}
	before, holds := uint64(0), w.holds(0)
	for i, v := range numbers {
		if v := uint64(v); v < before || v-before >= w.div { // the difference alone may wrap around to less
			q := v / w.div
			before, holds = q*w.div, w.holds(q)
		}
		if holds {
			found[i/64] |= 1 << (i % 64)
		}
	}
}

// markRests sets the bits of the numbers that leave a rest from low to low+size when they are divided. It multiplies by the
// reciprocal in place of dividing: D. Lemire, O. Kaser and N. Kurz, Faster remainder by direct computation, 2019.
func markRests(found []uint64, numbers []uint32, by, low, size uint64) {
	reciprocal := ^uint64(0)/by + 1
	for i, v := range numbers {
		rest, _ := bits.Mul64(reciprocal*uint64(v), by)
		if rest-low <= size {
			found[i/64] |= 1 << (i % 64)
		}
	}
}

// markTails is markWindow of windows of one group, of which only the last digits are demanded.
func markTails(found []uint64, numbers []uint32, w *window) {
	group, ten := ^uint64(0)/w.mod+1, ^uint64(0)/w.ten+1
	for i, v := range numbers {
		x, _ := bits.Mul64(group*uint64(v), w.mod)
		if rest, _ := bits.Mul64(ten*(x+w.group.Low), w.ten); rest == w.tail {
			found[i/64] |= 1 << (i % 64)
		}
	}
}

// eachWindow calls yield with the window of each place where a text can be in the fields.
func eachWindow(c *fields.Column, how How, text []byte, yield func(w *window)) {
	first, last := places(c, how, text)
	for at := first; at <= last; at++ {
		if canAt(c, at, text) {
			if w, ok := windowAt(c, at, text); ok {
				yield(&w)
			}
		}
	}
}

// windowAt is the groups that a text at a place covers, and what it demands of them; ok is false if no number has it.
func windowAt(c *fields.Column, at int, text []byte) (w window, ok bool) {
	w = window{div: 1, mod: 1, head: 1}
	place, covered, over := 0, false, false
	for i := range c.Groups {
		g := &c.Groups[i]
		place += len(g.Separator)
		from, to := max(at-place, 0), min(at+len(text)-place, g.Width) // digits of the group
		digits := text[min(max(place-at, 0), len(text)):]
		place += g.Width
		if from >= to {
			if covered {
				w.div = times(w.div, g.Radix, 0, &over)
			}
			continue
		}
		covered = true
		x, scale := number(digits[:to-from], 10), fields.Power(g.Width-to)
		low, high := x*scale, x*scale+scale-1
		switch {
		case from > 0 && to < g.Width: // any number may have some digits in the middle
			return anyWindow, true
		case from > 0:
			w.group, w.tail, w.ten, w.mod = g, x, fields.Power(to-from), g.Radix // 0 if it is the first of all
		case i == 0:
			w.mod, w.low, w.high = 0, low, high
		default:
			low, high, ok := clip(g, low, high)
			if !ok {
				return w, false
			}
			w.mod, w.head = times(w.mod, g.Radix, 0, &over), times(w.head, g.Radix, 0, &over)
			w.low, w.high = times(w.low, g.Radix, low, &over), times(w.high, g.Radix, high, &over)
		}
	}
	if over {
		return anyWindow, true
	}
	return w, true
}

// anyWindow demands nothing.
var anyWindow = window{div: 1, head: 1, high: ^uint64(0)}

// clip is the part of an interval of digits that a group's numbers can have, less g.Low; ok is false if there is none.
func clip(g *fields.Group, low, high uint64) (_, _ uint64, ok bool) {
	low, high = max(low, g.Low)-g.Low, min(high, g.Low+g.Radix-1)-g.Low
	return low, high, low <= high && high < g.Radix
}

// times is x by y, and add. It sets over if that is too large.
func times(x, y, add uint64, over *bool) uint64 {
	high, low := bits.Mul64(x, y)
	low, carry := bits.Add64(low, add, 0)
	*over = *over || high|carry != 0
	return low
}
