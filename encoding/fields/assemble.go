package fields

import (
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// Place is a field in a pattern: its column, and the constant bytes before it.
type Place struct{ Column, Before uint32 }

// pattern is where the places and the constant bytes of a pattern begin, and how many bytes follow the last place.
type pattern struct{ place, text, after, size uint32 }

// Decoder assembles values from patterns and from the texts of their fields. It is prepared by Reset, and used again.
type Decoder struct {
	places   []Place
	patterns []pattern // and one more, that is where the last one ends
	text     []byte    // constant bytes of all patterns, and Slack bytes
	counts   []uint32  // by pattern, while values are counted
	cursors  []cursor  // by column
}

// cursor is the next field of a column.
type cursor struct {
	text   unsafe.Pointer
	length *uint32
	step   uintptr // from one length to the next: 0 if all are the same
	_      uintptr
}

// Fields are the texts of the next fields of a column: back to back, and Slack bytes.
type Fields struct {
	Text    []byte
	Lengths []uint32 // of each, or of all if there is one
}

// Reset makes patterns: of places, whose columns are below columns, of each as many as counts says, and of constant
// bytes, which lie back to back in text and have these sizes. It keeps text, and reads up to Slack bytes behind it.
func (d *Decoder) Reset(text []byte, sizes, counts []uint32, places []Place, columns int) error {
	d.text, d.places = text, places
	scratch.Slice(&d.patterns, len(counts)+1)
	scratch.Slice(&d.cursors, columns)
	clear(d.cursors)
	place, at := 0, 0
	for i, n := range counts {
		p := &d.patterns[i]
		if uint64(n) > uint64(len(places)-place) {
			return fault.Corruptf("pattern %d with %d fields of %d", i, n, len(places)-place)
		}
		if uint64(sizes[i]) > uint64(len(text)-at) {
			return fault.Corruptf("pattern %d of %d bytes in %d", i, sizes[i], len(text)-at)
		}
		*p = pattern{place: uint32(place), text: uint32(at), size: sizes[i]}
		before := uint64(0)
		for _, f := range places[place : place+int(n)] {
			if uint64(f.Column) >= uint64(columns) {
				return fault.Corruptf("column %d of %d", f.Column, columns)
			}
			before += uint64(f.Before)
		}
		if before > uint64(sizes[i]) {
			return fault.Corruptf("pattern %d with a field behind %d of %d bytes", i, before, sizes[i])
		}
		p.after = sizes[i] - uint32(before)
		place, at = place+int(n), at+int(sizes[i])
	}
	if place != len(places) || at != len(text) {
		return fault.Corruptf("patterns with %d of %d fields, %d of %d bytes", place, len(places), at, len(text))
	}
	d.patterns[len(counts)] = pattern{place: uint32(place), text: uint32(at)}
	return nil
}

// Len is the number of patterns.
func (d *Decoder) Len() int { return len(d.patterns) - 1 }

// Count adds to counts the fields of each column in the values of codes, and returns the constant bytes in them. A code
// that is no pattern is an error.
func (d *Decoder) Count(counts []uint64, codes []uint32) (constant uint64, err error) {
	all := scratch.Slice(&d.counts, 4*d.Len())
	each := all[:d.Len()]
	if len(codes) >= len(all) {
		clear(all)
		if codes, err = countFour(all, codes); err != nil {
			return 0, err
		}
	} else {
		clear(each)
	}
	for _, c := range codes {
		if uint(c) >= uint(len(each)) {
			return 0, fault.Corruptf("code %d of %d", c, len(each))
		}
		each[c]++
	}
	for i, n := range each {
		if n == 0 {
			continue
		}
		constant += uint64(n) * uint64(d.patterns[i].size)
		for _, f := range d.places[d.patterns[i].place:d.patterns[i+1].place] {
			counts[f.Column] += uint64(n)
		}
	}
	return constant, nil
}

// countFour counts codes in four lists in turn, because a count that follows the same one waits for it, and adds them up in the first.
// It leaves fewer than four codes.
func countFour(all, codes []uint32) (rest []uint32, err error) {
	n := len(all) / 4
	a, b, c, d := all[:n], all[n:][:n], all[2*n:][:n], all[3*n:][:n]
	for ; len(codes) >= 4; codes = codes[4:] {
		w, x, y, z := uint(codes[0]), uint(codes[1]), uint(codes[2]), uint(codes[3])
		if most := max(w, x, y, z); most >= uint(n) {
			return nil, fault.Corruptf("code %d of %d", most, n)
		}
		a[w]++
		b[x]++
		c[y]++
		d[z]++
	}
	for i := range a {
		a[i] += b[i] + c[i] + d[i]
	}
	return codes, nil
}

// Set gives a column the fields of the values that are assembled next, at least as many as [Decoder.Count] says.
func (d *Decoder) Set(column int, f Fields) {
	c := cursor{text: unsafe.Pointer(unsafe.SliceData(f.Text)), length: unsafe.SliceData(f.Lengths)}
	if len(f.Lengths) > 1 {
		c.step = 4
	}
	d.cursors[column] = c
}

// wide is how many bytes are copied at a time.
const wide = 16

// Assemble writes the values of codes, which have been counted, back to back to dst, and up to Slack bytes behind, and
// where each ends to ends, the first value from base on.
func Assemble[O int32 | int64](d *Decoder, dst []byte, codes []uint32, ends []O, base O) {
	start := unsafe.Pointer(unsafe.SliceData(dst))
	out := start
	text := unsafe.Pointer(unsafe.SliceData(d.text))
	places, patterns, cursors := unsafe.Pointer(unsafe.SliceData(d.places)), d.patterns, unsafe.Pointer(unsafe.SliceData(d.cursors))
	ends = ends[:len(codes)]
	for i, c := range codes {
		p := &patterns[c]
		from := unsafe.Add(text, p.text)
		f, last := unsafe.Add(places, 8*uintptr(p.place)), unsafe.Add(places, 8*uintptr(patterns[c+1].place))
		for ; f != last; f = unsafe.Add(f, 8) {
			n := uintptr((*Place)(f).Before)
			copyWide(out, from)
			copyWide(unsafe.Add(out, wide), unsafe.Add(from, wide))
			if n > 2*wide {
				copyMore(out, from, n)
			}
			out, from = unsafe.Add(out, n), unsafe.Add(from, n)
			k := (*cursor)(unsafe.Add(cursors, unsafe.Sizeof(cursor{})*uintptr((*Place)(f).Column)))
			n = uintptr(*k.length)
			copyWide(out, k.text)
			if n > wide {
				copyMore(out, k.text, n)
			}
			out = unsafe.Add(out, n)
			k.text = unsafe.Add(k.text, n)
			k.length = (*uint32)(unsafe.Add(unsafe.Pointer(k.length), k.step))
		}
		n := uintptr(p.after)
		copyWide(out, from)
		copyWide(unsafe.Add(out, wide), unsafe.Add(from, wide))
		if n > 2*wide {
			copyMore(out, from, n)
		}
		out = unsafe.Add(out, n)
		ends[i] = base + O(uintptr(out)-uintptr(start))
	}
}

// copyMore copies what is behind the first wide bytes.
func copyMore(to, from unsafe.Pointer, n uintptr) {
	for i := uintptr(wide); i < n; i += 2 * wide {
		copyWide(unsafe.Add(to, i), unsafe.Add(from, i))
		copyWide(unsafe.Add(to, i+wide), unsafe.Add(from, i+wide))
	}
}

// copyWide copies as much as always may be.
func copyWide(to, from unsafe.Pointer) { *(*[wide]byte)(to) = *(*[wide]byte)(from) }
