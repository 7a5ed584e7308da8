// Package dictionary holds the value dictionary of a field (docs/format.md §8): its
// distinct values, each with an id. The field's DATA buffer then holds ids.
//
//	0    u8   basic type of the values
//	1    u32  number of entries, the null entry included
//	5    u8   1 if there is a null entry
//	6    u32  its id
//	10   u32  size of each value, 0 if it varies
//	14   u64 start, u64 end of the values section
//	30   u64 start, u64 end of the offsets section (equal if values have a fixed size)
//	46   u64 start, u64 end of the sorted ids section
//	62   zeros
//	124  u32  checksum of the 124 bytes before it
//	128  values | offsets | sorted ids | zeros up to a multiple of 64
//
// Each section is
//
//	u64 payload length | payload | 64 zeros | zeros | u32 checksum of the payload
//
// with as many zeros as make its length a multiple of 16. Payloads:
//
//	values      all entries back to back, in the order of their ids; the null entry
//	            is empty, or zeros if values have a fixed size
//	offsets     entries+1 times u64, the first 0: where each entry starts in values
//	sorted ids  u32 ids without the null entry's, in the byte order of their values
//
// The entries "b", "a", null make 448 bytes: values at 128..208 with the payload
// 62 61, offsets at 208..320 with 0, 1, 2, 2, and sorted ids at 320..416 with 1, 0.
//
// The 64 zeros behind a payload let readers copy 16 bytes at a time
// without looking where the values end.
package dictionary

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	headerLen    = 128
	headerUsed   = 124
	sectionZeros = 64
	bufferAlign  = 64
	sectionAlign = 16

	// Slack is how many bytes can be read behind the last value of [Dictionary.Data].
	Slack = sectionZeros
)

var le = binary.LittleEndian

// header is the decoded form of the first 128 bytes.
type header struct {
	valueType  byte
	count      uint32
	hasNull    bool
	nullID     uint32
	fixed      uint32
	values     span
	offsets    span
	sortedByID span
}

// span is a range of bytes in the buffer.
type span struct{ start, end uint64 }

func (h *header) append(dst []byte) []byte {
	b := make([]byte, headerLen)
	b[0] = h.valueType
	le.PutUint32(b[1:], h.count)
	if h.hasNull {
		b[5] = 1
		le.PutUint32(b[6:], h.nullID)
	}
	le.PutUint32(b[10:], h.fixed)
	for i, s := range [...]span{h.values, h.offsets, h.sortedByID} {
		le.PutUint64(b[14+16*i:], s.start)
		le.PutUint64(b[22+16*i:], s.end)
	}
	le.PutUint32(b[headerUsed:], encoding.BlockChecksum(b[:headerUsed]))
	return append(dst, b...)
}

func parseHeader(b []byte) (h header, err error) {
	if len(b) < headerLen {
		return h, fault.Corruptf("value dictionary of %d bytes: shorter than its header", len(b))
	}
	if got, want := encoding.BlockChecksum(b[:headerUsed]), le.Uint32(b[headerUsed:]); got != want {
		return h, fault.Checksumf("value dictionary header has checksum %#08x, its bytes give %#08x", want, got)
	}
	if b[5] > 1 {
		return h, fault.Corruptf("value dictionary says %d null entries", b[5])
	}
	h = header{
		valueType: b[0], count: le.Uint32(b[1:]), hasNull: b[5] == 1, nullID: le.Uint32(b[6:]), fixed: le.Uint32(b[10:]),
		values:     span{le.Uint64(b[14:]), le.Uint64(b[22:])},
		offsets:    span{le.Uint64(b[30:]), le.Uint64(b[38:])},
		sortedByID: span{le.Uint64(b[46:]), le.Uint64(b[54:])},
	}
	if h.hasNull && h.nullID >= h.count {
		return h, fault.Corruptf("value dictionary of %d entries has null id %d", h.count, h.nullID)
	}
	return h, nil
}

// StartLen is how many bytes of a buffer [ParseStart] looks at.
const StartLen = headerLen + 8

// Start is the sizes that the first bytes of a VALUE_DICTIONARY buffer tell.
type Start struct {
	Entries uint32 // the null entry included
	Size    int64  // bytes that Parse needs, from the start of the buffer
}

