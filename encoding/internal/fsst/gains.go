package fsst

import (
	"math/bits"
	"slices"
)

// gains sums the gains of many symbols: a hash table with open addressing, in the order of first appearance.
type gains struct {
	slots   [gainSlots]uint16 // 1 + index of a symbol, 0 for none
	symbols []symbol
	gain    []uint32
	keys    []uint64 // for top
	order   []symbol
}

// gainSlots is twice the maximum number of symbols. Later symbols are dropped.
const gainSlots = 1 << 14

func (g *gains) reset() {
	clear(g.slots[:])
	g.symbols, g.gain = g.symbols[:0], g.gain[:0]
}

// add adds to the gain of s. Sums must stay below 2^32.
func (g *gains) add(s symbol, gain uint32) {
	at := (s.value ^ uint64(s.length)<<59) * 0x9e3779b97f4a7c15 >> (64 - 14)
	for ; ; at = (at + 1) % gainSlots {
		i := int(g.slots[at]) - 1
		if i < 0 {
			break
		}
		if g.symbols[i] == s {
			g.gain[i] += gain
			return
		}
	}
	if len(g.symbols) == gainSlots/2 {
		return
	}
	g.symbols, g.gain = append(g.symbols, s), append(g.gain, gain)
	g.slots[at] = uint16(len(g.symbols))
}

// top returns the symbols with the largest gains, largest first: at least n symbols if there are as many. It is valid
// until the next call.
func (g *gains) top(n int) []symbol {
	var counts [4 * 33]int
	for _, gain := range g.gain {
		counts[magnitude(gain)]++
	}
	least := len(counts)
	for found := 0; found < n && least > 0; found += counts[least] {
		least--
	}
	g.keys = g.keys[:0]
	for i, gain := range g.gain {
		if magnitude(gain) >= least {
			g.keys = append(g.keys, uint64(^gain)<<32|uint64(i))
		}
	}
	slices.Sort(g.keys)
	g.order = g.order[:0]
	for _, key := range g.keys {
		g.order = append(g.order, g.symbols[uint32(key)])
	}
	return g.order
}

// magnitude grows with the logarithm of gain: its highest bit and the two below.
func magnitude(gain uint32) int {
	n := bits.Len32(gain)
	return n<<2 | int(gain<<2>>n&3)
}
