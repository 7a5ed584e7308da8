package encoding

import (
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// The portable Roaring format, see "Roaring Bitmaps: Implementation of an Optimized Software Library" (Lemire et al.,
// 2018) and github.com/RoaringBitmap/RoaringFormatSpec. This package implements it, because neither reading nor
// writing needs a bitmap object, and because hostile bytes must be checked.
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

// roaringPlan is the smallest form of a bitmap: the kind of each container, and the total size.
type roaringPlan struct {
	containers int // those with a position
	runs       bool
	size       int
}

type containerPlan struct{ count, runs int }

func (p containerPlan) plainSize() int {
	if p.count <= maxArray {
		return 2 * p.count
	}
	return bitmapBytes
}

func (p containerPlan) runsSize() int { return runsHeaderLen + p.runs*runLen }

// positions returns a word of the stored bitmap: of the mask or its inverse.
func positions(valid bitmap.Bits, i int, negated bool) uint64 {
	w := valid.Word(i)
	if negated {
		return ^w & (^uint64(0) >> (64 - min(valid.Len-i, 64)))
	}
	return w
}

// planContainer counts the positions and runs of the container that begins at bit i.
func planContainer(valid bitmap.Bits, i int, negated bool) (p containerPlan) {
	var before uint64
	for end := min(i+containerLen, valid.Len); i < end; i += 64 {
		w := positions(valid, i, negated)
		p.count += bits.OnesCount64(w)
		p.runs += bits.OnesCount64(w &^ (w<<1 | before))
		before = w >> 63
	}
	return p
}

func planRoaring(valid bitmap.Bits, negated bool) (r roaringPlan) {
	plain, withRuns, anyRuns := 0, 0, false
	for i := 0; i < valid.Len; i += containerLen {
		c := planContainer(valid, i, negated)
		if c.count == 0 {
			continue
		}
		r.containers++
		plain += c.plainSize()
		withRuns += min(c.plainSize(), c.runsSize())
		anyRuns = anyRuns || c.runsSize() < c.plainSize()
	}
	plain += cookieLen + containerCountLen + r.containers*(descriptionLen+offsetLen)
	withRuns += cookieLen + (r.containers+7)/8 + r.containers*descriptionLen
	if r.containers >= offsetsFrom {
		withRuns += r.containers * offsetLen
	}
	r.size = plain
	if anyRuns && withRuns < plain {
		r.runs, r.size = true, withRuns
	}
	return r
}

// append appends the bitmap. The mask has at least one position.
func (r roaringPlan) append(dst []byte, valid bitmap.Bits, negated bool) []byte {
	start := len(dst)
	flags := 0
	if r.runs {
		dst = binary.LittleEndian.AppendUint32(dst, cookieRuns|uint32(r.containers-1)<<16)
		flags = len(dst)
		dst = append(dst, make([]byte, (r.containers+7)/8)...)
	} else {
		dst = binary.LittleEndian.AppendUint32(dst, cookiePlain)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(r.containers))
	}
	description := len(dst)
	dst = append(dst, make([]byte, r.containers*descriptionLen)...)
	offset := len(dst)
	withOffsets := !r.runs || r.containers >= offsetsFrom
	if withOffsets {
		dst = append(dst, make([]byte, r.containers*offsetLen)...)
	}
	k := 0
	for i := 0; i < valid.Len; i += containerLen {
		c := planContainer(valid, i, negated)
		if c.count == 0 {
			continue
		}
		binary.LittleEndian.PutUint16(dst[description+k*descriptionLen:], uint16(i>>containerBits))
		binary.LittleEndian.PutUint16(dst[description+k*descriptionLen+2:], uint16(c.count-1))
		if withOffsets {
			binary.LittleEndian.PutUint32(dst[offset+k*offsetLen:], uint32(len(dst)-start))
		}
		switch {
		case r.runs && c.runsSize() < c.plainSize():
			dst[flags+k/8] |= 1 << (k % 8)
			dst = appendRuns(dst, valid, i, negated, c.runs)
		case c.count <= maxArray:
			dst = appendArray(dst, valid, i, negated)
		default:
			dst = appendBitmap(dst, valid, i, negated)
		}
		k++
	}
	return dst
}

func appendArray(dst []byte, valid bitmap.Bits, first int, negated bool) []byte {
	for i := first; i < min(first+containerLen, valid.Len); i += 64 {
		for w := positions(valid, i, negated); w != 0; w &= w - 1 {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(i-first+bits.TrailingZeros64(w)))
		}
	}
	return dst
}

func appendBitmap(dst []byte, valid bitmap.Bits, first int, negated bool) []byte {
	for i := first; i < first+containerLen; i += 64 {
		var w uint64
		if i < valid.Len {
			w = positions(valid, i, negated)
		}
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

func appendRuns(dst []byte, valid bitmap.Bits, first int, negated bool, runs int) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(runs))
	at, begin := 0, -1
	end := min(first+containerLen, valid.Len)
	for i := first; i < end; i += 64 {
		w := positions(valid, i, negated)
		for at = 0; at < 64; {
			if begin < 0 { // find the next set bit
				z := bits.TrailingZeros64(w >> at)
				if at += z; at >= 64 {
					break
				}
				begin = i - first + at
			}
			at += bits.TrailingZeros64(^(w >> at))
			if at >= 64 {
				break
			}
			dst = appendRun(dst, begin, i-first+at)
			begin = -1
		}
	}
	if begin >= 0 {
		dst = appendRun(dst, begin, end-first)
	}
	return dst
}

func appendRun(dst []byte, begin, end int) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(begin))
	return binary.LittleEndian.AppendUint16(dst, uint16(end-begin-1))
}
