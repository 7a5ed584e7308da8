package onpair

import (
	"slices"

	"github.com/amudai/amudai-go/internal/base/scratch"
)

// Encoder turns strings into codes. The zero value is ready, and must not be used concurrently. It takes 1.4 MB.
type Encoder struct {
	matcher matcher
	of      *Dictionary // whose tokens the matcher has
	room    []uint16

	// Of training.
	pairs  pairs
	sample []byte
	ends   []int64 // of the strings in sample
	codes  []uint16
	counts []uint32
}

// lanes is how many strings are encoded in turn. The next token begins where the last one ended, so that a machine mostly
// waits for one find to go on to the next.
const lanes = 2

// segmentLen is about how many bytes of strings are divided into lanes at a time.
const segmentLen = 64 << 10

// lane is a run of strings.
type lane struct {
	at, end    int // of what is left of the current string
	value      int // number of that string
	last       int // of the run
	codes, out int // where the codes of the string begin, and end so far
}

// Encode appends the codes of the strings that lie between offsets in data, and sets counts to how many each has. The codes are those
// of d or, if a byte has no token there, of the dictionary with more tokens that is returned; nil if there were too many.
func (e *Encoder) Encode(dst []uint16, counts []uint32, d *Dictionary, data []byte, offsets []int64) (codes []uint16, all *Dictionary) {
	e.use(d)
	for n := len(offsets) - 1; n > 0; n = len(offsets) - 1 {
		k := 1 // strings of the segment
		for k < n && offsets[k+1]-offsets[0] <= segmentLen {
			k++
		}
		dst = e.segment(dst, counts[:k], data, offsets[:k+1])
		counts, offsets = counts[k:], offsets[k:]
	}
	if tokens := e.matcher.tokens; len(tokens) > d.Len() {
		d, e.of = &Dictionary{tokens: slices.Clone(tokens)}, nil
		if d.Len() > MaxTokens {
			return dst, nil
		}
	}
	return dst, d
}

func (e *Encoder) use(d *Dictionary) {
	if e.of == d {
		return
	}
	e.matcher.reset()
	for _, t := range d.tokens {
		if _, ok := e.matcher.add(t); !ok {
			e.matcher.tokens = append(e.matcher.tokens, t) // is never found
		}
	}
	e.of = d
}

// segment encodes strings in lanes.
func (e *Encoder) segment(dst []uint16, counts []uint32, data []byte, offsets []int64) []uint16 {
	n, base := len(counts), offsets[0]
	room := scratch.Slice(&e.room, int(offsets[n]-base)) // a byte takes a code at most
	var all [lanes]lane
	for k := range all {
		l := &all[k]
		l.value, l.last = k*n/lanes, (k+1)*n/lanes
		l.at = int(offsets[l.value])
		l.end, l.codes, l.out = l.at, l.at-int(base), l.at-int(base)
		if l.value < l.last {
			l.end = int(offsets[l.value+1])
		}
	}
	e.run(all[:], room, counts, data, offsets)
	for k := range all {
		e.run(all[k:k+1], room, counts, data, offsets)
	}
	for k := range all {
		dst = append(dst, room[offsets[k*n/lanes]-base:all[k].out]...)
	}
	return dst
}

// run encodes lanes in turn until one is at its end.
func (e *Encoder) run(all []lane, room []uint16, counts []uint32, data []byte, offsets []int64) {
	var best [lanes]match
	var words [lanes]uint64
	var slots [lanes]uint64
	m := &e.matcher
	for {
		for k := range all {
			l := &all[k]
			for l.at == l.end {
				if !l.next(counts, offsets) {
					return
				}
			}
			w := load(data, l.at)
			best[k], slots[k] = m.find(w)
			words[k] = w
		}
		for k := range all {
			l := &all[k]
			x := best[k]
			if m.eight[slots[k]].bytes == words[k] {
				x = m.findLong(x, slots[k], load(data, l.at+8))
			}
			if x.exceeds(l.end - l.at) {
				if x = m.findLast(words[k], load(data, l.at+8), l.end-l.at); x == 0 {
					x = m.addByte(data[l.at])
				}
			}
			room[l.out] = x.code()
			l.out++
			l.at += x.length()
		}
	}
}

// next goes on to the next string of a lane; false if there is none.
func (l *lane) next(counts []uint32, offsets []int64) bool {
	if l.value == l.last {
		return false
	}
	counts[l.value] = uint32(l.out - l.codes)
	l.codes = l.out
	l.value++
	if l.value == l.last {
		return false
	}
	l.end = int(offsets[l.value+1])
	return true
}
