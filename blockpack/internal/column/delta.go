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

// offsets decompresses the offsets, unless none is needed.
func (r *Reader) offsets(needed int) ([]byte, error) {
	if r.width == 0 || needed == 0 {
		return nil, nil
	}
	data, err := r.d.decompress(r.d.first, r.first, r.o.Limits.Bytes)
	if err != nil {
		return nil, err
	}
	r.d.first = data
	if size := r.width * r.presence.count; len(data) < size {
		return nil, r.first.in(fault.Corruptf("%d bytes of offsets, where %d rows have a value", len(data), r.presence.count), 0)
	} else if len(data) > size {
		r.warn(r.first.in(fault.Corruptf("%d bytes of offsets, where %d rows have a value", len(data), r.presence.count), 0))
	}
	return data, nil
}

func (r *Reader) deltaValues() (Values, error) {
	v := Values{Numbers: make([]uint64, r.presence.count)}
	offsets, err := r.offsets(r.presence.count)
	if err != nil {
		return Values{}, err
	}
	widen(v.Numbers, offsets, r.width, r.base)
	return v, nil
}
