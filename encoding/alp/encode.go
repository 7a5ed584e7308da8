package alp

import "math/bits"

// round is added and subtracted to round to the nearest integer: 2^52 + 2^51.
// It works for values up to 2^51; larger ones are exceptions.
const (
	round   = 1<<52 + 1<<51
	limit64 = 1 << 51
	limit32 = 1 << 31
)

// toInt is round(v*up*down) and whether it stands for exactly v.
func toInt[F Float, I Int](v, up, down, backUp, backDown F) (I, bool) {
	// The conversions keep the compiler from fusing a product and a sum.
	x := float64(F(F(v*up) * down))
	limit := float64(limit64)
	if size[F]() == 4 {
		limit = limit32
	}
	if !(x > -limit && x < limit) {
		return 0, false
	}
	n := I(float64(x+round) - round)
	return n, bitsOf(F(F(F(n)*backUp)*backDown)) == bitsOf(v)
}

// Encode sets ints[i] to the integer of src[i] and appends to exc the positions
// of exceptions, ascending. Their slots hold the integer of a neighbour, which
// costs little to pack. ints and src have the same length.
func Encode[F Float, I Int](ints []I, src []F, p Params, exc []uint32) []uint32 {
	up, down := scales[F](p.E, p.F)
	backUp, backDown := scales[F](p.F, p.E)
	ints = ints[:len(src)]
	first := len(exc)
	var last I
	good := -1 // first slot with an integer of its own
	for i, v := range src {
		n, ok := toInt[F, I](v, up, down, backUp, backDown)
		if !ok {
			exc = append(exc, uint32(i))
			ints[i] = last
			continue
		}
		if good < 0 {
			good = i
		}
		ints[i], last = n, n
	}
	// Exceptions before the first integer take that one.
	if good > 0 && len(exc) > first {
		for i := range good {
			ints[i] = ints[good]
		}
	}
	return exc
}

// Search chooses the parameters by which the sample gets smallest; ok is false
// if they do not make it smaller than the floats are. The same sample always
// gives the same parameters.
func Search[F Float, I Int](sample []F) (p Params, ok bool) {
	maxE := 18
	if size[F]() == 4 {
		maxE = max32
	}
	best := len(sample) * size[F]() * 8
	for e := maxE; e >= 0; e-- {
		for f := e; f >= 0; f-- {
			c := Params{uint8(e), uint8(f)}
			if cost := cost[F, I](sample, c, best); cost < best {
				best, p, ok = cost, c, true
			}
		}
	}
	return p, ok
}

// cost estimates the bits that the sample takes, or gives up at the limit.
func cost[F Float, I Int](sample []F, p Params, limit int) int {
	up, down := scales[F](p.E, p.F)
	backUp, backDown := scales[F](p.F, p.E)
	perException := 32 + 8*size[F]()
	total := 0
	var lo, hi I
	good := false
	for _, v := range sample {
		n, ok := toInt[F, I](v, up, down, backUp, backDown)
		if !ok {
			if total += perException; total >= limit {
				return limit
			}
			continue
		}
		if !good {
			lo, hi, good = n, n, true
		}
		lo, hi = min(lo, n), max(hi, n)
	}
	return total + len(sample)*bits.Len64(uint64(hi-lo))
}
