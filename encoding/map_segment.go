package encoding

import (
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// segment is a view of one segment.
type segment struct {
	first, offset     uint64
	count             int
	minCount, minSize uint32
	counts, sizes     deltas
}

// segment returns a view of segment i of a checked map.
func (m *BlockMap) segment(i int) segment {
	s, _ := m.parse(i)
	return s
}

// parse checks that the fields of segment i fit its bytes. The caller checks counts, sizes and sums.
func (m *BlockMap) parse(i int) (segment, error) {
	b := m.b[m.record(i):m.record(i+1)]
	if len(b) < segmentHeader {
		return segment{}, fault.Corruptf("block map segment %d: %d bytes", i, len(b))
	}
	s := segment{
		first: le.Uint64(b), offset: le.Uint64(b[8:]),
		minCount: le.Uint32(b[16:]), minSize: le.Uint32(b[20:]),
		count: int(le.Uint16(b[26:])),
	}
	countBits, sizeBits := b[24], b[25]
	if !validBits(countBits) || !validBits(sizeBits) {
		return segment{}, fault.Corruptf("block map segment %d: widths of %d and %d bits", i, countBits, sizeBits)
	}
	s.counts.width, s.sizes.width = int(countBits/8), int(sizeBits/8)
	sizesAt := (segmentHeader + s.count*s.counts.width + 3) &^ 3
	end := sizesAt + s.count*s.sizes.width
	if end > len(b) {
		return segment{}, fault.Corruptf("block map segment %d: %d blocks need %d bytes, has %d", i, s.count, end, len(b))
	}
	s.counts.b, s.sizes.b = b[segmentHeader:sizesAt], b[sizesAt:end]
	return s, nil
}

func validBits(b byte) bool { return b == 8 || b == 16 || b == 32 }

func (s *segment) countAt(i int) int { return int(s.minCount) + int(s.counts.at(i)) }
func (s *segment) sizeAt(i int) int  { return int(s.minSize) + int(s.sizes.at(i)) }

// valuesBefore is the number of values in the first i blocks.
func (s *segment) valuesBefore(i int) uint64 {
	return uint64(i)*uint64(s.minCount) + s.counts.sum(0, i)
}

// bytesBefore is the number of bytes of the first i blocks.
func (s *segment) bytesBefore(i int) uint64 {
	return uint64(i)*uint64(s.minSize) + s.sizes.sum(0, i)
}

// find returns the index of the block with the value at rel, counted from the first value of the segment.
func (s *segment) find(rel uint64) int {
	const step = 32
	i := 0
	for ; i+step <= s.count; i += step {
		n := step*uint64(s.minCount) + s.counts.sum(i, i+step)
		if rel < n {
			break
		}
		rel -= n
	}
	for ; i < s.count-1; i++ {
		n := uint64(s.countAt(i))
		if rel < n {
			break
		}
		rel -= n
	}
	return i
}

// deltas are unsigned numbers of 1, 2 or 4 bytes.
type deltas struct {
	b     []byte
	width int
}

func (d deltas) at(i int) uint32 {
	switch d.width {
	case 1:
		return uint32(d.b[i])
	case 2:
		return uint32(le.Uint16(d.b[2*i:]))
	}
	return le.Uint32(d.b[4*i:])
}

// fit reports whether base plus each of the n numbers is at least 1, below 2³²-1, and an int here.
func (d deltas) fit(base uint32, n int) bool {
	room := min(uint64(math.MaxInt), math.MaxUint32-1)
	if base == 0 || uint64(base) > room {
		return false
	}
	if room -= uint64(base); room >= 1<<(8*d.width)-1 {
		return true
	}
	for i := range n {
		if uint64(d.at(i)) > room {
			return false
		}
	}
	return true
}

// sum adds the numbers from i up to (not including) j, eight bytes at a time.
func (d deltas) sum(i, j int) uint64 {
	b := d.b[i*d.width : j*d.width]
	var total uint64
	switch d.width {
	case 1:
		const even = 0x00ff00ff00ff00ff
		for ; len(b) >= 8; b = b[8:] {
			w := le.Uint64(b)
			total += (w&even + w>>8&even) * 0x0001000100010001 >> 48
		}
		for _, x := range b {
			total += uint64(x)
		}
	case 2:
		const even = 0x0000ffff0000ffff
		for ; len(b) >= 8; b = b[8:] {
			w := le.Uint64(b)
			w = w&even + w>>16&even
			total += w&math.MaxUint32 + w>>32
		}
		for ; len(b) >= 2; b = b[2:] {
			total += uint64(le.Uint16(b))
		}
	default:
		for ; len(b) >= 4; b = b[4:] {
			total += uint64(le.Uint32(b))
		}
	}
	return total
}
