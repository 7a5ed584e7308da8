package template

import (
	"bytes"
	"math/bits"
	"slices"
	"unsafe"
)

// Encoder finds the templates of texts. Its memory is used again. The zero value
// is ready.
type Encoder struct {
	Codes  []uint32 // of each text: templates are numbered in the order in which they first appear
	Digits []byte   // of all texts, in ASCII

	set Set

	slots  []uint32 // hash table of templates: code+1, 0 = free; the length is a power of 2
	hashes []uint32 // by code
	masked []byte   // the text at hand with 0 for digits
}

const minSlots = 1024

// Len is the number of templates.
func (e *Encoder) Len() int { return e.set.Len() }

// Text is all templates back to back.
func (e *Encoder) Text() []byte { return e.set.text }

// Lengths appends the lengths of the templates.
func (e *Encoder) Lengths(dst []uint32) []uint32 {
	for _, s := range e.set.sizes[:e.set.Len()] {
		dst = append(dst, s.text)
	}
	return dst
}

// Encode splits the texts data[offsets[i]:offsets[i+1]]. It stops, and ok is
// false, once there are more templates than half as many as texts, and spare.
func (e *Encoder) Encode(data []byte, offsets []int64, spare int) (ok bool) {
	n := len(offsets) - 1
	e.set.clear()
	e.set.text = e.set.text[:0]
	e.hashes = e.hashes[:0]
	clear(grown(&e.slots, minSlots))
	e.Codes = grown(&e.Codes, n)
	digits, count := e.Digits[:0], 0
	for i := range e.Codes {
		v := data[offsets[i]:offsets[i+1]]
		c := e.find(v)
		e.Codes[i] = c
		if int(c) > spare+i/2 {
			return false
		}
		if len(digits)-count < len(v)+wide {
			digits = slices.Grow(digits[:count], len(v)+wide)
			digits = digits[:cap(digits)]
			e.Digits = digits
		}
		if len(data)-int(offsets[i+1]) >= wide {
			e.gather(digits[count:], v, c)
		} else {
			gatherExactly(digits[count:], v)
		}
		count += int(e.set.sizes[c].digits)
	}
	e.Digits = digits[:count]
	return true
}

// find is the code of the template of a text.
func (e *Encoder) find(v []byte) uint32 {
	h := e.mask(v)
	masked, slots := e.masked[:len(v)], e.slots
	i := int(h) & (len(slots) - 1)
	for ; slots[i] != 0; i = (i + 1) & (len(slots) - 1) {
		c := slots[i] - 1
		if s := &e.set.sizes[c]; e.hashes[c] == h && bytes.Equal(e.set.text[s.start:][:s.text], masked) {
			return c
		}
	}
	c := uint32(e.set.Len())
	slots[i] = c + 1
	e.hashes = append(e.hashes, h)
	start := len(e.set.text)
	e.set.text = append(e.set.text, masked...)
	e.set.add(masked, start, e.set.appendPieces)
	if 4*len(e.hashes) > len(slots) {
		e.grow()
	}
	return c
}

// grow makes the table twice as large.
func (e *Encoder) grow() {
	slots := grown(&e.slots, 2*len(e.slots))
	clear(slots)
	for c, h := range e.hashes {
		i := int(h) & (len(slots) - 1)
		for slots[i] != 0 {
			i = (i + 1) & (len(slots) - 1)
		}
		slots[i] = uint32(c) + 1
	}
}

// mask writes a text with 0 for digits, and hashes it.
func (e *Encoder) mask(v []byte) uint32 {
	const k1, k2 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	h1, h2 := uint64(len(v)), uint64(0)
	out := grown(&e.masked, len(v)+wide)
	all := v
	for ; len(v) >= 16; v, out = v[16:], out[16:] {
		a, b := maskWord(le.Uint64(v)), maskWord(le.Uint64(v[8:]))
		le.PutUint64(out, a)
		le.PutUint64(out[8:], b)
		h1 = (bits.RotateLeft64(h1, 5) ^ a) * k1
		h2 = (bits.RotateLeft64(h2, 5) ^ b) * k2
	}
	if len(v) >= 8 {
		a := maskWord(le.Uint64(v))
		le.PutUint64(out, a)
		h1 = (bits.RotateLeft64(h1, 5) ^ a) * k1
		v, out = v[8:], out[8:]
	}
	var rest uint64
	switch {
	case len(v) == 0:
	case len(all) >= 8:
		rest = le.Uint64(all[len(all)-8:]) >> (64 - 8*len(v))
	default:
		for i, b := range v {
			rest |= uint64(b) << (8 * i)
		}
	}
	rest = maskWord(rest)
	le.PutUint64(out, rest)
	h2 = (bits.RotateLeft64(h2, 5) ^ rest) * k2
	h1 ^= bits.RotateLeft64(h2, 32)
	h1 = (h1 ^ h1>>32) * k1
	return uint32(h1 >> 32)
}

// maskWord puts 0 in place of the digits of eight bytes.
func maskWord(x uint64) uint64 {
	t := x ^ '0'*ones
	d := digitsOf(t)
	return x ^ t&(d<<1-d>>7)
}

// gather copies the digits of v, whose template is known, and some bytes more; as
// many may be read behind v.
func (e *Encoder) gather(dst, v []byte, code uint32) {
	d, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(v))
	for _, p := range e.set.pieces[e.set.sizes[code].piece:e.set.sizes[code+1].piece] {
		from = unsafe.Add(from, p.text)
		copyWide(d, from)
		from, d = unsafe.Add(from, p.digits), unsafe.Add(d, p.digits)
	}
}

func gatherExactly(dst, v []byte) {
	for _, b := range v {
		if b-'0' < 10 {
			dst[0] = b
			dst = dst[1:]
		}
	}
}

// grown is s with length n; its content is undefined.
func grown[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	*s = (*s)[:n]
	return *s
}
