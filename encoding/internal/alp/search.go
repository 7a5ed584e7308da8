package alp

import "math/bits"

// The search has two levels, as in the paper: [Candidates] finds parameters for parts of the data, and [Choose] tries
// these on one block.
const (
	maxCandidates = 5
	groups        = 8   // sampled parts of the data
	groupRange    = 128 // minimum values of a part, if there are several
	groupLen      = 32  // sampled values of each part
	chooseLen     = 64  // values of a block for the choice
	maxSearch     = 18  // larger exponents are only read
	maxZeros      = 6   // tried numbers of zeros before the point
)

// Search returns the parameters with the smallest result for data. ok is false if the result is not smaller than the
// floats. It examines a few hundred values. The result depends on data only.
func Search[F Float, I Int](data []F) (p Params, ok bool) {
	var room [maxCandidates]Params
	return Choose[F, I](data, Candidates[F, I](room[:0], data))
}

// Candidates appends to dst up to 5 parameters that make parts of data small, the most frequent first. It appends
// none if the data are not decimals.
func Candidates[F Float, I Int](dst []Params, data []F) []Params {
	var found [groups]Params
	var votes [groups]int
	n := 0
	var room [groupLen]F
	parts := min(groups, (len(data)+groupRange-1)/groupRange)
	for g := range parts {
		from, to := part(len(data), g, parts), part(len(data), g+1, parts)
		p, ok := best[F, I](spread(room[:], data[from:to]))
		if !ok {
			continue
		}
		i := 0
		for i < n && found[i] != p {
			i++
		}
		n = max(n, i+1)
		found[i] = p
		votes[i]++
	}
	for range min(n, maxCandidates) {
		top := 0
		for i := range n {
			if votes[i] > votes[top] {
				top = i
			}
		}
		dst = append(dst, found[top])
		votes[top] = 0
	}
	return dst
}

// Choose returns the candidate with the smallest result for values. ok is false if no result is smaller than the
// floats. It examines 64 values.
func Choose[F Float, I Int](values []F, candidates []Params) (p Params, ok bool) {
	var room [chooseLen]F
	sample := spread(room[:], values)
	least := len(sample) * size[F]() * 8
	for _, c := range candidates {
		if cost, _ := cost[F, I](sample, c, least); cost < least {
			least, p, ok = cost, c, true
		}
	}
	return p, ok
}

// part returns the start of part i of n values in parts.
func part(n, i, parts int) int { return int(int64(n) * int64(i) / int64(parts)) }

// spread fills room with values at equal distances in data, or a part of room if data is shorter.
func spread[F Float](room, data []F) []F {
	if len(data) <= len(room) {
		return data
	}
	for i := range room {
		room[i] = data[part(len(data), i, len(room))]
	}
	return room
}

// steady is the exponent whose inverse is nearest to that power of ten (within 0.05 of the last place). With it
// decimals have the fewest exceptions, unless they have very many digits.
func steady[F Float]() int {
	if size[F]() == 4 {
		return 6
	}
	return 14
}

// best returns the parameters that make the sample smallest. The number of digits after the point is found with the
// steady exponent: from the first number without exceptions on, more digits only make larger integers. Then it tries
// other exponents for this number of digits and, for whole numbers, zeros before the point.
func best[F Float, I Int](sample []F) (p Params, ok bool) {
	most := maxSearch
	if size[F]() == 4 {
		most = max32
	}
	least, exceptions := len(sample)*size[F]()*8, 1
	try := func(e, f int) {
		c := Params{uint8(e), uint8(f)}
		if bits, n := cost[F, I](sample, c, least); bits < least {
			least, exceptions, p, ok = bits, n, c, true
		}
	}
	try(0, 0)
	for digits := 1; digits <= most && exceptions > 0; digits++ {
		e := max(digits, steady[F]())
		try(e, e-digits)
		if e > digits && exceptions > 0 { // the products with 10^f may be too large
			try(digits, 0)
		}
	}
	digits := int(p.E - p.F)
	for e := most; e >= digits && exceptions > 0 && ok; e-- {
		try(e, e-digits)
	}
	for zeros := 1; zeros <= maxZeros && digits == 0; zeros++ {
		try(0, zeros)
	}
	return p, ok
}

// cost estimates the bits of the sample, up to limit, and counts the exceptions.
func cost[F Float, I Int](sample []F, p Params, limit int) (bitCount, exceptions int) {
	up, down := scales[F](p.E, p.F)
	backUp, backDown := scales[F](p.F, p.E)
	perException := 32 + 8*size[F]()
	var lo, hi I
	good := false
	for _, v := range sample {
		n := toInt[F, I](v, up, down)
		if !same(v, toFloat(n, backUp, backDown)) {
			if exceptions++; exceptions*perException >= limit {
				return limit, exceptions
			}
			continue
		}
		if !good {
			lo, hi, good = n, n, true
		}
		lo, hi = min(lo, n), max(hi, n)
	}
	return exceptions*perException + len(sample)*bits.Len64(uint64(hi)-uint64(lo)), exceptions
}
