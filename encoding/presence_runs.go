package encoding

import (
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Runs, kind 4 (edition 2026): the lengths of runs of values and of nulls, which alternate, less one, as Exponential-Golomb
// codes of an order for each of the two (Teuhola, "A compression method for clustered bit-vectors", 1978). Codes begin at
// the least significant bit, one after the other, without gaps.
//
//	04 | u8 1 if the first run is one of nulls | u8 order of values | u8 order of nulls | codes, to the end
//
// A code of order k of x, where y = (x >> k) + 1 has m+1 bits: m ones, a zero, the lower m bits of y, the lower k bits of x.
//
// Example, 200 slots of which number 5 is null: runs of 5 and 194 values, and of 1 null, in orders 3 and 0:
//
//	04 00 03 00 | e8 65 00
const (
	runsHead   = 4
	maxOrder   = 16
	maxPrefix  = 20      // ones of a code
	maxRunBits = 1 << 20 // more positions have no runs
)

// runCounts says of the runs of one kind how many have each number of bits, less one.
type runCounts [maxPrefix + 2]int

// order is the order whose codes take least, about, and the number of bits.
func (c *runCounts) order() (best, size int) {
	for k := range maxOrder + 1 {
		all := 0
		for l, n := range c {
			all += n * (1 + k + 2*max(l-k, 0))
		}
		if k == 0 || all < size {
			best, size = k, all
		}
	}
	return best, size
}

// eachRun calls f with the length of each run: of values if the first is, then of the others in turn.
func eachRun(valid bitmap.Bits, f func(length int, null bool)) {
	null := !valid.At(0)
	length := 0
	for i := 0; i < valid.Len; i += 64 {
		w, left := valid.Word(i), min(valid.Len-i, 64)
		for left > 0 {
			same := w
			if !null {
				same = ^w
			}
			n := min(bits.TrailingZeros64(same), left)
			length += n
			if left -= n; left > 0 {
				f(length, null)
				null, length = !null, 0
				w >>= n
			}
		}
	}
	f(length, null)
}

// appendRuns appends the section of positions of which some are null and some are not, if it has less than limit bytes.
func appendRuns(dst []byte, valid bitmap.Bits, limit int) ([]byte, bool) {
	if valid.Len > maxRunBits {
		return dst, false
	}
	var counts [2]runCounts
	eachRun(valid, func(length int, null bool) { counts[bitmap.Bit(null)][bits.Len(uint(length-1))]++ })
	values, size := counts[0].order()
	nulls, more := counts[1].order()
	if runsHead+(size+more+7)/8 >= limit {
		return dst, false
	}
	start := len(dst)
	dst = append(dst, kindRuns, byte(bitmap.Bit(!valid.At(0))), byte(values), byte(nulls))
	pending, n := uint64(0), 0
	eachRun(valid, func(length int, null bool) {
		k := values
		if null {
			k = nulls
		}
		x := uint64(length - 1)
		y := x>>k + 1
		m := bits.Len64(y) - 1
		code := uint64(1)<<m - 1 | (y&(1<<m-1))<<(m+1) | (x&(1<<k-1))<<(2*m+1)
		pending |= code << n
		for n += 2*m + 1 + k; n >= 8; n -= 8 {
			dst = append(dst, byte(pending))
			pending >>= 8
		}
	})
	if n > 0 {
		dst = append(dst, byte(pending))
	}
	return dst, len(dst)-start < limit
}

// readRuns clears the bits of nulls in dst, where all n are set, and returns their number. dst may be nil.
func readRuns(b []byte, n int, dst []byte, off int) (nulls int, err error) {
	if len(b) < runsHead-1 || b[0] > 1 || b[1] > maxOrder || b[2] > maxOrder {
		return 0, fault.Corruptf("presence of runs has no valid head: % x", b[:min(len(b), runsHead-1)])
	}
	null := b[0] == 1
	orders := [2]int{int(b[1]), int(b[2])}
	codes := bitmap.Bits{Data: b[runsHead-1:], Len: 8 * (len(b) - (runsHead - 1))}
	bit := 0
	for at := 0; at < n; null = !null {
		w := codes.Word(bit)
		k := orders[bitmap.Bit(null)]
		m := bits.TrailingZeros64(^w)
		if m > maxPrefix {
			return 0, fault.Corruptf("presence has a run of 2^%d or more at bit %d, of %d positions", m, bit, n)
		}
		y := w>>(m+1)&(1<<m-1) | 1<<m
		length := (y-1)<<k + w>>(2*m+1)&(1<<k-1) + 1
		bit += 2*m + 1 + k
		if length > uint64(n-at) || bit > codes.Len {
			return 0, fault.Corruptf("presence has a run of %d positions at %d of %d, at bit %d of %d", length, at, n, bit, codes.Len)
		}
		if null {
			nulls += int(length)
			if dst != nil {
				bitmap.ClearRange(dst, off+at, int(length))
			}
		}
		at += int(length)
	}
	if bit+7 < codes.Len || codes.Word(bit) != 0 {
		return 0, fault.Corruptf("presence of runs ends at bit %d of %d", bit, codes.Len)
	}
	return nulls, nil
}
