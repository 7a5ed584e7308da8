package encode

import (
	"cmp"
	"slices"

	"github.com/amudai/amudai-go/encoding/bytestring/vector"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// A sample is runs of consecutive values at equal distances, about sampleShare of the bytes. A block of at most
// sampleLeast bytes is tried as a whole.
const (
	sampleRuns  = 8
	sampleShare = 8
	sampleLeast = 16 << 10
	sampleMost  = 32 << 10

	estimateError = 8 // estimates are too high by one in so many at most, or are taken to be
)

// estimate is a method with the cost that a sample lets expect, 0 if there is none.
type estimate struct {
	method
	cost int64
}

// sample is a sample of a block, and its first half. Odd runs follow the even ones, so that both are from everywhere.
type sample struct {
	half, all Input
}

// takeSample is a sample of in; ok is false if that is too small for one.
func takeSample(w *Workspace, in *Input) (s sample, ok bool) {
	size := len(in.Bytes())
	most := min(max(size/sampleShare, sampleLeast/2), sampleMost)
	if size <= sampleLeast || in.N < 2*sampleRuns {
		return s, false
	}
	b := &w.sample
	b.reset(in.Fixed)
	for i := range sampleRuns {
		if i == sampleRuns/2 {
			s.half = b.input()
		}
		run := 2*i%sampleRuns + 2*i/sampleRuns
		b.add(in, run*(in.N/sampleRuns), in.N/sampleRuns, most/sampleRuns)
	}
	s.all = b.input()
	return s, 2*len(s.all.Bytes()) <= size
}

// sampleBuffer is the memory of a sample.
type sampleBuffer struct {
	data    []byte
	offsets []int64
	bits    []byte
	n       int
	fixed   int
}

func (b *sampleBuffer) reset(fixed int) {
	b.data, b.offsets, b.bits, b.n, b.fixed = b.data[:0], append(b.offsets[:0], 0), b.bits[:0], 0, fixed
}

// add copies values of in from one on, at most n, until they have so many bytes.
func (b *sampleBuffer) add(in *Input, from, n, most int) {
	for end := len(b.data) + most; n > 0 && len(b.data) < end; n-- {
		if b.n%8 == 0 {
			b.bits = append(b.bits, 0)
		}
		if in.Valid.At(from) {
			b.bits[b.n/8] |= 1 << (b.n % 8)
		}
		b.data = append(b.data, in.At(from)...)
		b.offsets = append(b.offsets, int64(len(b.data)))
		b.n++
		from++
	}
}

// input is what was added so far.
func (b *sampleBuffer) input() Input {
	in := Input{Values: vector.Values{Data: b.data, Fixed: b.fixed, N: b.n}, Valid: bitmap.Bits{Data: b.bits, Len: b.n}}
	if b.fixed == 0 {
		in.Offsets = b.offsets
	}
	if in.Nulls = in.Valid.Nulls(); in.Nulls == 0 {
		in.Valid = bitmap.All(b.n)
	}
	return in
}

// rank estimates from a sample what the profile's methods cost for all values of in, and orders them by that. Those of which a
// sample says nothing have no estimate, and come first; of small blocks none has. In edition reference, whose bytes stay
// the same, no sample is taken.
func (e *Encoder) rank(w *Workspace, in *Input) ([]estimate, error) {
	var s sample
	sampled := false
	if e.o.Features != 0 {
		s, sampled = takeSample(w, in)
	}
	ranks := make([]estimate, 0, len(e.policy.methods))
	numbers, texts := Numbers{Options: e.o}, Texts{table: e.table, options: e.o, level: e.texts.level} // forgotten afterwards
	for _, m := range e.policy.methods {
		x := estimate{method: m}
		if !e.allows(m.row) {
			continue
		}
		if sampled && !m.row.Limited {
			if !e.suits(w, in, m) {
				continue
			}
			ok, err := e.estimate(w, &x, in, &s, Request{Learned: e.plan.learned, Numbers: &numbers, Texts: &texts, Level: m.level})
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
		}
		ranks = append(ranks, x)
	}
	slices.SortStableFunc(ranks, func(a, b estimate) int { return cmp.Compare(a.cost, b.cost) })
	return ranks, nil
}

// estimate sets the cost of x. What the second half of the sample adds to the first is what all further bytes are expected
// to add: tables are not, and copies of earlier bytes become more. ok is false if the values do not suit.
func (e *Encoder) estimate(w *Workspace, x *estimate, in *Input, s *sample, r Request) (ok bool, err error) {
	var size [2]int
	for i, part := range [...]*Input{&s.half, &s.all} {
		w.trial, ok, err = x.row.Append(w, w.trial[:0], part, r)
		if !ok || err != nil {
			return false, err
		}
		size[i] = len(w.trial)
	}
	half, all := len(s.half.Bytes()), len(s.all.Bytes())
	more := int64(size[1]-size[0]) * int64(len(in.Bytes())-all) / int64(all-half)
	total := size[1] + int(more)
	if total >= in.plainLen() {
		return false, nil
	}
	x.cost = e.methodCost(x.method, total, in)
	return true, nil
}
