// Package search finds byte strings in byte strings. With AVX2 it is several times as fast as package bytes where single
// bytes of a needle are frequent, as in identifiers and numbers.
package search

import (
	"bytes"
	"slices"
	"unsafe"
)

// Needle is a byte string to look for. It may be used by many goroutines.
type Needle struct {
	text   []byte
	places [3]int // of its rarest bytes
	bytes  [3]byte
}

// step is how many places the kernel looks at together.
const step = 32

// New prepares a needle, which it keeps.
func New(text []byte) Needle {
	n := Needle{text: text}
	for k := range n.places {
		best := -1
		for i, b := range text {
			if slices.Contains(n.places[:k], i) {
				continue
			}
			// A byte that is looked for already tells least.
			if best < 0 || rank(n.bytes[:k], b) > rank(n.bytes[:k], text[best]) {
				best = i
			}
		}
		if best >= 0 {
			n.places[k], n.bytes[k] = best, text[best]
		} else {
			n.places[k], n.bytes[k] = n.places[0], n.bytes[0]
		}
	}
	return n
}

// rank is how much a byte tells beside others that are looked for.
func rank(have []byte, b byte) int {
	switch {
	case bytes.IndexByte(have, b) >= 0:
		return -1
	case bytes.IndexByte(separators, b) >= 0:
		return 0 // in identifiers and times, they are at the same places in all values
	}
	return int(rarity[b])
}

var separators = []byte("./-:_,")

// Rarest is the place of a byte of a text that is rare in texts. The text is not empty.
func Rarest(text []byte) (place int) {
	for i, b := range text {
		if rarity[b] > rarity[text[place]] {
			place = i
		}
	}
	return place
}

// rarity is a rough order of bytes by how rare they are in texts.
var rarity = func() (r [256]uint8) {
	for i := range r {
		switch b := byte(i); {
		case b >= 'a' && b <= 'z':
			r[i] = 20
		case b >= '0' && b <= '9':
			r[i] = 15
		case b >= 'A' && b <= 'Z':
			r[i] = 30
		default:
			r[i] = 35
		}
	}
	for i, b := range []byte(" etaoinsrhldcumfpgwybvkxjqz") {
		r[b] = uint8(i)
	}
	for _, b := range separators {
		r[b] = 16
	}
	return r
}()

// Text is the byte string.
func (n *Needle) Text() []byte { return n.text }

// Index is where the needle begins in data for the first time, -1 if it does not.
func (n *Needle) Index(data []byte) int {
	last := len(data) - len(n.text) // place where it can begin
	if !fast || len(n.text) < 2 || last < 2*step {
		return bytes.Index(data, n.text)
	}
	at := 0
	for last-at >= step-1 {
		room := (last + 1 - at) &^ (step - 1)
		i := probe(&data[at], room, &n.places, &n.bytes)
		at += i
		if i == room {
			break
		}
		if string(data[at:at+len(n.text)]) == string(n.text) {
			return at
		}
		at++
	}
	if i := bytes.Index(data[at:], n.text); i >= 0 {
		return at + i
	}
	return -1
}

// Containing sets the bits of those values that contain the needle, which is not empty. They lie back to back in data from a
// place on to its end, and end at ends.
func Containing[W byte | uint64, O int32 | int64](dst []W, data []byte, from int, ends []O, n *Needle) {
	width := 8 * int(unsafe.Sizeof(W(0)))
	value := 0
	for at := from; ; {
		i := n.Index(data[at:])
		if i < 0 {
			return
		}
		at += i
		value += EndsBefore(ends[value:], at)
		if at+len(n.text) > int(ends[value]) { // it ends in another value
			at++
			continue
		}
		dst[value/width] |= 1 << (value % width)
		at = int(ends[value])
	}
}

// EndsBefore is the number of ends that are not behind a place. It is fast if there are few.
func EndsBefore[O int32 | uint32 | int64](ends []O, place int) int {
	reach := 1
	for reach < len(ends) && int(ends[reach-1]) <= place {
		reach *= 2
	}
	low, high := reach/2, min(reach, len(ends))
	for low < high {
		if mid := int(uint(low+high) / 2); int(ends[mid]) <= place {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// Starts finds places where texts of up to eight groups may begin, by three bytes. Groups are bits:
//
//	classes[0]['f']  the groups of which a text begins with f
//	classes[1]['a']  those of which a text has an a behind its first byte
//
// It may be used by many goroutines once all texts were added.
type Starts struct {
	classes [StartBytes][256]byte
	halves  [2 * StartBytes][16]byte // the classes of all bytes with a lower half, and of all with an upper half
}

// StartBytes is how many bytes of texts are looked at.
const StartBytes = 3

// Add adds a text to a group. Of a text of fewer than [StartBytes] bytes, any byte may be behind it.
func (s *Starts) Add(group int, text []byte) {
	for k := range s.classes {
		from, to := 0, 255
		if k < len(text) {
			from, to = int(text[k]), int(text[k])
		}
		for c := from; c <= to; c++ {
			s.classes[k][c] |= 1 << group
			s.halves[2*k][c&15] |= 1 << group
			s.halves[2*k+1][c>>4] |= 1 << group
		}
	}
}

// Next is the first place from at on where a text may begin, and the groups of which one may; it is len(data) if there is none. What
// is behind data may be any text.
func (s *Starts) Next(data []byte, at int) (place int, groups byte) {
	for fast && len(data)-at >= step+StartBytes-1 {
		room := (len(data) - at - StartBytes + 1) &^ (step - 1)
		i := probeClasses(&data[at], room, &s.halves)
		at += i
		if i == room {
			break
		}
		if groups = s.groups(data, at); groups != 0 {
			return at, groups
		}
		at++
	}
	for ; at < len(data); at++ {
		if groups = s.groups(data, at); groups != 0 {
			return at, groups
		}
	}
	return len(data), 0
}

// groups are those of which a text may begin at a place.
func (s *Starts) groups(data []byte, at int) byte {
	groups := s.classes[0][data[at]]
	for k := 1; k < StartBytes && at+k < len(data); k++ {
		groups &= s.classes[k][data[at+k]]
	}
	return groups
}

// Rarity tells how rare a byte is in texts: the more, the rarer.
func Rarity(b byte) int { return int(rarity[b]) }
