package column

import (
	"encoding/binary"
	"errors"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// The kinds 8 and 9, XORBytes, are equal:
//
//	2  u32  rows
//	6  …    presence, with its length in front
//	…  u32  length of the payload
//	…  …    payload, compressed
//
// The payload has for each row with a value
//
//	0  u32  length of the value
//	4  …    bytes, XOR those of the value before where that has any

// ErrMaybePadded is wrapped by notes on columns whose writer may have padded values with zeros, up to the length of the
// value before.
var ErrMaybePadded = errors.New("values may have been padded with zeros")

func (r *Reader) parseXOR(c *fields.Cursor) {
	r.parsePresence(c)
	r.first = frame(c, "XOR payload")
}

func (r *Reader) xorValues() (Values, error) {
	payload, err := r.d.decompress(r.d.first, r.first, r.o.Limits.Bytes)
	if err != nil {
		return Values{}, err
	}
	r.d.first = payload
	n := r.presence.count
	if len(payload) < 4*n {
		return Values{}, r.first.in(fault.Corruptf("%d bytes, where %d rows have a value", len(payload), n), 0)
	}
	v := Values{Offsets: make([]uint32, 1, n+1), Data: make([]byte, 0, len(payload)-4*n)}
	walk := values{data: payload, limit: r.o.Limits.ValueLen}
	var last []byte // the value before, in v.Data
	varies, zeros := false, false
	for i := range n {
		value, err := walk.next()
		if err != nil {
			return Values{}, r.first.in(err, 0)
		}
		from := len(v.Data)
		v.add(value)
		value = v.Data[from:]
		XOR(value, last)
		varies = varies || i > 0 && len(value) != len(last)
		zeros = zeros || len(value) == len(last) && len(value) > 0 && value[len(value)-1] == 0 && last[len(last)-1] != 0
		last = value
	}
	if left := len(walk.data) - walk.at; left > 0 {
		r.warn(r.first.in(fault.Corruptf("%d bytes follow the values", left), 0))
	}
	if varies && zeros {
		r.warn(r.first.in(ErrMaybePadded, 0))
	}
	return v, nil
}

// XOR changes the bytes of value where last has any.
func XOR(value, last []byte) {
	n := min(len(value), len(last))
	i := 0
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(value[i:], binary.LittleEndian.Uint64(value[i:])^binary.LittleEndian.Uint64(last[i:]))
	}
	for ; i < n; i++ {
		value[i] ^= last[i]
	}
}
