package column

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// The kinds 10 and 11, PrefixBytes, are equal:
//
//	2  u32  rows
//	6  …    presence, with its length in front
//	…  u32  length of the prefixes
//	…  …    prefixes, compressed: a dictionary of bytes
//	…  u32  length of the suffixes
//	…  …    suffixes, compressed
//
// The suffixes are
//
//	0  u8   w, bytes of the index of a prefix: 1, 2 or 4
//	1  …    for each row with a value: index of its prefix (w bytes, all ones: no prefix), u32 length, bytes

func (r *Reader) parsePrefix(c *fields.Cursor) {
	r.parsePresence(c)
	r.first = frame(c, "prefixes")
	r.second = frame(c, "suffixes")
}

// suffixes reads the suffixes of a column, and finds their prefixes.
type suffixes struct {
	values
	width    int
	prefixes Values
}

// suffixes decompresses both parts.
func (r *Reader) suffixes() (*suffixes, error) {
	body, err := r.d.decompress(r.d.first, r.first, r.o.Limits.Bytes)
	if err != nil {
		return nil, err
	}
	r.d.first = body
	s := &suffixes{}
	if s.prefixes, _, err = parseStrings(body, r.o.Limits); err != nil {
		return nil, r.first.in(err, 0)
	}
	data, err := r.d.decompress(r.d.second, r.second, r.o.Limits.Bytes)
	if err != nil {
		return nil, err
	}
	r.d.second = data
	if r.presence.count == 0 && len(data) == 0 {
		return s, nil
	}
	if len(data) == 0 || data[0] != 1 && data[0] != 2 && data[0] != 4 {
		return nil, r.second.in(fault.Corruptf("no width of indexes in %d bytes", len(data)), 0)
	}
	s.width = int(data[0])
	s.values = values{data: data, at: 1, limit: r.o.Limits.ValueLen}
	return s, nil
}

// next gives the two parts of the next value.
func (s *suffixes) next() (prefix, suffix []byte, err error) {
	index := s.data[s.at:]
	if len(index) < s.width {
		return nil, nil, fault.Corruptf("%d bytes are left, less than the index of a prefix", len(index))
	}
	s.at += s.width
	if suffix, err = s.values.next(); err != nil { // else the index has a length of 4 bytes behind it
		return nil, nil, err
	}
	none := ^uint32(0) >> (32 - 8*s.width)
	k := binary.LittleEndian.Uint32(index) & none
	if k == none {
		return nil, suffix, nil
	}
	if uint64(k) >= uint64(s.prefixes.Len()) {
		return nil, nil, fault.Corruptf("prefix %d of %d", k, s.prefixes.Len())
	}
	prefix = s.prefixes.Bytes(int(k))
	if len(prefix)+len(suffix) > s.limit {
		return nil, nil, fault.Limitf("a value of %d bytes, where %d are allowed", len(prefix)+len(suffix), s.limit)
	}
	return prefix, suffix, nil
}

// prefixValues decodes the values of ranks, which ascend, or all if ranks is nil.
func (r *Reader) prefixValues(ranks []int) (Values, error) {
	s, err := r.suffixes()
	if err != nil {
		return Values{}, err
	}
	n, v := len(ranks), Values{}
	if ranks == nil {
		n, v.Data = r.presence.count, make([]byte, 0, len(s.data))
	}
	v.Offsets = make([]uint32, 1, n+1)
	at := 0
	for i := range n {
		if ranks != nil {
			if err := s.skip(ranks[i]-at, s.width); err != nil {
				return Values{}, r.second.in(err, 0)
			}
			at = ranks[i] + 1
		}
		prefix, suffix, err := s.next()
		if err != nil {
			return Values{}, r.second.in(err, 0)
		}
		// A prefix may be part of many values.
		if len(v.Data)+len(prefix)+len(suffix) > r.o.Limits.Bytes {
			return Values{}, r.second.in(fault.Limitf("values of more than %d bytes", r.o.Limits.Bytes), 0)
		}
		v.Data = append(v.Data, prefix...)
		v.add(suffix)
	}
	if left := len(s.data) - s.at; left > 0 && s.width > 0 && ranks == nil {
		r.warn(r.second.in(fault.Corruptf("%d bytes follow the values", left), 0))
	}
	return v, nil
}
