package fields

import (
	"math"
	"slices"
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// Place is a field in a pattern: its column, and the constant bytes before it.
type Place struct{ Column, Before uint32 }

// pattern is where the places and the constant bytes of a pattern begin, and how many bytes follow the last place.
type pattern struct{ place, text, after, size uint32 }

// step is a part of a pattern: at most wide constant bytes, and the field behind them. Assemble reads it as one word.
type step struct {
	text   uint32 // where the constant bytes are
	column uint16 // of the field; without a field the one behind the last, which has a single empty text
	before uint8  // constant bytes, and endsValue
	next   uint8  // by how much the cursor of the column moves on, in bytes: spanLen, or 0 without a field
}

const endsValue = 1 << 7 // a bit of step.before, set in the last step of a value

// Span is where the text of a field is in the memory of a Decoder. Assemble reads it as one word.
type Span struct{ At, Len uint32 }

const spanLen = 8 // bytes of a Span

// Decoder assembles values from patterns and from the texts of their fields. It is prepared by Reset, and used again.
type Decoder struct {
	places   []Place
	patterns []pattern // and one more, that is where the last one ends
	text     []byte    // constant bytes of all patterns, and Slack bytes
	counts   []uint32  // by pattern, while values are counted
	steps    []step
	starts   []uint32 // by pattern: the first step; and one more

	data    []byte   // bytes that stay, then the texts of the next values; room for Slack bytes
	stays   int      // bytes of data
	spans   []Span   // of the fields of the next values, column by column; then an empty one
	cursors []uint64 // by column: where in spans the next one is, in bytes; and one more for the empty text
	order   []uint32 // steps of the next values
}

// Reset makes patterns: of places, whose columns are below columns, of each as many as counts says, and of constant
// bytes, which lie back to back in text and have these sizes. It keeps text, and reads up to Slack bytes behind it.
func (d *Decoder) Reset(text []byte, sizes, counts []uint32, places []Place, columns int) error {
	d.text, d.places = text, places
	scratch.Slice(&d.patterns, len(counts)+1)
	scratch.Slice(&d.starts, len(counts)+1)
	d.steps, d.stays = d.steps[:0], 0
	if _, err := d.Keep(text); err != nil {
		return err
	}
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
		d.starts[i] = uint32(len(d.steps))
		d.addSteps(*p, places[place:place+int(n)], uint16(columns))
		place, at = place+int(n), at+int(sizes[i])
	}
	if place != len(places) || at != len(text) {
		return fault.Corruptf("patterns with %d of %d fields, %d of %d bytes", place, len(places), at, len(text))
	}
	d.patterns[len(counts)] = pattern{place: uint32(place), text: uint32(at)}
	d.starts[len(counts)] = uint32(len(d.steps))
	return nil
}

// addSteps adds the steps of a pattern, at least one. none is the column of steps without a field.
func (d *Decoder) addSteps(p pattern, places []Place, none uint16) {
	at, first := p.text, len(d.steps)
	constant := func(n, most uint32) uint32 { // adds steps for n constant bytes until there are at most so many, and returns how many
		for ; n > most; n -= min(n, wide) {
			d.steps = append(d.steps, step{text: at, column: none, before: uint8(min(n, wide))})
			at += min(n, wide)
		}
		return n
	}
	for _, f := range places {
		n := constant(f.Before, wide)
		d.steps = append(d.steps, step{text: at, column: uint16(f.Column), before: uint8(n), next: spanLen})
		at += n
	}
	constant(p.after, 0)
	if len(d.steps) == first {
		d.steps = append(d.steps, step{text: at, column: none})
	}
	d.steps[len(d.steps)-1].before |= endsValue
}

// Len is the number of patterns.
func (d *Decoder) Len() int { return len(d.patterns) - 1 }

// Pattern is the places of a pattern, and its constant bytes.
func (d *Decoder) Pattern(code int) (places []Place, text []byte) {
	p := d.patterns[code]
	return d.places[p.place:d.patterns[code+1].place], d.text[p.text:][:p.size]
}

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

// countFour counts codes in four lists by turns, and adds them up in the first: an increment of the counter that was just
// incremented would wait for it. It leaves fewer than four codes.
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

// Begin makes room for the fields of the next values, of each column as many as counts says: those of the values that are
// assembled next ([Decoder.Count]).
func (d *Decoder) Begin(counts []uint64) {
	scratch.Slice(&d.cursors, len(counts)+1)
	at := uint64(0)
	for i, n := range counts {
		d.cursors[i] = spanLen * at
		at += n
	}
	d.cursors[len(counts)] = spanLen * at
	scratch.Slice(&d.spans, int(at)+1)[at] = Span{}
	d.data = slices.Grow(d.data[:d.stays], Slack) // which are read even if there is no text
}

// Keep adds bytes to those that stay from Begin to Begin, until Reset, and returns where they are.
func (d *Decoder) Keep(b []byte) (at uint32, err error) {
	d.data = d.data[:d.stays]
	dst, err := d.Room(len(b))
	if err != nil {
		return 0, err
	}
	copy(dst, b)
	d.stays = len(d.data)
	return uint32(len(d.data) - len(b)), nil
}

// Room is room for n bytes of texts, with a capacity for Slack bytes more. It is valid until the next call.
func (d *Decoder) Room(n int) ([]byte, error) {
	at := len(d.data)
	if uint64(at)+uint64(n) > math.MaxUint32 {
		return nil, fault.Limitf("fields of %d bytes", at+n)
	}
	d.data = slices.Grow(d.data, n+Slack)[:at+n]
	return d.data[at:], nil
}

