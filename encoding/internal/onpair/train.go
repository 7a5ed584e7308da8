package onpair

import (
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/scratch"
)

// size is how many tokens are learnt at most, and from how many bytes.
type size struct{ tokens, sample int }

// large is the size of dictionaries for at least largeFrom bytes of strings, if tokens would be shorter than shortToken
// on average: then more of them pay for the time that they take.
var large = size{1 << 14, 1 << 20}

const (
	largeFrom  = 4 << 20
	shortToken = 5
)

// sizeFor is the size of a dictionary for strings of so many bytes.
func sizeFor(bytes int) size {
	switch {
	case bytes < 128<<10:
		return size{1 << 10, 32 << 10}
	case bytes < 512<<10:
		return size{1 << 11, 128 << 10}
	case bytes < largeFrom:
		return size{1 << 12, 256 << 10}
	}
	return size{1 << 12, 512 << 10}
}

// Train makes a dictionary for strings like those between offsets in data, if brief in a small share of the time that writing them takes. The same strings
// always give the same dictionary.
func (e *Encoder) Train(data []byte, offsets []int64, brief bool) *Dictionary {
	bytes := int(offsets[len(offsets)-1] - offsets[0])
	s := sizeFor(bytes)
	if brief {
		s = size{1 << 12, min(bytes/briefShare, 512<<10)}
	}
	d := e.learnAll(data, offsets, s)
	e.test(d, data, offsets)
	if !brief && bytes >= largeFrom && d.bytes < shortToken*d.codes {
		more := e.learnAll(data, offsets, large)
		if e.test(more, data, offsets); more.sizeOf(bytes) < d.sizeOf(bytes) {
			return more
		}
	}
	return d
}

// Guess is about how many bytes the codes of strings take: as many as one dictionary, which is learnt from few of them, makes of few others.
func (e *Encoder) Guess(data []byte, offsets []int64) int {
	e.takeSample(data, offsets, guessed.sample)
	n := len(e.ends) - 1
	rest := n - n/4
	e.learnSample(rest, guessed)
	codes := e.segment(e.codes[:0], scratch.Slice(&e.counts, n-rest), e.sample, e.ends[rest:])
	e.codes = codes
	bytes := len(e.sample) - int(e.ends[rest])
	return int(int64(len(codes)) * int64(bits.Len(uint(len(e.matcher.tokens)-1))) * (offsets[len(offsets)-1] - offsets[0]) / int64(8*max(bytes, 1)))
}

// guessed is the size of that dictionary.
var guessed = size{1 << 11, 64 << 10}

const briefShare = 8 // of the bytes that are learnt from

// sizeOf is about how many bits strings of so many bytes take, and the dictionary.
func (d *Dictionary) sizeOf(n int) int {
	dictionary := 0
	for _, t := range d.tokens {
		dictionary += 6 + 4*int(t.length) // about half of a token is shared
	}
	return n/1024*d.codes/max(d.bytes/1024, 1)*bits.Len(uint(d.Len()-1)) + dictionary
}

// Pays reports whether there is more to the strings that a dictionary was learnt from than the characters that they have:
// random ones take as many bits as these.
func (d *Dictionary) Pays() bool {
	power, shift := uint64(1), 0 // characters^8 is power << shift
	for range 8 {
		if power *= uint64(max(d.characters(), 1)); power >= 1<<48 {
			power, shift = power>>16, shift+16
		}
	}
	packed := (bits.Len64(power) - 1 + shift) * d.bytes / 8
	return d.codes*bits.Len(uint(d.Len()-1)) < packed-packed/16
}

// characters is the number of tokens of one byte.
func (d *Dictionary) characters() (n int) {
	for _, t := range d.tokens {
		if t.length == 1 {
			n++
		}
	}
	return n
}

// test notes how many codes strings of a sample take.
func (e *Encoder) test(d *Dictionary, data []byte, offsets []int64) {
	e.takeSample(data, offsets, testLen)
	d.bytes = len(e.sample)
	codes, _ := e.Encode(e.codes[:0], scratch.Slice(&e.counts, len(e.ends)-1), d, e.sample, e.ends)
	e.codes, d.codes = codes, max(len(codes), 1)
}

