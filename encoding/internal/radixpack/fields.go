package radixpack

import "math/bits"

const (
	fieldChars = 8       // digits of a group of fields at most
	mostField  = 128     // characters of an alphabet, so that as many digits fit into a group
	chunkLen   = 32      // characters that are translated at a time
	fieldRoom  = 4 << 10 // bytes for digits
	mostSlots  = 12      // of a chunk: more are slower than tables
)

// fields is how digits are unpacked which are fields of bits because all alphabets are powers of two: each to a byte, and
// then these to characters. The zero value is none.
type fields struct {
	groups   [][2]uint64   // masks of the digits in 8 bytes, the last one lowest, and widths
	slots    [][3][32]byte // tables of 16 characters, twice; their first digits; the characters that they are for
	chunks   int           // of a period; 0 for none
	perChunk int           // slots of each chunk
}

// reset makes f that of a layout, if it suits.
func (f *fields) reset(l *Layout) {
	f.groups, f.slots, f.chunks = f.groups[:0], f.slots[:0], 0
	if !fieldKernel {
		return
	}
	f.perChunk = 0
	for _, a := range l.Alphabets {
		if len(a)&(len(a)-1) != 0 {
			return
		}
		f.perChunk += (len(a) + 15) / 16
	}
	at := 0
	for i, n := range l.Groups {
		end := at + int(n) + 1
		if end-at != fieldChars && i < len(l.Groups)-1 || end-at > fieldChars {
			return
		}
		mask, width := uint64(0), 0
		for k := end - 1; k >= at; k-- {
			bitsOf := bits.Len(uint(len(l.Alphabets[l.Positions[k]]))) - 1
			mask |= (1<<bitsOf - 1) << (8 * (fieldChars - 1 - (k - at)))
			width += bitsOf
		}
		f.groups = append(f.groups, [2]uint64{mask, uint64(width)})
		at = end
	}
	if f.perChunk > mostSlots {
		return
	}
	f.chunks = (len(l.Positions) + chunkLen - 1) / chunkLen
	for c := range f.chunks {
		for a, chars := range l.Alphabets {
			for first := 0; first < len(chars); first += 16 {
				f.slots = append(f.slots, slotOf(l, c*chunkLen, byte(a), first))
			}
		}
	}
}

// slotOf is the characters of an alphabet from one on, for the positions of a chunk that have it.
func slotOf(l *Layout, from int, alphabet byte, first int) (s [3][32]byte) {
	chars := l.Alphabets[alphabet]
	for i := range chunkLen {
		if k := first + i%16; k < len(chars) {
			s[0][i] = chars[k]
		}
		s[1][i] = byte(first)
		if from+i < len(l.Positions) && l.Positions[from+i] == alphabet {
			s[2][i] = 0xff
		}
	}
	return s
}
