package radixpack

import "bytes"

// mostPlaces is at how many places of a value a text is looked for in the packed form. More would take as long as unpacking.
const mostPlaces = 2

// Find sets the bits of those of n values that may begin with a text, or contain it anywhere, and clears the others. All values have the
// same number of characters, at least that of the text, and lie one after the other in packed. ok is false if Find cannot tell: values
// do not begin where periods do, or the text can be at many places.
func (l *Layout) Find(dst, packed []byte, n, each int, text []byte, anywhere bool) (ok bool) {
	if len(text) == 0 || each < len(text) || each%len(l.Positions) != 0 {
		return false
	}
	last := 0
	if anywhere {
		last = each - len(text)
	}
	var windows [mostPlaces]window
	places := 0
	for at := 0; at <= last; at++ {
		if !l.canBe(text, at) {
			continue
		}
		if places == mostPlaces {
			return false
		}
		windows[places] = l.window(text, at)
		if windows[places].chars == 0 {
			return false
		}
		places++
	}
	clear(dst)
	for i := range windows[:places] {
		windows[i].scan(dst, packed, n, uint64(each/len(l.Positions))*uint64(l.Bits()))
	}
	return true
}

// canBe reports whether the characters at some place can be those of a text.
func (l *Layout) canBe(text []byte, at int) bool {
	for i, b := range text {
		if bytes.IndexByte(l.Alphabets[l.Positions[(at+i)%len(l.Positions)]], b) < 0 {
			return false
		}
	}
	return true
}

// window is a group of a value, and the numbers that it can be if the value has a text at some place: x / div % mod is want, or x / div if
// mod is 0, because the group begins with characters of the text.
type window struct {
	bit, mask      uint64
	div, mod, want uint64
	chars          int // that are compared
}

// window is the group with the most characters of a text at some place, where it can be.
func (l *Layout) window(text []byte, at int) (best window) {
	start, bit := 0, uint64(0)
	for start < at+len(text) {
		for _, g := range l.Groups {
			end := start + int(g) + 1
			_, width := l.kinds(start%len(l.Positions), (end-1)%len(l.Positions)+1)
			if w := l.windowOf(start, end, text, at); w.chars > best.chars {
				best = w
				best.bit, best.mask = bit, 1<<width-1
			}
			start, bit = end, bit+uint64(width)
		}
	}
	return best
}

// windowOf is the group of the characters from start to end, but for where its bits are.
func (l *Layout) windowOf(start, end int, text []byte, at int) window {
	w, before := window{div: 1, mod: 1}, false
	for i := start; i < end; i++ {
		chars := l.Alphabets[l.Positions[i%len(l.Positions)]]
		radix := uint64(len(chars))
		switch {
		case radix == 1:
		case i < at:
			before = true
		case i >= at+len(text):
			w.div *= radix
		default:
			w.want, w.mod = w.want*radix+uint64(bytes.IndexByte(chars, text[i-at])), w.mod*radix
			w.chars++
		}
	}
	if !before {
		w.mod = 0
	}
	return w
}

// scan sets the bits of those of n values for which the group has what is wanted; from one to the next there are step bits.
func (w *window) scan(dst, packed []byte, n int, step uint64) {
	var tail [24]byte // the end of packed, and zeros
	cut := max(len(packed)-16, 0)
	copy(tail[:], packed[cut:])
	low := w.want * w.div
	for i := range n {
		bit := w.bit + uint64(i)*step
		at := bit / 8
		var x uint64
		if at+8 <= uint64(len(packed)) {
			x = le.Uint64(packed[at:])
		} else {
			x = le.Uint64(tail[at-uint64(cut):])
		}
		x = x >> (bit % 8) & w.mask
		if w.mod == 0 && x-low < w.div || w.mod > 0 && x/w.div%w.mod == w.want {
			dst[i/8] |= 1 << (i % 8)
		}
	}
}
