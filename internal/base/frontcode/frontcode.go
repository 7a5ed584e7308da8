// Package frontcode writes byte strings as what they share with the one before and the rest: front coding, as in the blocks
// of LevelDB's tables and in the dictionaries of search engines (docs/format.md §7.5).
//
// The prefix of a value is as many bytes as it shares with the last value before it that is not empty; the rest follows. Every
// so many values is a restart: prefixes are not of values before it, so that the values from there on can be read by
// themselves.
// Example:
//
//	value         prefix  rest
//	/var/log      0       /var/log
//	/var/log/cron 8       /cron
//	/var/mail     5       mail
package frontcode

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	// Slack is how many bytes behind the rests may be read, and behind values may be overwritten.
	Slack = 32

	wide = 16 // bytes that are copied at a time
)

// Prefixes sets dst to the lengths of the prefixes of the values data[offsets[i]:offsets[i+1]], with a restart every so many
// of them, and returns their sum.
func Prefixes(dst []uint32, data []byte, offsets []int64, restart int) (sum int) {
	var before []byte
	for i := range dst {
		v := data[offsets[i]:offsets[i+1]]
		if i%restart == 0 {
			before = nil
		}
		n := CommonPrefix(before, v)
		dst[i] = uint32(n)
		sum += n
		if len(v) > 0 {
			before = v
		}
	}
	return sum
}

// CommonPrefix is the length of the longest common prefix.
func CommonPrefix(a, b []byte) (n int) {
	most := min(len(a), len(b))
	for ; n+8 <= most; n += 8 {
		if d := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); d != 0 {
			return n + bits.TrailingZeros64(d)/8
		}
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// Expand writes values, of which there are as many as prefixes, back to back to dst, and where each ends to offsets: the
// first ends at base plus its length. The rest of value i is rests[ends[i-1]:ends[i]], that of the first begins at from, and
// the last is the end of rests. before is the last value that is not empty before the first one, if there is none that is a
// restart between them; next is the first restart, and others follow after restart values each. offsets is as long as prefixes, and dst as the values. Bytes of rests behind its length,
// up to its capacity, may be read, and those of dst overwritten with anything. Errors wrap fault.ErrCorrupt.
func Expand[O int32 | int64](dst []byte, offsets []O, base O, prefixes []uint32, rests []byte, from int, ends []int32, before []byte, next, restart int) error {
	at := 0
	offsets, ends = offsets[:len(prefixes)], ends[:len(prefixes)]
	safeIn, safeOut := cap(rests)-Slack, cap(dst)-Slack
	out, in := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(rests))
	for i, p := range prefixes {
		if i == next {
			before, next = nil, next+restart
		}
		shared, to := int(p), int(ends[i])
		rest := to - from
		if shared > len(before) || shared+rest > len(dst)-at {
			return fault.Corruptf("value %d shares %d bytes with one of %d, and has %d more; %d left", i, shared, len(before), rest, len(dst)-at)
		}
		// What is copied too much of the one before is then overwritten: it lies before the place of the value, which keeps it.
		if shared+rest+at <= safeOut && to <= safeIn && cap(before)-len(before) >= wide {
			value := unsafe.Add(out, at)
			copyWide(value, unsafe.Pointer(unsafe.SliceData(before)), shared)
			copyWide(unsafe.Add(value, shared), unsafe.Add(in, from), rest)
		} else {
			copy(dst[at:], before[:shared])
			copy(dst[at+shared:], rests[from:to])
		}
		if shared+rest > 0 {
			before = dst[at : at+shared+rest]
		}
		at, from = at+shared+rest, to
		offsets[i] = base + O(at)
	}
	if at != len(dst) || from != len(rests) {
		return fault.Corruptf("values of %d bytes instead of %d, with %d of %d bytes of rests", at, len(dst), from, len(rests))
	}
	return nil
}

// copyWide copies n bytes, and up to wide more.
func copyWide(to, from unsafe.Pointer, n int) {
	*(*[wide]byte)(to) = *(*[wide]byte)(from)
	for i := wide; i < n; i += wide {
		*(*[wide]byte)(unsafe.Add(to, i)) = *(*[wide]byte)(unsafe.Add(from, i))
	}
}
