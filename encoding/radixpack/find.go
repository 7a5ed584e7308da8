package radixpack

import "bytes"

// Find sets the bits of those of n values, and clears the others, that may begin with prefix, which is not longer than they
// are. All have so many characters, and lie one after the other in packed. ok is false if it cannot tell, because values
// do not begin where periods do.
func (l *Layout) Find(dst, packed []byte, n, each int, prefix []byte) (ok bool) {
	period := len(l.Positions)
	if len(prefix) == 0 || each%period != 0 {
		return false
	}
	clear(dst)
	w, ok := l.window(prefix)
	if !ok {
		return true // a character that no value has
	}
	if w.mask == 0 {
		return false
	}
	step := uint64(each/period) * uint64(l.Bits())
	var tail [24]byte // the end of packed, and zeros
	cut := max(len(packed)-16, 0)
	copy(tail[:], packed[cut:])
	for i := range n {
		bit := w.bit + uint64(i)*step
		at := bit / 8
		var x uint64
		if at+8 <= uint64(len(packed)) {
			x = le.Uint64(packed[at:])
		} else {
			x = le.Uint64(tail[at-uint64(cut):])
		}
		if x>>(bit%8)&w.mask-w.from <= w.most {
			dst[i/8] |= 1 << (i % 8)
		}
	}
	return true
}

// window is a group of the first period of a value, and the numbers that it has if the value begins with something.
type window struct {
	bit, mask  uint64
	from, most uint64 // the least number, and how much more the greatest is
	chars      int    // that were compared
}

// window is the group that tells most about values with a prefix; ok is false if there are none.
func (l *Layout) window(prefix []byte) (best window, ok bool) {
	at, bit := 0, uint64(0)
	for _, g := range l.Groups {
		if at >= len(prefix) {
			break
		}
		end := at + int(g) + 1
		w := window{bit: bit}
		for i := at; i < end; i++ {
			chars := l.Alphabets[l.Positions[i]]
			radix := uint64(len(chars))
			w.from, w.most = w.from*radix, w.most*radix
			if i >= len(prefix) {
				w.most += radix - 1
				continue
			}
			rank := bytes.IndexByte(chars, prefix[i])
			if rank < 0 {
				return best, false
			}
			w.from += uint64(rank)
			if radix > 1 {
				w.chars++
			}
		}
		_, width := l.kinds(at, end)
		if w.mask = 1<<width - 1; w.chars > best.chars {
			best = w
		}
		at, bit = end, bit+uint64(width)
	}
	return best, true
}