// spansOf is the memory for where the next n fields of a column are.
func (d *Decoder) spansOf(column, n int) []Span {
	return d.spans[d.cursors[column]/spanLen:][:n]
}

// SetEnds gives a column the fields that lie back to back in the last Room, and end at ends.
func (d *Decoder) SetEnds(column int, room []byte, ends []int32) error {
	at := uint32(len(d.data) - len(room))
	spans, last, bad := d.spansOf(column, len(ends)), int32(0), int32(0)
	for i, end := range ends {
		n := end - last
		bad |= n
		spans[i] = Span{at, uint32(n)}
		at += uint32(n)
		last = end
	}
	if bad < 0 || int(last) > len(room) {
		return fault.Corruptf("fields of texts end before they begin")
	}
	return nil
}

// SetCodes gives a column the fields that codes stand for, and returns their size. The bytes of all lie in what is kept.
func (d *Decoder) SetCodes(column int, all []Span, codes []uint32) (size uint64) {
	spans := d.spansOf(column, len(codes))
	for i, c := range codes {
		t := all[c]
		spans[i] = t
		size += uint64(t.Len)
	}
	return size
}

// wide is how many bytes are copied at once: what [simd.Copy32] copies.
const wide = 32

// Assemble writes the values of codes back to back to dst, and where each ends to ends, the first value from base on. The codes have
// been counted, and their fields set. Up to Slack bytes behind the values may be overwritten.
func Assemble[O int32 | int64](d *Decoder, dst []byte, codes []uint32, ends []O, base O) {
	if len(codes) == 0 {
		return
	}
	out := unsafe.Pointer(unsafe.SliceData(dst))
	a := assembler{
		dst: out, ends: unsafe.Pointer(&ends[:len(codes)][0]), shift: uintptr(base) - uintptr(out),
		data: unsafe.Pointer(unsafe.SliceData(d.data)), steps: unsafe.Pointer(unsafe.SliceData(d.steps)),
		spans: unsafe.Pointer(unsafe.SliceData(d.spans)), cursors: unsafe.Pointer(unsafe.SliceData(d.cursors)),
	}
	const most = 1 << 14 // steps at a time: goroutines cannot be interrupted in assembly
	for order := d.ordered(codes); len(order) > 0; {
		n := min(len(order), most)
		run[O](&a, order[:n])
		order = order[n:]
	}
}

// assembler is what the steps of values work on. The assembly knows its layout.
type assembler struct {
	dst, ends                   unsafe.Pointer
	done, endsDone              uintptr // bytes of both that are written
	data, steps, spans, cursors unsafe.Pointer
	shift                       uintptr // from the address of the end of a value to its offset
}

// runGo takes steps. The steps of all values are one sequence, so that no branch depends on how many fields a value has.
func runGo[O int32 | int64](a *assembler, order []uint32) {
	out, ends, endsDone, shift := unsafe.Add(a.dst, a.done), a.ends, a.endsDone, a.shift
	data, steps, spans, cursors := a.data, a.steps, a.spans, a.cursors
	for _, k := range order {
		s := *(*uint64)(unsafe.Add(steps, unsafe.Sizeof(step{})*uintptr(k)))
		simd.Copy32(out, unsafe.Add(data, uint32(s)))
		out = unsafe.Add(out, s>>48&(endsValue-1))
		cursor := (*uint64)(unsafe.Add(cursors, 8*uintptr(uint16(s>>32))))
		t := *(*uint64)(unsafe.Add(spans, uintptr(*cursor)))
		*cursor += s >> 56
		simd.Copy32(out, unsafe.Add(data, uint32(t)))
		if t >= (wide+1)<<32 {
			copyMore(out, unsafe.Add(data, uint32(t)), uintptr(t>>32))
		}
		out = unsafe.Add(out, t>>32)
		*(*O)(unsafe.Add(ends, endsDone)) = O(uintptr(out) + shift)
		endsDone += uintptr(s>>55&1) * offsetLen[O]()
	}
	a.done, a.endsDone = uintptr(out)-uintptr(a.dst), endsDone
}

// offsetLen is the size of an offset in bytes.
func offsetLen[O int32 | int64]() uintptr {
	var o O
	return unsafe.Sizeof(o)
}

// ordered is the steps of the values of codes.
func (d *Decoder) ordered(codes []uint32) []uint32 {
	n := 0
	for _, c := range codes {
		n += int(d.starts[c+1] - d.starts[c])
	}
	const room = 8 // written at once
	order := scratch.Slice(&d.order, n+room)
	at := 0
	for _, c := range codes {
		first, next := d.starts[c], d.starts[c+1]
		o := order[at:]
		for ; ; o = o[room:] {
			_ = o[room-1]
			o[0], o[1], o[2], o[3] = first, first+1, first+2, first+3
			o[4], o[5], o[6], o[7] = first+4, first+5, first+6, first+7
			if next-first <= room {
				break
			}
			first += room
		}
		at += int(next - d.starts[c])
	}
	return order[:n]
}

// copyMore copies what is behind the first wide bytes.
func copyMore(to, from unsafe.Pointer, n uintptr) {
	for i := uintptr(wide); i < n; i += wide {
		simd.Copy32(unsafe.Add(to, i), unsafe.Add(from, i))
	}
}
