package numeric

import (
	"math/bits"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/fastlanes"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// stats is what the choice of an encoding for a sequence rests on.
type stats struct {
	t        Type
	n, nulls int
	chunks   int
	width    int    // bits of the spread between least and largest value; of the type if a float
	low      uint64 // least value; if a float, the first
	maxWidth int    // bits of the values as they are, if unsigned
	single   bool   // all are equal
	runs     int    // number of runs: exact, or an estimate if the values hardly repeat
	diff     int    // bits of the spread of differences; the width if that is no use
	bends    int    // how often the difference changes; 0 if unknown
	top      uint64 // the value of most slots, if there is one
	others   int    // slots with another value than top; n if there is no such value
	distinct int    // an estimate of how many values are distinct; n if unknown
	signed   int    // least of 8, 16, 32, 64 bits that hold the values as signed
	spread   uint64 // largest value less least
	divisor  uint64 // that probably all distances from the least value have; 0 or 1 if there is none
	patch    patchPlan
}

const (
	window   = 64   // consecutive values of a sample
	windows  = 8    // of a sample
	smallLen = 768  // sequences up to this are looked at whole
	spots    = 1024 // values that are looked at for distinct ones
)

// analyze gathers statistics: those that cost a look at all values only where a
// sample shows that they may matter.
// Those of an encoding that h found not to be good are left out; with h nil there
// are none.
func analyze[U word](e *enc, in input[U], h *hint) *stats {
	n := len(in.values)
	s := &e.stats[in.level]
	*s = stats{t: in.t, n: n, nulls: in.nulls, chunks: (n + fastlanes.ChunkLen - 1) / fastlanes.ChunkLen}
	s.width = bitsOf[U]()
	s.low, s.signed = uint64(in.values[0]), s.width
	flip := in.flip()
	if !in.t.Float() {
		low, high := span(in.values, flip)
		s.spread = uint64(high - low)
		s.width = bits.Len64(s.spread)
		low, high = low^flip, high^flip
		s.low = uint64(low)
		if in.t.Unsigned() && (flip == 0 || signed(low) >= 0) {
			s.maxWidth = bits.Len64(uint64(high))
		}
		if in.t.Signed() {
			for s.signed = 8; !fitsSigned(low, high, s.signed); s.signed *= 2 {
			}
		}
	}
	s.diff, s.runs, s.others, s.distinct = s.width, n, n, n
	var step stepper[U]
	step.begin(in.t)
	for i := range in.pieces() {
		step.add(in.piece(i))
	}
	if step.diff() < s.width || step.runs*3 <= 2*step.count || step.bends*3 <= step.count {
		step.begin(in.t)
		step.add(in.values)
		s.runs, s.diff, s.bends = step.runs, step.diff(), step.bends
	}
	s.single = s.width == 0 || s.runs == 1
	if s.single {
		return s
	}
	if top, ok := in.majority(); ok {
		s.top, s.others = uint64(top), n-countEqual(in.values, top)
	}
	if h.wants(encoding.BlockDictionary) {
		s.distinct = estimateDistinct(e, in.values)
	}
	if in.t.Float() {
		return s
	}
	if e.features.Has(edition.CommonDivisor) && h.wants(encoding.CommonDivisor) && s.width > 1 {
		s.divisor = in.sampledDivisor(U(s.low))
	}
	if e.features.Has(edition.PatchedPack) && h.wants(encoding.PatchedPack) && s.width > 1 && n >= minPatched {
		s.patch = patchedPlan(e, in)
	}
	return s
}

// sampledDivisor is the greatest divisor of the distances of a sample from low.
func (in input[U]) sampledDivisor(low U) uint64 {
	d := U(0)
	for i := range in.pieces() {
		for _, v := range in.piece(i) {
			if d = gcd(v-low, d); d == 1 {
				return 1
			}
		}
	}
	return uint64(d)
}

// pieces is the number of windows that are the sample: one of all values, if
// they are few.
func (in input[U]) pieces() int {
	if len(in.values) <= smallLen {
		return 1
	}
	return windows
}

// piece is a window of the sample.
func (in input[U]) piece(i int) []U {
	n := len(in.values)
	if n <= smallLen {
		return in.values
	}
	at := (n - window) / (windows - 1) * i
	return in.values[at : at+window]
}

// stepper counts runs and finds the least and largest difference of neighbours,
// as signed numbers.
type stepper[U word] struct {
	sign      U
	float     bool
	count     int
	runs      int
	bends     int
	low, high U
}

func (s *stepper[U]) begin(t Type) {
	*s = stepper[U]{sign: 1 << (bitsOf[U]() - 1), float: t.Float()}
	s.low = ^s.low
}

func (s *stepper[U]) add(values []U) {
	s.count += len(values)
	last, before := values[0], U(0)
	runs, bends := s.runs+1, s.bends
	low, high, sign := s.low, s.high, s.sign
	for _, v := range values[1:] {
		d := v - last
		step, bend := 0, 0
		if d != 0 {
			step = 1
		}
		if d != before {
			bend = 1
		}
		runs += step
		bends += bend
		low, high = min(low, d^sign), max(high, d^sign)
		last, before = v, d
	}
	s.runs, s.bends, s.low, s.high = runs, bends, low, high
}

// diff is the bits of the spread of the differences.
func (s *stepper[U]) diff() int {
	if s.float || s.low > s.high {
		return bitsOf[U]()
	}
	return bits.Len64(uint64(s.high - s.low))
}

// majority is the value of three quarters of the sample, if there is one (Boyer
// and Moore, "MJRTY: A Fast Majority Vote Algorithm", 1991).
func (in input[U]) majority() (top U, ok bool) {
	votes := 0
	for i := range in.pieces() {
		for _, v := range in.piece(i) {
			switch {
			case votes == 0:
				top, votes = v, 1
			case v == top:
				votes++
			default:
				votes--
			}
		}
	}
	count, total := 0, 0
	for i := range in.pieces() {
		count += countEqual(in.piece(i), top)
		total += len(in.piece(i))
	}
	return top, 4*count >= 3*total
}

func countEqual[U word](values []U, v U) int {
	n := 0
	for _, other := range values {
		same := 0
		if other == v {
			same = 1
		}
		n += same
	}
	return n
}

// estimateDistinct estimates how many of values are distinct, from spots spread
// over them: those that came twice say how many came not at all (Chao,
// "Nonparametric Estimation of the Number of Classes in a Population", 1984). It
// is len(values) if hardly any came twice.
func estimateDistinct[U word](e *enc, values []U) int {
	n := len(values)
	step := (n + spots - 1) / spots
	h := &e.table
	h.begin(spots)
	var seen [spots]uint8 // how often, at most 3
	distinct, once, twice := 0, 0, 0
	for i := 0; i < n; i += step {
		k := h.index(uint64(values[i]), uint32(distinct))
		switch seen[k] {
		case 0:
			distinct++
			once++
		case 1:
			once--
			twice++
		case 2:
			twice--
		}
		seen[k] = min(seen[k]+1, 3)
	}
	if step == 1 {
		return distinct
	}
	if 16*twice < once {
		return n
	}
	return min(n, distinct+once*once/(2*max(twice, 1)))
}
