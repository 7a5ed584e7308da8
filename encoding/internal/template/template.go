// Package template splits texts into templates and digits, and puts them
// together again: docs/format.md §7.5.
//
// The template of a text is the text with a 0 in place of every digit. Texts that
// a program wrote, such as log lines, have few templates: the text is one of them,
// and the digits that were there, in their order. Example:
//
//	text:     took 45 ms of 1200
//	template: took 00 ms of 0000
//	digits:   451200
//
// Templates hold no other digits, so a digit there needs no mark. The idea is that
// of CLP (Rodrigues, Luo and Yuan: CLP: Efficient and Scalable Search on
// Compressed Text Logs, OSDI 2021), reduced to what unpacks at the speed of copying.
package template

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/search"
)

// Slack is how many bytes behind what is copied from may be read, and behind
// what is written may be overwritten.
const Slack = 64

const (
	wide      = 16 // bytes that are copied at a time
	maxDigits = wide
	maxText   = 128 // bytes of text in a piece, from which on they are not gathered any more

	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

var le = binary.LittleEndian

// Set is templates, by code. The zero value is empty.
type Set struct {
	text    []byte  // all, back to back, and Slack bytes
	sizes   []size  // by code, and one more
	pieces  []piece // of all
	chunks  []chunk // of all, instead of pieces, where there is a kernel in assembly
	divided bool    // there are pieces, or chunks
	values  int     // that were expanded before
}

// size is how large a template is, and where it begins. Assembly knows it.
type size struct{ text, digits, start, piece uint32 }

// chunk is 16 bytes of a template, and for each of them which of the digits to
// come stands there, or 0x80. The last one is filled up with bytes that are none.
type chunk = [2][wide]byte

// piece is a part of a template: bytes of text, then at most maxDigits digits.
type piece struct{ text, digits uint8 }

// Reset makes the set one of templates that lie back to back in text, of these
// lengths. It reads up to Slack bytes behind text, which it keeps. An error wraps
// fault.ErrCorrupt.
func (s *Set) Reset(text []byte, lengths []uint32) error {
	s.clear()
	s.text = text
	at := 0
	for _, n := range lengths {
		if uint64(n) > uint64(len(text)-at) {
			return fault.Corruptf("template of %d bytes in %d", n, len(text)-at)
		}
		if !s.add(text[at:at+int(n)], at, countDigits) {
			return fault.Corruptf("template with a digit other than 0, at %d to %d", at, at+int(n))
		}
		at += int(n)
	}
	if at != len(text) {
		return fault.Corruptf("templates of %d bytes in %d", at, len(text))
	}
	return nil
}

func (s *Set) clear() {
	s.pieces, s.chunks, s.sizes = s.pieces[:0], s.chunks[:0], append(s.sizes[:0], size{})
	s.divided, s.values = false, 0
}

// countDigits is the digits of a template; bad if one of them is not 0.
func countDigits(text []byte) (digits uint32, bad bool) {
	for ; len(text) > 0; text = text[min(64, len(text)):] {
		m, not0 := digitBits(text[:min(64, len(text))])
		digits, bad = digits+uint32(bits.OnesCount64(m)), bad || not0
	}
	return digits, bad
}

// fewValues are expanded without pieces, which would be those of all templates.
const fewValues = 64

// divide makes the pieces of all templates.
func (s *Set) divide() {
	prepare := s.appendPieces
	if avx2 {
		prepare = s.appendChunks
	}
	for i := range s.Len() {
		prepare(s.text[s.sizes[i].start:s.sizes[i+1].start])
		s.sizes[i+1].piece = uint32(len(s.pieces) + len(s.chunks))
	}
	s.divided = true
}

// Len is the number of templates.
func (s *Set) Len() int { return len(s.sizes) - 1 }

// add appends a template, which begins at start and is prepared in one of two
// ways; false if it has a digit other than 0.
func (s *Set) add(text []byte, start int, prepare func([]byte) (digits uint32, bad bool)) bool {
	last := len(s.sizes) - 1
	digits, bad := prepare(text)
	s.sizes[last].text, s.sizes[last].digits = uint32(len(text)), digits
	s.sizes = append(s.sizes, size{start: uint32(start + len(text)), piece: uint32(len(s.pieces) + len(s.chunks))})
	return !bad
}

// appendPieces cuts a template into pieces, 64 bytes at a time.
func (s *Set) appendPieces(text []byte) (digits uint32, bad bool) {
	ps, before := s.pieces, 0 // bytes of text that belong to the next piece
	for len(text) > 0 {
		n := min(64, len(text))
		m, not0 := digitBits(text[:n])
		bad = bad || not0
		digits += uint32(bits.OnesCount64(m))
		at := 0
		for m != 0 {
			from, to := bits.TrailingZeros64(m), 64
			if m += m & -m; m != 0 {
				to = bits.TrailingZeros64(m)
				m &= m - 1
			}
			ps = append(ps, piece{uint8(before + from - at), uint8(min(to-from, maxDigits))})
			for from += maxDigits; from < to; from += maxDigits {
				ps = append(ps, piece{0, uint8(min(to-from, maxDigits))})
			}
			at, before = to, 0
		}
		if before += n - at; before >= maxText || before > 0 && n == len(text) {
			ps = append(ps, piece{uint8(before), 0})
			before = 0
		}
		text = text[n:]
	}
	s.pieces = ps
	return digits, bad
}

// appendChunks cuts a template into chunks.
func (s *Set) appendChunks(text []byte) (digits uint32, bad bool) {
	n := len(s.chunks)
	s.chunks = slices.Grow(s.chunks, (len(text)+wide-1)/wide)[:n+(len(text)+wide-1)/wide]
	out := s.chunks[n:]
	count, others := uint64(0), uint64(0)
	for ; len(text) >= wide; text, out = text[wide:], out[1:] {
		k, o := fill(&out[0], le.Uint64(text), le.Uint64(text[8:]))
		count, others = count+k, others|o
	}
	if len(text) > 0 {
		var last [wide]byte
		copy(last[:], text)
		k, o := fill(&out[0], le.Uint64(last[:]), le.Uint64(last[8:]))
		count, others = count+k, others|o
	}
	return uint32(count), others != 0
}

// fill makes a chunk of 16 bytes. It counts the digits; others is 0 if all are 0.
func fill(c *chunk, a, b uint64) (count, others uint64) {
	ta, tb := a^'0'*ones, b^'0'*ones
	da, db := digitsOf(ta), digitsOf(tb)
	ia, ib := da>>7, db>>7
	na, nb := ia*ones, ib*ones // in each byte how many digits there are up to it
	before := na >> 56
	le.PutUint64(c[0][:], a)
	le.PutUint64(c[0][8:], b)
	le.PutUint64(c[1][:], na-ia|^da&highs)
	le.PutUint64(c[1][8:], nb-ib+before*ones|^db&highs)
	return before + nb>>56, ta&(da<<1-ia) | tb&(db<<1-ib)
}

// digitBits tells which of at most 64 bytes are digits, and whether any of them
// is not 0.
func digitBits(b []byte) (m uint64, not0 bool) {
	i, others := 0, uint64(0)
	for ; i+8 <= len(b); i += 8 {
		t := le.Uint64(b[i:]) ^ '0'*ones
		d := digitsOf(t)
		others |= t & (d<<1 - d>>7)
		m |= (d >> 7) * 0x0102040810204080 >> 56 << i
	}
	for ; i < len(b); i++ {
		if t := b[i] ^ '0'; t < 10 {
			others |= uint64(t)
			m |= 1 << i
		}
	}
	return m, others != 0
}

// digitsOf has the high bit of each byte of t that is less than 10.
func digitsOf(t uint64) uint64 {
	return ^((t&^highs + (0x80-10)*ones) | t) & highs
}

// AppendShape appends the parts of a template: texts, and digits between them.
func (s *Set) AppendShape(dst search.Shape, code int) search.Shape {
	text := s.text[s.sizes[code].start:][:s.sizes[code].text]
	for len(text) > 0 {
		n := bytes.IndexByte(text, '0')
		if n < 0 {
			n = len(text)
		}
		rest := bytes.TrimLeft(text[n:], "0")
		digits := len(text) - n - len(rest)
		dst = append(dst, search.Part{Text: text[:n]}, search.Part{Kind: search.Digits, Min: digits, Max: digits})
		text = rest
	}
	return dst
}

// Containing clears the bytes of keep, one for each template, of those whose
// values cannot contain part. scratch is memory for it to use.
func (s *Set) Containing(keep []byte, part []byte, scratch *[]byte) {
	masked := append((*scratch)[:0], part...)
	*scratch = masked
	for i, b := range masked {
		if b-'0' < 10 {
			masked[i] = '0'
		}
	}
	code, end := 0, len(s.text)
	for pos := 0; code < s.Len(); {
		i := bytes.Index(s.text[pos:end], masked)
		if i < 0 {
			break
		}
		for pos += i; int(s.sizes[code+1].start) < pos+len(masked); code++ { // ends before what was found does
			keep[code] = 0
		}
		if int(s.sizes[code].start) > pos { // what was found begins before it
			pos++
			continue
		}
		code++ // keeps what it has
		pos = int(s.sizes[code].start)
	}
	clear(keep[code:])
}

// Offsets adds up the values of codes: where each ends, after the first offset,
// and how many digits there are before every 64th, and in all. A code that is not
// in the set is an error that wraps fault.ErrCorrupt.
func (s *Set) Offsets(offsets, marks []uint64, codes []uint32) (digits uint64, err error) {
	sizes := s.sizes[:s.Len()]
	end := uint64(0)
	offsets[0] = 0
	offsets = offsets[1:][:len(codes)]
	for i, c := range codes {
		if uint(c) >= uint(len(sizes)) {
			return 0, fault.Corruptf("code %d of %d", c, len(sizes))
		}
		if i%MarkEvery == 0 {
			marks[i/MarkEvery] = digits
		}
		end += uint64(sizes[c].text)
		digits += uint64(sizes[c].digits)
		offsets[i] = end
	}
	return digits, nil
}

// MarkEvery is after how many values [Set.Offsets] notes the digits so far.
const MarkEvery = 64

// Digits is how many digits the values of codes have, which must be in the set.
func (s *Set) Digits(codes []uint32) (n int) {
	for _, c := range codes {
		n += int(s.sizes[c].digits)
	}
	return n
}