// ParseStart checks the first [StartLen] bytes of a VALUE_DICTIONARY buffer of size bytes,
// so that one that cannot be valid is neither read nor held: the sections must be as long
// as what they have to hold. wantType and fixed are those of [Parse].
func ParseStart(b []byte, size int64, wantType byte, fixed uint32) (s Start, err error) {
	if isPacked(b) {
		p, err := parsePacked(b)
		if err == nil {
			err = p.checkType(wantType, fixed)
		}
		if err == nil && p.len() > size {
			err = fault.Corruptf("value dictionary of %d bytes instead of %d", size, p.len())
		}
		return Start{p.count, p.len()}, err
	}
	h, err := parseHeaderOf(b, wantType, fixed)
	if err != nil {
		return s, err
	}
	values := uint64(h.count) * uint64(fixed)
	if fixed == 0 && h.values.start == headerLen && len(b) >= StartLen {
		values = le.Uint64(b[headerLen:])
	}
	s.Entries = h.count
	for _, section := range []struct {
		name    string
		at      span
		payload uint64
	}{
		{"values", h.values, values},
		{"offsets", h.offsets, 8 * (uint64(h.count) + 1)},
		{"sorted ids", h.sortedByID, 4 * h.sortedIDs()},
	} {
		if section.name == "offsets" && fixed != 0 {
			continue
		}
		if err := section.at.check(section.name, uint64(size)); err != nil {
			return s, err
		}
		length := section.at.end - section.at.start
		if most := length - 8 - sectionZeros - 4; section.payload > most || most-section.payload >= sectionAlign {
			return s, fault.Corruptf("value dictionary has %d bytes of %s in a section of %d", section.payload, section.name, length)
		}
		s.Size = max(s.Size, int64(section.at.end))
	}
	return s, nil
}

// parseHeaderOf parses the header of a dictionary of values of a type and size.
func parseHeaderOf(b []byte, wantType byte, fixed uint32) (header, error) {
	h, err := parseHeader(b)
	if err != nil {
		return h, err
	}
	return h, h.checkType(wantType, fixed)
}

func (h *header) checkType(wantType byte, fixed uint32) error {
	if h.valueType != wantType || h.fixed != fixed {
		return fault.Corruptf("value dictionary of type %d and size %d for a field of type %d and size %d",
			h.valueType, h.fixed, wantType, fixed)
	}
	return nil
}

// sortedIDs is the number of sorted ids.
func (h *header) sortedIDs() uint64 {
	if h.hasNull {
		return uint64(h.count) - 1
	}
	return uint64(h.count)
}

// check checks that a section lies behind the header of a buffer of size bytes.
func (s span) check(name string, size uint64) error {
	if s.start > s.end || s.end > size || s.end-s.start < 8+sectionZeros+4 || s.start < headerLen {
		return fault.Corruptf("value dictionary of %d bytes has its %s at %d to %d", size, name, s.start, s.end)
	}
	return nil
}

// sectionLen is the length of a section around a payload of n bytes.
func sectionLen(n int) int {
	return (8 + n + sectionZeros + 4 + sectionAlign - 1) &^ (sectionAlign - 1)
}

// beginSection appends the payload length; the payload, n bytes, follows.
func beginSection(dst []byte, n int) []byte { return le.AppendUint64(dst, uint64(n)) }

// endSection appends the end of a section whose n bytes of payload end dst.
func endSection(dst []byte, n int) []byte {
	sum := encoding.BlockChecksum(dst[len(dst)-n:])
	dst = append(dst, make([]byte, sectionLen(n)-8-n-4)...)
	return le.AppendUint32(dst, sum)
}

// section finds a section and its payload, whose capacity reaches to the end
// of the section.
func section(b []byte, name string, s span) (payload []byte, err error) {
	if err := s.check(name, uint64(len(b))); err != nil {
		return nil, err
	}
	b = b[s.start:s.end]
	n := le.Uint64(b)
	if n > uint64(len(b)-8-sectionZeros-4) {
		return nil, fault.Corruptf("value dictionary has %d bytes of %s in a section of %d", n, name, len(b))
	}
	return b[8 : 8+n : len(b)], nil
}

// verify compares a payload with the checksum at the end of its section.
func verify(payload []byte, name string) error {
	all := payload[:cap(payload)]
	if got, want := encoding.BlockChecksum(payload), le.Uint32(all[len(all)-4:]); got != want {
		return fault.Checksumf("%s of the value dictionary have checksum %#08x, their bytes give %#08x", name, want, got)
	}
	return nil
}
