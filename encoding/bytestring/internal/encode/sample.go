package encode

import (
	"cmp"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// A sample is runs of consecutive values at equal distances, about one of sampleShare bytes that the values take as Plain. A
// block of at most sampleLeast bytes is tried as a whole.
const (
	sampleRuns  = 8
	sampleShare = 8
	sampleLeast = 16 << 10
	sampleMost  = 32 << 10
	largeSample = 256 << 10 // in MinimalSize, whose blocks are so long that more of them repeats

	estimateError = 8  // estimates are too high by one in so many at most, or are taken to be
	dearError     = 16 // the same, in thorough profiles where trials cost much
)

// estimate is a method with the cost and the size that a sample lets expect, 0 if there are none.
type estimate struct {
	method
	cost int64
	size int // bytes of the tree
}

// sample is a sample of a block, and its first half. Odd runs follow the even ones, so that both are from everywhere.
type sample struct {
	half, all Input
}

// takeSample is a sample of in that takes at most so many bytes as Plain, nil if that is too small for one.
func takeSample(b *sampleBuffer, in *Input, most int) *sample {
	size := in.plainLen()
	if size <= sampleLeast || in.N < 2*sampleRuns {
		return nil
	}
	most = min(max(size/sampleShare, sampleLeast/2), most)
	var s sample
	b.reset(in.Fixed)
	for i := range sampleRuns {
		if i == sampleRuns/2 {
			s.half = b.input()
		}
		run := 2*i%sampleRuns + 2*i/sampleRuns
		b.add(in, run*(in.N/sampleRuns), in.N/sampleRuns, most/sampleRuns)
	}
	if s.all = b.input(); 2*s.all.plainLen() > size {
		return nil
	}
	s.half.Shared, s.all.Shared = in.Shared, in.Shared
	return &s
}

// sampleMost is the most bytes of a sample.
func (e *Encoder) sampleMost() int {
	if e.o.Profile == encoding.MinimalSize && e.texts.level == 0 {
		return largeSample
	}
	return sampleMost
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

// add copies values of in from one on, at most n, until they take so many bytes as Plain.
func (b *sampleBuffer) add(in *Input, from, n, most int) {
	for ; n > 0 && most > 0; n-- {
		if b.n%8 == 0 {
			b.bits = append(b.bits, 0)
		}
		if in.Valid.At(from) {
			b.bits[b.n/8] |= 1 << (b.n % 8)
		}
		b.data = append(b.data, in.At(from)...)
		b.offsets = append(b.offsets, int64(len(b.data)))
		if most -= len(in.At(from)); b.fixed == 0 {
			most -= 8
		}
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

// ranking is the methods of a profile in the order of their estimated costs, and what was learned for them.
type ranking struct {
	methods []estimate // nil if there is no ranking
	plain   int64      // bytes of the values as Plain
	learned Learned
}

// of makes the costs those of values that are as long as in.
func (r *ranking) of(in *Input) {
	for i := range r.methods {
		x := &r.methods[i]
		scale := float64(in.plainLen()) / float64(r.plain)
		x.cost, x.size = int64(float64(x.cost)*scale), int(float64(x.size)*scale)
	}
}

// rank estimates what the profile's methods cost for all values of in, and orders them by that. Those without an estimate
// come first: all of small blocks, and those that depend on how many values are distinct, of which a sample says nothing.
// In edition reference, whose bytes stay the same, nothing is estimated.
//
// If in is longer than a block of the profile, the methods that would not make it one block are estimated from what would
// be the first.
func (e *Encoder) rank(w *Workspace, in *Input) ranking {
	r := ranking{methods: make([]estimate, 0, len(e.policy.methods)), plain: int64(in.plainLen())}
	samples := e.samplesOf(w, in)
	numbers, texts := Numbers{Options: forTrial(e.o), brief: e.brief}, Texts{table: e.table, options: e.o, level: e.texts.level, trial: true} // forgotten afterwards
	for _, m := range e.policy.methods {
		x := estimate{method: m}
		if !e.allows(m) || e.skips(m.row, in) || e.brief && !m.row.Quick && !r.leaves(m.row.Instead) {
			continue
		}
		if block, s := samples.of(m.row, e); s != nil {
			if e.tooSlow(&r, m, in) || e.hopeless(w, &r, m, block, in) || !m.suits(w, block, &r.learned) {
				continue
			}
			q := Request{Learned: r.learned, Numbers: &numbers, Texts: &texts, Level: m.level, Frame: e.frame()}
			if s.all.N == block.N { // all values are tried as they will be written
				q.Kept = &e.kept
			}
			size := int(int64(m.extrapolate(w, block, s, q)) * int64(in.plainLen()) / int64(block.plainLen()))
			if m.row.Improves {
				size -= size / 6
			}
			if size == 0 || size >= in.plainLen() {
				continue
			}
			x.cost, x.size = e.methodCost(m, size, in), size
		}
		r.methods = append(r.methods, x)
	}
	slices.SortStableFunc(r.methods, func(a, b estimate) int { return cmp.Compare(a.cost, b.cost) })
	for i, x := range r.methods {
		if first := r.methods[0]; first.cost > 0 && e.muchSmaller(x.size, first.size, in) {
			copy(r.methods[1:i+1], r.methods[:i])
			r.methods[0] = x
		}
	}
	return r
}

// samples are what encodings are estimated by.
type samples struct {
	all, first  *Input  // all values, and those of the first block
	long, short *sample // of all, and of the first block; nil if there are too few
}

// samplesOf takes samples, but in edition reference.
func (e *Encoder) samplesOf(w *Workspace, in *Input) samples {
	first := in.first(min(max(e.fit(in.Values, e.blockBytes()), 1), in.N))
	s := samples{all: in, first: &first}
	if e.o.Features != 0 && !e.documents() { // few compressors are left, and parts of documents tell little
		s.short = takeSample(&w.samples[0], &first, e.sampleMost())
		if s.long = s.short; first.N < in.N {
			s.long = takeSample(&w.samples[1], in, e.sampleMost())
		}
	}
	return s
}

// of is the values of the block that an encoding would make, and a sample of them, nil if it has no estimate.
func (s *samples) of(r *Row, e *Encoder) (block *Input, some *sample) {
	block, some = s.first, s.short
	if r.Long {
		block, some = s.all, s.long
	}
	if r.Limited && some != nil {
		if some = nil; s.first.N < s.all.N {
			some = &sample{all: *s.first}
		}
	}
	if r.Whole && some != nil {
		some, block = &sample{all: s.all.first(e.start(s.all.Values))}, s.all
		if some.all.N < block.N { // else there is nothing to extrapolate
			some.half = some.all.first(some.all.N / 2)
		}
	}
	return block, some
}

// hopeless reports whether a method is guessed to cost a third more than the best so far.
func (e *Encoder) hopeless(w *Workspace, r *ranking, m method, block, in *Input) bool {
	if m.row.Guess == nil || len(r.methods) == 0 {
		return false
	}
	size := int(int64(m.row.Guess(w, block)) * int64(in.plainLen()) / int64(block.plainLen()))
	cost := e.methodCost(m, size, in)
	return size > 0 && slices.ContainsFunc(r.methods, func(x estimate) bool {
		return x.cost > 0 && 4*x.cost < 3*cost && !e.muchSmaller(size, x.size, in)
	})
}

// tooSlow reports whether decoding by a method takes so long that no size makes up for it: another one takes so little that none is much smaller.
func (e *Encoder) tooSlow(r *ranking, m method, in *Input) bool {
	return e.o.Profile == encoding.Balanced && slices.ContainsFunc(r.methods, func(x estimate) bool {
		return x.cost > 0 && 4*x.size <= in.N && x.cost <= e.methodCost(m, 0, in)
	})
}

// leaves reports whether an encoding is the best so far, and leaves more than three tenths of the values.
func (r *ranking) leaves(c encoding.Code) bool {
	if len(r.methods) == 0 {
		return false
	}
	best := slices.MinFunc(r.methods, func(a, b estimate) int { return cmp.Compare(a.cost, b.cost) })
	return best.row.Code == c && 10*int64(best.size) > 3*r.plain
}

// forTrial is options for the numbers in trees of a sample. Stronger profiles make all of them smaller, but take most of the
// time of a trial.
func forTrial(o encoding.Options) encoding.Options {
	if o.Profile == encoding.HighCompression || o.Profile == encoding.MinimalSize {
		o.Profile = encoding.Balanced
	}
	return o
}

const (
	smallPart    = 4 << 10   // bytes of a part of another tree that are worth looking for more than common values and bytes
	thoroughPart = 256 << 10 // the same in the profiles that have time for it, and bytes of any values from which on tokens pay for learning them
)

// skips reports whether a trial is not worth its time for so few values, or since they are only a part of another tree.
func (e *Encoder) skips(r *Row, in *Input) bool {
	size, part := len(in.Bytes()), e.texts.level > 0
	if e.policy.byteCost >= policies[encoding.HighCompression].byteCost {
		return size < thoroughPart && (r.Trained || r.Whole && part)
	}
	return part && (r.Costly || size < smallPart && (r.Trained || r.Whole))
}

// extrapolate estimates the size of a block from a sample, 0 if the values do not suit. What the second half of the sample
// adds to the first is what all further bytes are expected to add: tables are not, and copies of earlier bytes become more.
func (m method) extrapolate(w *Workspace, block *Input, s *sample, r Request) int {
	var size [2]int
	for i, part := range [...]*Input{&s.half, &s.all} {
		if part.N == 0 {
			continue
		}
		var ok bool
		if w.trial, ok = m.row.Append(w, w.trial[:0], part, r); !ok {
			return 0
		}
		size[i] = len(w.trial)
	}
	half, all := 0, s.all.plainLen()
	if s.half.N > 0 {
		half = s.half.plainLen()
	}
	return size[1] + int(int64(size[1]-size[0])*int64(block.plainLen()-all)/int64(all-half))
}
