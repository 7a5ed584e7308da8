package column

import (
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Kind 5, DeltaUint64, is
//
//	2  u32  rows
//	6  …    presence, with its length in front
//	…  u64  base, the least value
//	…  u8   bytes of an offset: 1, 2, 4 or 8; 0 if all values equal the base, and nothing follows
//	…  u32  length of the offsets
//	…  …    offsets of rows with a value, compressed
//
// A value is base + offset, modulo 2^64.

func (r *Reader) parseDelta(c *fields.Cursor) {
	r.parsePresence(c)
	r.base = c.U64("base")
	switch r.width = int(c.U8("offset width")); r.width {
	case 0:
	case 1, 2, 4, 8:
		r.first = frame(c, "offsets")
	default:
		c.Refuse(1, "offset width", fault.Corruptf("offsets of %d bytes", r.width))
	}
}

// deltaValues decodes the values of ranks, or all if ranks is nil.
func (r *Reader) deltaValues(ranks []int) (Values, error) {
	count := r.presence.count
	n := count
	if ranks != nil {
		n = len(ranks)
	}
	v := Values{Numbers: make([]uint64, n)}
	if r.width == 0 || n == 0 {
		widen(v.Numbers, nil, 0, r.base)
		return v, nil
	}
	data, err := r.numbers(&r.d.first, r.first, r.width, count, "offsets")
	if err != nil {
		return Values{}, err
	}
	if ranks == nil {
		widen(v.Numbers, data, r.width, r.base)
	}
	for i, rank := range ranks {
		widen(v.Numbers[i:i+1], data[r.width*rank:], r.width, r.base)
	}
	return v, nil
}

// numbers decompresses a section of so many numbers into kept memory. More of them are a warning.
func (r *Reader) numbers(kept *[]byte, s section, width, n int, what string) ([]byte, error) {
	data, err := r.d.decompress(*kept, s, r.o.Limits.Bytes)
	if err != nil {
		return nil, err
	}
	*kept = data
	if len(data) != width*n {
		wrong := s.in(fault.Corruptf("%d bytes of %s for %d rows", len(data), what, n), 0)
		if len(data) < width*n {
			return nil, wrong
		}
		r.warn(wrong)
	}
	return data, nil
}
