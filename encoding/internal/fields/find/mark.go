package find

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/amudai/amudai-go/encoding/internal/fields"
	"github.com/amudai/amudai-go/internal/base/search"
)

// markAtOnce is how many numbers are looked at as texts while these are in the cache.
const markAtOnce = 1024

type word interface{ uint32 | uint64 }

// Mark sets the bits of those numbers whose texts have a relation to a text, which they can have.
func Mark[W word](found []uint64, b *fields.Buffer, c *fields.Column, numbers []W, how How, text []byte) error {
	switch {
	case len(numbers) == 0:
		return nil
	case c.Kind == fields.HexLower || c.Kind == fields.HexUpper:
		markHex(found, c.Width, numbers, how, text)
		return nil
	case c.Kind == fields.Digits:
		eachWindow(c, how, text, func(w *window) { markWindow(found, numbers, w) })
		return nil
	case c.Kind == fields.Decimal && len(text) > 1 && uint64(slices.Max(numbers)) < fields.Power(min(len(text)-1, fields.MaxDigits)): // all are shorter
		return nil
	case c.Kind == fields.Decimal && how == Ends:
		markEnds(found, numbers, text)
		return nil
	}
	return markTexts(found, b, c, numbers, how, text)
}

// markTexts is Mark by making all texts.
func markTexts[W word](found []uint64, b *fields.Buffer, c *fields.Column, numbers []W, how How, text []byte) error {
	needle := search.New(text)
	for from := 0; from < len(numbers); from += markAtOnce {
		some := numbers[from:min(from+markAtOnce, len(numbers))]
		f, err := fields.Format(b, c, some)
		if err != nil {
			return err
		}
		markFields(found, from, &f, how, &needle)
	}
	return nil
}

// number is the number that a text of digits stands for, modulo 2^64.
func number(text []byte, base uint64) (x uint64) {
	for _, b := range text {
		digit := uint64(b & 15)
		if b > '9' {
			digit += 9
		}
		x = x*base + digit
	}
	return x
}

// markHex is Mark of hexadecimal numbers with a width.
func markHex[W word](found []uint64, width int, numbers []W, how How, text []byte) {
	x, mask := number(text, 16), ^uint64(0)>>(64-4*len(text))
	first, last := 0, width-len(text) // digits behind the text
	switch how {
	case Ends, Equals:
		last = 0
	case Begins:
		first = last
	}
	if first < last && len(text) >= leastPacked && littleEndian {
		markPacked(found, last, numbers, x, mask, len(text))
		return
	}
	if first == last {
		x, mask = x<<(4*first), mask<<(4*first)
		for i, v := range numbers {
			if uint64(v)&mask == x {
				found[i/64] |= 1 << (i % 64)
			}
		}
		return
	}
	for i, v := range numbers {
		if hexHas(uint64(v), x, mask, first, last) {
			found[i/64] |= 1 << (i % 64)
		}
	}
}

// hexHas reports whether a number has the digits x with some digits behind them.
func hexHas(v, x, mask uint64, first, last int) bool {
	for k := first; k <= last; k++ {
		if (v>>(4*k)^x)&mask == 0 {
			return true
		}
	}
	return false
}

// leastPacked is from how many hexadecimal digits on these have two bytes wherever they are in a number.
const leastPacked = 6

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// markPacked looks for n hexadecimal digits in the bytes of all numbers, once where the last digit is the low half of a byte, and once
// where it is the high one.
func markPacked[W word](found []uint64, last int, numbers []W, x, mask uint64, n int) {
	size := int(unsafe.Sizeof(numbers[0]))
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), size*len(numbers))
	var text [8]byte
	for _, low := range []int{0, 1} { // digits that are not looked for
		binary.LittleEndian.PutUint64(text[:], x>>(4*low))
		needle := search.New(text[:(n-low)/2])
		for at := 0; ; at++ {
			i := needle.Index(data[at:])
			if i < 0 {
				break
			}
			at += i
			if k := at / size; hexHas(uint64(numbers[k]), x, mask, 0, last) {
				found[k/64] |= 1 << (k % 64)
			}
		}
	}
}

// markEnds is Mark of decimal numbers that end with a text.
func markEnds[W word](found []uint64, numbers []W, text []byte) {
	x, least := number(text, 10), uint64(0)
	if len(text) > 1 {
		least = fields.Power(len(text) - 1)
	}
	if len(text) > fields.MaxDigits { // the number itself
		for i, v := range numbers {
			if uint64(v) == x && uint64(v) >= least {
				found[i/64] |= 1 << (i % 64)
			}
		}
		return
	}
	by := fields.Power(len(text))
	if narrow, ok := any(numbers).([]uint32); ok && len(text) < 10 && least <= 1 && x < by {
		markRests(found, narrow, by, x, 0)
		return
	}
	for i, v := range numbers {
		if uint64(v)%by == x && uint64(v) >= least {
			found[i/64] |= 1 << (i % 64)
		}
	}
}

// markFields sets the bits from first on of fields.
func markFields(found []uint64, first int, f *fields.Fields, how How, needle *search.Needle) {
	if how == Contains {
		markContaining(found, first, f, needle)
		return
	}
	for i, s := range f.Spans {
		if how.holds(f.Text[s.At:s.At+s.Len], needle.Text()) {
			found[(first+i)/64] |= 1 << ((first + i) % 64)
		}
	}
}

func markContaining(found []uint64, first int, f *fields.Fields, needle *search.Needle) {
	i, end := 0, int(f.Spans[0].Len) // of the field
	for at := 0; ; {
		k := needle.Index(f.Text[at:])
		if k < 0 {
			return
		}
		at += k
		for ; at >= end; end += int(f.Spans[i].Len) {
			i++
		}
		if at+len(needle.Text()) > end { // it ends in another field
			at++
			continue
		}
		found[(first+i)/64] |= 1 << ((first + i) % 64)
		at = end
	}
}

// MarkTexts sets the bits of those fields that have a relation to a text. They lie back to back in data, and end at ends.
func MarkTexts(found []uint64, data []byte, ends []int32, how How, text []byte) {
	if how == Contains {
		needle := search.New(text)
		search.Containing(found, data, 0, ends, &needle)
		return
	}
	at := int32(0)
	for i, end := range ends {
		if v := data[at:end]; how.holds(v, text) {
			found[i/64] |= 1 << (i % 64)
		}
		at = end
	}
}

// holds reports whether a field that need not contain a text has another relation to it.
func (h How) holds(field, text []byte) bool {
	switch h {
	case Begins:
		return bytes.HasPrefix(field, text)
	case Ends:
		return bytes.HasSuffix(field, text)
	}
	return bytes.Equal(field, text)
}
