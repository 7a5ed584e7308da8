package valueset

import "math/big"

// Preimage is the set of the values for which a function is in a set of the domain of. The function never falls, and least gives
// the least value, of any size, for which it is not below a number. All values are numbers.
func (d *Domain) Preimage(set Set, of *Domain, least func(y *big.Int) *big.Int) Set {
	at := func(p point) point {
		switch {
		case p.cmp(of.whole.lo) <= 0:
			return d.whole.lo
		case p.cmp(of.whole.hi) >= 0:
			return d.whole.hi
		}
		return d.clamp(least(p.n))
	}
	spans := make([]span, len(set.spans))
	for i, s := range set.spans {
		spans[i] = span{at(s.lo), at(s.hi)}
	}
	return newSet(spans, false)
}
