package encode

import (
	"math/bits"

	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Stats is what the choice of an encoding for a sequence rests on, beside what encodings look for themselves.
type Stats struct {
	T        word.Type
	N, Nulls int
	Width    int    // bits of the spread between least and largest value; of the type if a float
	Low      uint64 // least value; if a float, the first
	MaxWidth int    // bits of the values as they are, if unsigned
	Single   bool   // all are equal
	Runs     int    // number of runs: exact, or an estimate if the values hardly repeat
	Diff     int    // bits of the spread of differences; the width if that is no use
	Bends    int    // how often the difference changes; 0 if unknown
	Rough    bool   // differences have as many bits as values, in a sample
	Usual    int    // bits of the spread of differences but for jumps; 0 if unknown
	Jumps    int    // how many differences are others than the usual ones
	Top      uint64 // the value of most slots, if there is one
	Others   int    // slots with another value than Top; N if there is no such value
	Signed   int    // least of 8, 16, 32, 64 bits that hold the values as signed
	Spread   uint64 // largest value less least
}

// analyze gathers statistics: those that cost a look at all values only where a sample shows that they may matter.
func analyze[U word.Uint](e *Workspace, in Input[U]) *Stats {
	n := len(in.Values)
	s := &e.levels[in.level].stats
	*s = Stats{T: in.T, N: n, Nulls: in.Nulls}
	s.Width = word.BitsOf[U]()
	s.Low, s.Signed = uint64(in.Values[0]), s.Width
	flip := in.Flip()
	if !in.T.Float() {
		low, high := word.Span(in.Values, flip)
		s.Spread = uint64(high - low)
		s.Width = bits.Len64(s.Spread)
		low, high = low^flip, high^flip
		s.Low = uint64(low)
		s.Rough = e.Weights.Features != 0 && e.Weights.Tier >= TierHeavy && in.rough(low)
		if in.T.Unsigned() && (flip == 0 || word.SignedOf(low) >= 0) {
			s.MaxWidth = bits.Len64(uint64(high))
		}
		if in.T.Signed() {
			for s.Signed = 8; !FitsSigned(low, high, s.Signed); s.Signed *= 2 {
			}
		}
	}
	s.Diff, s.Runs, s.Others = s.Width, n, n
	step := in.sampleSteps()
	center, width := U(0), s.Width
	if e.Weights.Features.Has(edition.PatchedPack) && !in.T.Float() { // which the jumps are left to
		center, width = in.usualStep(s.Width)
	}
	steps := min(step.diff(), width) < s.Width || step.runs*3 <= 2*step.count || step.bends*3 <= step.count
	if steps || e.Weights.MayRepeat(step.runs, step.count) {
		step.begin(in.T)
		step.add(in.Values)
		s.Runs = step.runs
	}
	if steps {
		s.Diff, s.Bends = step.diff(), step.bends
		if width+1 < min(s.Diff, s.Width) {
			s.Usual, s.Jumps = max(width, 1), jumps(in.Values, center, width)
		}
	}
	s.Single = s.Width == 0 || s.Runs == 1
	if s.Single {
		return s
	}
	if top, ok := in.majority(); ok {
		s.Top, s.Others = uint64(top), n-countEqual(in.Values, top)
	}
	return s
}

// rough reports whether the differences of neighbours have as many bits as the values above the lowest one, in a sample.
func (in Input[U]) rough(low U) bool {
	values, steps := 0, 0
	for i := range in.Windows() {
		w := in.Window(i)
		last := w[0]
		for _, v := range w[1:] {
			values += bits.Len64(uint64(v - low))
			step := word.SignedOf(v - last)
			steps += bits.Len64(uint64(step<<1 ^ step>>63))
			last = v
		}
	}
	return steps >= values
}

// FitsSigned tells whether values between signed bounds fit into width bits.
func FitsSigned[U word.Uint](low, high U, width int) bool {
	least := int64(-1) << (width - 1)
	return word.SignedOf(low) >= least && word.SignedOf(high) <= ^least
}

// stepper counts runs and finds the least and largest difference of neighbours, as signed numbers.
type stepper[U word.Uint] struct {
	sign      U
	float     bool
	count     int
	runs      int
	bends     int
	low, high U
}

func (s *stepper[U]) begin(t word.Type) {
	*s = stepper[U]{sign: 1 << (word.BitsOf[U]() - 1), float: t.Float()}
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

// sampleSteps looks at the steps of a sample.
func (in Input[U]) sampleSteps() (all stepper[U]) {
	all.begin(in.T)
	for i := range in.Windows() {
		all.add(in.Window(i))
	}
	return all
}

// usualStep is the range of the steps in a sample but for jumps: less than width bits around a center, which is the step
// that majority votes leave. The width is that for which steps and jumps take least, and an eighth less than values of most bits; most if there is none.
func (in Input[U]) usualStep(most int) (center U, width int) {
	votes, count := 0, 0
	for i := range in.Windows() {
		w := in.Window(i)
		last := w[0]
		for _, v := range w[1:] {
			switch d := v - last; {
			case votes == 0:
				center, votes = d, 1
			case d == center:
				votes++
			default:
				votes--
			}
			last = v
		}
	}
	var widths [65]int
	for i := range in.Windows() {
		w := in.Window(i)
		last := w[0]
		for _, v := range w[1:] {
			step := word.SignedOf(v - last - center)
			widths[bits.Len64(uint64(step<<1^step>>63))]++
			last = v
		}
		count += len(w) - 1
	}
	jump, inside := min(word.BitsOf[U]()/2, most)+8, 0
	width = most
	least := count * width * 7 / 8
	for i, n := range widths[:width] {
		inside += n
		if size := count*i + (count-inside)*jump; size < least {
			width, least = i, size
		}
	}
	return center, width
}

// jumps counts the steps that do not fit into width bits around a center.
func jumps[U word.Uint](values []U, center U, width int) (n int) {
	half, mask := U(1)<<width>>1, U(1)<<width-1
	last := values[0]
	for _, v := range values[1:] {
		out := 0
		if v-last-center+half > mask {
			out = 1
		}
		n += out
		last = v
	}
	return n
}

// diff is the bits of the spread of the differences.
func (s *stepper[U]) diff() int {
	if s.float || s.low > s.high {
		return word.BitsOf[U]()
	}
	return bits.Len64(uint64(s.high - s.low))
}

// majority is the value of three quarters of the sample, if there is one (Boyer and Moore, "MJRTY: A Fast Majority Vote
// Algorithm", 1991).
func (in Input[U]) majority() (top U, ok bool) {
	votes := 0
	for i := range in.Windows() {
		for _, v := range in.Window(i) {
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
	for i := range in.Windows() {
		count += countEqual(in.Window(i), top)
		total += len(in.Window(i))
	}
	return top, 4*count >= 3*total
}

func countEqual[U word.Uint](values []U, v U) int {
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
