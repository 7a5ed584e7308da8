package encoding

import (
	"encoding/binary"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// The portable Roaring format, see "Roaring Bitmaps: Implementation of an Optimized Software Library" (Lemire et al.,
// 2018) and github.com/RoaringBitmap/RoaringFormatSpec. Reading needs no bitmap object, which would take memory for each block, and checks hostile bytes.
//
//	u32 cookie       12346, then u32 number of containers C; or
//	                 12347 | C-1 << 16, then a bit for each container: it holds runs
//	C * (u16, u16)   key (the high 16 bits of its positions), number of positions - 1
//	C * u32          offset of each container from the cookie; absent with cookie 12347 and C < 4
//	containers       array: u16 positions, at most 4096; bitmap: 1024 u64, if more;
//	                 runs: u16 number of runs, then (u16 first, u16 length - 1) for each
const (
	cookiePlain       = 12346
	cookieRuns        = 12347
	offsetsFrom       = 4
	maxArray          = 4096
	bitmapBytes       = 8192
	containerBits     = 16
	containerLen      = 1 << containerBits
	maxContainers     = 1 << 16
	descriptionLen    = 4
	offsetLen         = 4
	runLen            = 4
	runsHeaderLen     = 2
	cookieLen         = 4
	containerCountLen = 4
)

// roaringHeader is the header before the containers.
type roaringHeader struct {
	count        int
	runs         []byte // a bit for each container, nil without runs
	descriptions []byte
}

func parseRoaringHeader(b []byte) (h roaringHeader, rest []byte, err error) {
	short := func() (roaringHeader, []byte, error) {
		return roaringHeader{}, nil, fault.Corruptf("presence bitmap ends in its header")
	}
	if len(b) < cookieLen {
		return short()
	}
	cookie := binary.LittleEndian.Uint32(b)
	b = b[cookieLen:]
	offsets := true
	switch {
	case cookie == cookiePlain:
		if len(b) < containerCountLen {
			return short()
		}
		count := binary.LittleEndian.Uint32(b)
		if count > maxContainers {
			return roaringHeader{}, nil, fault.Corruptf("presence bitmap claims %d containers", count)
		}
		h.count = int(count)
		b = b[containerCountLen:]
	case cookie&0xffff == cookieRuns:
		h.count = int(cookie>>16) + 1
		flags := (h.count + 7) / 8
		if len(b) < flags {
			return short()
		}
		h.runs, b = b[:flags], b[flags:]
		offsets = h.count >= offsetsFrom
	default:
		return roaringHeader{}, nil, fault.Corruptf("presence bitmap has unknown cookie %#x", cookie)
	}
	size := h.count * descriptionLen
	if offsets {
		size += h.count * offsetLen
	}
	if len(b) < size {
		return short()
	}
	h.descriptions = b[:h.count*descriptionLen]
	return h, b[size:], nil
}

// readRoaring sets the bits of dst at the positions of the bitmap to value, and returns their number. Positions must
// ascend and be below n.
func readRoaring(b []byte, n int, dst []byte, off int, value bool) (int, error) {
	h, b, err := parseRoaringHeader(b)
	if err != nil {
		return 0, err
	}
	total, last := 0, -1
	for i := range h.count {
		d := h.descriptions[i*descriptionLen:]
		key := int(binary.LittleEndian.Uint16(d))
		count := int(binary.LittleEndian.Uint16(d[2:])) + 1
		if key <= last {
			return 0, fault.Corruptf("presence bitmap has container %d after %d", key, last)
		}
		last = key
		c := container{count: count, first: key << containerBits, dst: dst, off: off, value: value}
		c.limit = min(n-c.first, containerLen)
		if c.limit <= 0 {
			return 0, fault.Corruptf("presence bitmap holds position %d of %d", c.first, n)
		}
		switch {
		case h.runs != nil && h.runs[i/8]>>(i%8)&1 != 0:
			b, err = c.readRuns(b)
		case count <= maxArray:
			b, err = c.readArray(b)
		default:
			b, err = c.readBitmap(b)
		}
		if err != nil {
			return 0, err
		}
		total += count
	}
	return total, nil
}

// container is a container to be read: count positions from first on, below limit.
type container struct {
	count, first, limit int
	dst                 []byte
	off                 int
	value               bool
}

func (c *container) readArray(b []byte) ([]byte, error) {
	if len(b) < 2*c.count {
		return nil, fault.Corruptf("presence bitmap ends in an array of %d", c.count)
	}
	positions, b := b[:2*c.count], b[2*c.count:]
	last := -1
	at := c.off + c.first
	for len(positions) >= 2 {
		p := int(binary.LittleEndian.Uint16(positions))
		positions = positions[2:]
		if p <= last || p >= c.limit {
			return nil, fault.Corruptf("presence bitmap holds position %d after %d of %d", p, last, c.limit)
		}
		last = p
		if c.dst == nil {
			continue
		}
		if bit := at + p; c.value {
			c.dst[bit>>3] |= 1 << (bit & 7)
		} else {
			c.dst[bit>>3] &^= 1 << (bit & 7)
		}
	}
	return b, nil
}

func (c *container) readBitmap(b []byte) ([]byte, error) {
	if len(b) < bitmapBytes {
		return nil, fault.Corruptf("presence bitmap ends in a container")
	}
	words, b := b[:bitmapBytes], b[bitmapBytes:]
	set := 0
	for i := 0; i < containerLen; i += 64 {
		w := binary.LittleEndian.Uint64(words[i/8:])
		k := min(c.limit-i, 64)
		if k < 64 && w>>max(k, 0) != 0 {
			return nil, fault.Corruptf("presence bitmap holds a position past %d", c.limit)
		}
		set += bits.OnesCount64(w)
		if c.dst == nil || k <= 0 {
			continue
		}
		if !c.value {
			w = ^w
		}
		bitmap.PutWord(c.dst, c.off+c.first+i, w, k)
	}
	if set != c.count {
		return nil, fault.Corruptf("presence bitmap holds %d positions, announces %d", set, c.count)
	}
	return b, nil
}

func (c *container) readRuns(b []byte) ([]byte, error) {
	if len(b) < runsHeaderLen {
		return nil, fault.Corruptf("presence bitmap ends in a container")
	}
	count := int(binary.LittleEndian.Uint16(b))
	b = b[runsHeaderLen:]
	if len(b) < count*runLen {
		return nil, fault.Corruptf("presence bitmap ends in %d runs", count)
	}
	next, set := 0, 0
	for range count {
		first := int(binary.LittleEndian.Uint16(b))
		n := int(binary.LittleEndian.Uint16(b[2:])) + 1
		b = b[runLen:]
		if first < next || first+n > c.limit {
			return nil, fault.Corruptf("presence bitmap has a run of %d at %d after %d of %d", n, first, next, c.limit)
		}
		next = first + n
		set += n
		fill(c.dst, c.off+c.first+first, n, c.value)
	}
	if set != c.count {
		return nil, fault.Corruptf("presence bitmap holds %d positions, announces %d", set, c.count)
	}
	return b, nil
}

// newRoaring is the smallest bitmap of the values of a mask or, if negated, of its nulls.
func newRoaring(valid bitmap.Bits, negated bool) *roaring.Bitmap {
	words := make([]uint64, (valid.Len+63)/64)
	for i := range words {
		if words[i] = valid.Word(64 * i); negated {
			words[i] = ^words[i] & (^uint64(0) >> (64 - min(valid.Len-64*i, 64)))
		}
	}
	b := roaring.FromDense(words, false)
	b.RunOptimize()
	return b
}
