package onpair

import (
	"math"
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/scratch"
)

// pairs counts pairs of codes: a hash table with open addressing.
type pairs struct {
	slots []pair // as many as a power of two
	shift int    // of a hash that gives a place
	room  int    // new pairs that are still counted
	full  int32
}

type pair struct {
	codes uint32
	count int32 // 0 if the slot is empty
}

const (
	leastPairBits = 12
	mostPairBits  = 17

	never = math.MinInt32 // the count of a pair that is not to become a token
)

// reset forgets all pairs, and makes room for those in a sample of so many bytes.
func (p *pairs) reset(sample int) {
	log := min(max(bits.Len(uint(sample))-2, leastPairBits), mostPairBits)
	p.slots = scratch.Slice(&p.slots, 1<<log)
	clear(p.slots)
	p.shift, p.room = 32-log, 3<<log/4
}

// add counts a pair, and returns its count. Once the table is full, new pairs are not counted.
func (p *pairs) add(codes uint32) *int32 {
	for at := int(codes * 0x9e3779b1 >> p.shift); ; at++ {
		s := &p.slots[at&(len(p.slots)-1)]
		if s.count == 0 {
			if p.full = 1; p.room == 0 {
				return &p.full
			}
			p.room--
			*s = pair{codes, 1}
			return &s.count
		}
		if s.codes == codes {
			s.count++
			return &s.count
		}
	}
}