const testLen = 64 << 10

// learnAll makes a dictionary.
//
// A pair of tokens that follow each other often enough becomes a token at once. What is often enough is adapted,
// so that the last token is made near the end of the sample.
func (e *Encoder) learnAll(data []byte, offsets []int64, s size) *Dictionary {
	e.takeSample(data, offsets, s.sample)
	e.learnSample(len(e.ends)-1, s)
	return newDictionary(slices.Clone(e.matcher.tokens))
}

// learnSample makes tokens of the first n strings of the sample.
func (e *Encoder) learnSample(n int, s size) {
	m := &e.matcher
	m.reset()
	e.of = nil
	e.pairs.reset(len(e.sample))
	for b, seen := range bytesOf(e.sample) {
		if seen {
			m.add(token{lo: uint64(b), length: 1})
		}
	}
	need := threshold{value: 2, tokens: s.tokens, bytes: int(e.ends[n]), every: max((s.tokens-256)/128, 64)}
	need.made, need.next = len(m.tokens), len(m.tokens)+need.every
	for i := range n {
		if !e.learn(int(e.ends[i]), int(e.ends[i+1]), &need) {
			break
		}
	}
}

// learn makes tokens of the pairs in a string of the sample; false if there are enough.
func (e *Encoder) learn(at, end int, need *threshold) bool {
	m := &e.matcher
	last, lastLen := 0, MaxTokenLen
	for at < end {
		f := m.longest(e.sample, at, end)
		code, n := int(f.code()), f.length()
		at += n
		if lastLen+n <= MaxTokenLen {
			if count := e.pairs.add(uint32(last)<<16 | uint32(code)); *count >= need.value {
				if both, ok := m.add(join(m.tokens[last], m.tokens[code])); ok {
					if len(m.tokens) == need.tokens {
						return false
					}
					need.adapt(len(m.tokens), at)
					code, n = both, lastLen+n
				}
				*count = never
			}
		}
		last, lastLen = code, n
	}
	return true
}

// threshold is how often a pair must have been seen.
type threshold struct {
	value         int32
	tokens, bytes int // that there shall be at the end
	every, next   int // number of tokens after which it is adapted
	made, at      int // when it was
}

// adapt raises the threshold if tokens come more than twice as fast as they should, and lowers it if less than half.
func (h *threshold) adapt(made, at int) {
	if made < h.next {
		return
	}
	rate, want := (made-h.made)*max(h.bytes-at, 1), (h.tokens-made)*max(at-h.at, 1)
	if rate > 2*want {
		h.value++
	} else if 2*rate < want && h.value > 2 {
		h.value--
	}
	h.made, h.at, h.next = made, at, made+h.every
}

func bytesOf(data []byte) (seen [256]bool) {
	for _, b := range data {
		seen[b] = true
	}
	return seen
}

// sampleRun is about how many bytes of consecutive strings a sample takes.
const sampleRun = 1 << 10

// takeSample takes runs of strings at equal distances. The order mixes them, so that what is learnt first is not from one place.
func (e *Encoder) takeSample(data []byte, offsets []int64, size int) {
	n := len(offsets) - 1
	e.sample, e.ends = e.sample[:0], append(e.ends[:0], 0)
	runs := max(size/sampleRun, 1)
	step := runs*5/8 | 1
	for gcd(step, runs) > 1 {
		step += 2
	}
	whole := int(offsets[n]-offsets[0]) <= size
	for i := range runs {
		from, to := i*step%runs*n/runs, (i*step%runs+1)*n/runs
		for end := len(e.sample) + sampleRun; from < to && (whole || len(e.sample) < end); from++ {
			e.sample = append(e.sample, data[offsets[from]:offsets[from+1]]...)
			e.ends = append(e.ends, int64(len(e.sample)))
		}
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
