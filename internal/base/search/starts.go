package search

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
