package alp

import "math/bits"

// The search has two levels, as in the paper: [Candidates] tries all parameters
// on parts of much data, [Choose] some parameters on one block of it.
const (
	maxCandidates = 5
	groups        = 8  // parts of the data that are looked at
	groupLen      = 32 // values looked at in each of them
	chooseLen     = 64 // values of a block that the choice is made by
	maxSearch     = 18 // larger exponents are only for reading
	maxZeros      = 6  // zeros in front of the point that are tried
)

// Search chooses the parameters by which a block like data gets smallest; ok is
// false if they do not make it smaller than the floats are. It looks at a few
// hundred values, and always gives the same for the same data.
func Search[F Float, I Int](data []F) (p Params, ok bool) {
	var room [maxCandidates]Params
	return Choose[F, I](data, Candidates[F, I](room[:0], data))
}

// Candidates appends to dst up to 5 parameters that parts of data get small by,
// the most frequent first. None means that the data are no decimals.
func Candidates[F Float, I Int](dst []Params, data []F) []Params {
	var found [groups]Params
	var votes [groups]int
	n := 0
	var room [groupLen]F
	parts := min(groups, (len(data)+groupLen-1)/groupLen)
	for g := range parts {
		from, to := part(len(data), g, parts), part(len(data), g+1, parts)
		p, ok := best[F, I](spread(room[:], data[from:to]), found[:n])
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

// Choose gives those of the candidates by which the values get smallest; ok is
// false if none makes them smaller than the floats are. It looks at 64 values.
func Choose[F Float, I Int](values []F, candidates []Params) (p Params, ok bool) {
	var room [chooseLen]F
	sample := spread(room[:], values)
	least := len(sample) * size[F]() * 8
	for _, c := range candidates {
		if cost := cost[F, I](sample, c, least); cost < least {
			least, p, ok = cost, c, true
		}
	}
	return p, ok
}

// part is where part i of n values cut into parts begins.
func part(n, i, parts int) int { return int(int64(n) * int64(i) / int64(parts)) }

// spread fills room with values from all over data, or less of it if data is
// shorter.
func spread[F Float](room, data []F) []F {
	if len(data) <= len(room) {
		return data
	}
	for i := range room {
		room[i] = data[part(len(data), i, len(room))]
	}
	return room
}

// likely are parameters that suit many data: up to 6 digits behind the point.
var likely = [...]Params{{7, 7}, {7, 6}, {7, 5}, {7, 4}, {7, 3}, {7, 2}, {7, 1}}

// best tries all parameters. Large exponents are first, since of those with the
// same difference to the factor they round best. What likely ones and those that
// were found before cost only tells when to give others up.
func best[F Float, I Int](sample []F, found []Params) (p Params, ok bool) {
	maxE := maxSearch
	if size[F]() == 4 {
		maxE = max32
	}
	least := len(sample) * size[F]() * 8
	for _, list := range [...][]Params{found, likely[:]} {
		for _, c := range list {
			least = min(least, cost[F, I](sample, c, least)+1)
		}
	}
	try := func(e, f int) {
		c := Params{uint8(e), uint8(f)}
		if cost := cost[F, I](sample, c, least); cost < least {
			least, p, ok = cost, c, true
		}
	}
	for e := maxE; e >= 0; e-- {
		for f := e; f >= 0; f-- {
			try(e, f)
		}
	}
	for zeros := 1; zeros <= maxZeros; zeros++ {
		try(0, zeros)
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
		n := toInt[F, I](v, up, down)
		if !same(v, toFloat(n, backUp, backDown)) {
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
	return total + len(sample)*bits.Len64(uint64(hi)-uint64(lo))
}
