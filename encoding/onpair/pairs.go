package onpair

import "math"

// pairs counts pairs of codes: a hash table with open addressing.
type pairs struct {
	slots []pair
	n     int
	full  int32
}

type pair struct {
	codes uint32
	count int32 // 0 if the slot is empty
}

const (
	pairBits  = 17
	pairSlots = 1 << pairBits

	never = math.MinInt32 // the count of a pair that is not to become a token
)

func (p *pairs) reset() {
	if p.slots == nil {
		p.slots = make([]pair, pairSlots)
	}
	clear(p.slots)
	p.n = 0
}

// add counts a pair, and returns its count. Once the table is full, new pairs are not counted.
func (p *pairs) add(codes uint32) *int32 {
	for at := codes * 0x9e3779b1 >> (32 - pairBits); ; at = (at + 1) % pairSlots {
		s := &p.slots[at]
		if s.count == 0 {
			if p.full = 1; p.n == pairSlots*3/4 {
				return &p.full
			}
			p.n++
			*s = pair{codes, 1}
			return &s.count
		}
		if s.codes == codes {
			s.count++
			return &s.count
		}
	}
}
