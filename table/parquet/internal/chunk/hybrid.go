package chunk

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// hybrid decodes numbers of some bits in runs, one kind after the other, as levels and codes of dictionaries are stored:
//
//	varint n<<1      value in whole bytes            n times the value
//	varint n<<1 | 1  n·width bytes                   8n packed values, the least significant bit first
//
// The bytes are followed by at least padding others, whatever they are.
type hybrid struct {
	b      []byte // without the padding
	width  uint
	at     int // of the next run
	run    int // values left of the current run
	value  uint32
	packed int // bit at which the next packed value begins; -1 in a run of one value
}

// padding is the number of bytes that may be read behind packed values and byte strings.
const padding = 32

func newHybrid(b []byte, width uint) hybrid { return hybrid{b: b, width: width, packed: -1} }

// next begins the next run. ok is false if there is none.
func (h *hybrid) next() (ok bool) {
	for h.run == 0 {
		if h.at >= len(h.b) {
			return false
		}
		head, n := uint64(h.b[h.at]), 1
		if head >= 0x80 {
			if head, n = binary.Uvarint(h.b[h.at:]); n <= 0 {
				return false
			}
		}
		h.at += n
		count := head >> 1
		if head&1 == 0 {
			size := int(h.width+7) / 8
			if size > len(h.b)-h.at || count > 1<<31 {
				return false
			}
			h.value = binary.LittleEndian.Uint32(h.b[h.at:][:4:4]) & uint32(1<<(8*size)-1)
			h.run, h.packed = int(count), -1
			if h.width < 32 && h.value>>h.width != 0 {
				return false
			}
			h.at += size
			continue
		}
		if h.width == 0 {
			if count > 1<<28 {
				return false
			}
			h.value, h.run, h.packed = 0, int(8*count), -1
			continue
		}
		left := uint64(len(h.b) - h.at)
		if count > (left+uint64(h.width)-1)/uint64(h.width) { // the last group may be cut off
			return false
		}
		size := min(count*uint64(h.width), left)
		h.packed, h.run = 8*h.at, int(8*size/uint64(h.width))
		h.at += int(size)
	}
	return true
}

// skip leaves out n values. ok is false if there are fewer.
func (h *hybrid) skip(n int) (ok bool) {
	for n > 0 {
		if !h.next() {
			return false
		}
		k := min(n, h.run)
		if h.packed >= 0 {
			h.packed += k * int(h.width)
		}
		h.run -= k
		n -= k
	}
	return true
}

// decode fills dst. ok is false if there are fewer values.
func (h *hybrid) decode(dst []uint32) (ok bool) {
	for len(dst) > 0 {
		if !h.next() {
			return false
		}
		k := min(len(dst), h.run)
		if h.packed < 0 {
			for i := range dst[:k] {
				dst[i] = h.value
			}
		} else {
			h.unpack(dst[:k])
		}
		h.run -= k
		dst = dst[k:]
	}
	return true
}

// unpack fills dst with packed values.
func (h *hybrid) unpack(dst []uint32) {
	b := h.b[:len(h.b)+padding]
	width, at := h.width, uint(h.packed)
	mask := uint32(1)<<width - 1
	h.packed += len(dst) * int(width)
	for len(dst) > 0 && at&7 != 0 {
		dst[0] = uint32(binary.LittleEndian.Uint64(b[at>>3:])>>(at&7)) & mask
		at += width
		dst = dst[1:]
	}
	if width <= 8 {
		p := at >> 3
		for ; len(dst) >= 8; dst = dst[8:] {
			x := binary.LittleEndian.Uint64(b[p:])
			d := (*[8]uint32)(dst)
			d[0] = uint32(x) & mask
			d[1] = uint32(x>>width) & mask
			d[2] = uint32(x>>(2*width)) & mask
			d[3] = uint32(x>>(3*width)) & mask
			d[4] = uint32(x>>(4*width)) & mask
			d[5] = uint32(x>>(5*width)) & mask
			d[6] = uint32(x>>(6*width)) & mask
			d[7] = uint32(x>>(7*width)) & mask
			p += width
		}
		at = p << 3
	} else if width <= 16 {
		p := at >> 3
		for ; len(dst) >= 8; dst = dst[8:] { // four values take width/2 bytes, and at most 64 bits
			d := (*[8]uint32)(dst)
			x := binary.LittleEndian.Uint64(b[p:])
			half := 4 * width
			y := binary.LittleEndian.Uint64(b[p+half>>3:]) >> (half & 7)
			d[0] = uint32(x) & mask
			d[1] = uint32(x>>width) & mask
			d[2] = uint32(x>>(2*width)) & mask
			d[3] = uint32(x>>(3*width)) & mask
			d[4] = uint32(y) & mask
			d[5] = uint32(y>>width) & mask
			d[6] = uint32(y>>(2*width)) & mask
			d[7] = uint32(y>>(3*width)) & mask
			p += width
		}
		at = p << 3
	} else if width <= 28 {
		p, w := at>>3, width&31
		for ; len(dst) >= 8; dst = dst[8:] { // two values take width/4 bytes, and at most 62 bits with those before them
			d := (*[8]uint32)(dst)
			x := binary.LittleEndian.Uint64(b[p:])
			y := binary.LittleEndian.Uint64(b[p+2*w>>3:]) >> (2 * w & 7)
			d[0] = uint32(x) & mask
			d[1] = uint32(x>>w) & mask
			d[2] = uint32(y) & mask
			d[3] = uint32(y>>w) & mask
			x = binary.LittleEndian.Uint64(b[p+4*w>>3:]) >> (4 * w & 7)
			y = binary.LittleEndian.Uint64(b[p+6*w>>3:]) >> (6 * w & 7)
			d[4] = uint32(x) & mask
			d[5] = uint32(x>>w) & mask
			d[6] = uint32(y) & mask
			d[7] = uint32(y>>w) & mask
			p += width
		}
		at = p << 3
	}
	for i := range dst {
		dst[i] = uint32(binary.LittleEndian.Uint64(b[at>>3:])>>(at&7)) & mask
		at += width
	}
}

// bits decodes n values of one bit into a bitmap, which is zero from bit at on, and counts the ones. Without a bitmap it
// only counts.
func (h *hybrid) bits(dst []byte, at, n int) (ones int, ok bool) {
	for n > 0 {
		if !h.next() {
			return 0, false
		}
		k := min(n, h.run)
		switch {
		case h.packed >= 0:
			packed := bitmap.Bits{Data: h.b, Off: h.packed, Len: k}
			ones += packed.Count()
			if dst != nil {
				packed.CopyTo(dst, at)
			}
			h.packed += k
		case h.value != 0:
			ones += k
			if dst != nil {
				bitmap.SetRange(dst, at, k)
			}
		}
		h.run -= k
		at += k
		n -= k
	}
	return ones, true
}
