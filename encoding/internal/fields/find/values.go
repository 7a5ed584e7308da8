package find

import (
	"math"
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/scratch"
)

// result is the values that a test is true for.
type result struct {
	made, some bool
	values     []uint64
}

// Find returns a bit for each value that may match all of wanted, of which there is at least one; false if some fields cannot be read. The
// bits are valid until the next call.
func (f *Finder) Find(v Values, wanted ...Wanted) (found []uint64, ok bool) {
	f.values = v
	for i, w := range wanted {
		if !f.findOne(w) {
			return nil, false
		}
		if all := scratch.Slice(&f.all, len(f.found)); i == 0 {
			copy(all, f.found)
		} else {
			and(all, f.found)
		}
	}
	return f.all, true
}

// and clears the bits of dst that are not in src, and reports whether some are left.
func and(dst, src []uint64) bool {
	any := uint64(0)
	for i, w := range src {
		dst[i] &= w
		any |= dst[i]
	}
	return any != 0
}

// findOne sets the bits of the values that may match.
func (f *Finder) findOne(w Wanted) (ok bool) {
	f.wanted = w
	f.plan()
	clear(scratch.Slice(&f.found, (len(f.values.Codes)+63)/64))
	for i := range scratch.Slice(&f.results, len(f.tests)) {
		f.results[i].made = false
	}
	f.addSure()
	for i := range f.ways {
		if !f.addWay(&f.ways[i]) {
			return false
		}
	}
	return true
}

// addSure adds the values of patterns of which all values may match.
func (f *Finder) addSure() {
	if !slices.Contains(f.sure, true) {
		return
	}
	for i, code := range f.values.Codes {
		if f.sure[code] {
			f.found[i/64] |= 1 << (i % 64)
		}
	}
}

// addWay adds the values for which all tests of a way are true.
func (f *Finder) addWay(w *way) (ok bool) {
	some := scratch.Slice(&f.some, len(f.found))
	for i, t := range w.tests {
		r := &f.results[t]
		if !r.made && !f.makeTest(f.tests[t], r) {
			return false
		}
		switch {
		case !r.some:
			return true
		case i == 0:
			copy(some, r.values)
		case !and(some, r.values):
			return true
		}
	}
	matches := scratch.Slice(&f.times, len(f.sure))
	clear(matches)
	for _, code := range w.patterns {
		matches[code] = 1
	}
	for i, word := range some {
		for rest := word &^ f.found[i]; rest != 0; rest &= rest - 1 {
			k := bits.TrailingZeros64(rest)
			f.found[i] |= uint64(matches[f.values.Codes[64*i+k]]) << k
		}
	}
	return true
}

// makeTest finds the values that a test is true for.
func (f *Finder) makeTest(t test, r *result) (ok bool) {
	found := scratch.Slice(&f.fields, (f.values.Columns.Header(t.column).Count+63)/64)
	clear(found)
	if !f.values.Columns.Test(found, t.column, t.how, f.wanted.Text[t.from:t.to]) {
		return false
	}
	r.made, r.some = true, slices.ContainsFunc(found, func(w uint64) bool { return w != 0 })
	if !r.some {
		return true
	}
	values := scratch.Slice(&r.values, len(f.found))
	clear(values)
	times := f.timesOf(t.column)
	at, next := 0, nextBit(found, 0) // fields before the next value, and the next that is true
	for i, code := range f.values.Codes {
		if at += int(times[code]); at > next {
			values[i/64] |= 1 << (i % 64)
			next = nextBit(found, at)
		}
	}
	return true
}

// timesOf is how many fields of a column the values of each pattern have.
func (f *Finder) timesOf(column uint32) []uint32 {
	times := scratch.Slice(&f.times, len(f.sure))
	for code := range times {
		times[code] = 0
		places, _ := f.values.Patterns.Pattern(code)
		for _, place := range places {
			if place.Column == column {
				times[code]++
			}
		}
	}
	return times
}

// nextBit is the first bit that is set from a place on, or beyond all if there is none.
func nextBit(words []uint64, from int) int {
	for i := from / 64; i < len(words); i++ {
		w := words[i]
		if i == from/64 {
			w &= ^uint64(0) << (from % 64)
		}
		if w != 0 {
			return 64*i + bits.TrailingZeros64(w)
		}
	}
	return math.MaxInt
}
