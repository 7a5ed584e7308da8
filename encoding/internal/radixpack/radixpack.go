// Package radixpack packs characters of small alphabets at their entropy: docs/format.md §7.5.
//
// A group of characters is one number in mixed radix: each character is a digit, its rank in the alphabet of its position,
// and the radix is the size of that alphabet. The first character is the most significant digit. The number takes as many
// bits as the largest of its kind, so that random characters of 36 letters take 5.2 bits each, and constant ones none.
// Positions repeat after a period: that of values of one length which have an alphabet for each place, as product codes
// and UUIDs do, or else that of one group. Example, "cab" in groups of three characters of the alphabet "abc":
//
//	(2 * 3 + 0) * 3 + 1 = 19, in five bits because the largest number is 26
//
// A number is unpacked as a fraction of the first number that is not of its kind: multiplied by the product of some
// radices, its integer part is these digits as one number, and its fraction is the rest. The integer part is the index of
// a table of up to four characters.
package radixpack

import (
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	// MaxPeriod is the most positions of a period.
	MaxPeriod = 256
	// Slack is how many bytes behind its end the memory that is unpacked to should have.
	Slack = 32

	maxWidth = 56 // bits of a group: the 64 bits from any byte on hold a number
	maxPart  = 32 // bits of a number that is unpacked as one fraction
)

var le = binary.LittleEndian

// Layout is alphabets, the one of each position of a period, and groups of positions.
type Layout struct {
	Alphabets [][]byte // characters in ascending order
	Positions []byte   // the alphabet of each position
	Groups    []byte   // positions of each group, less one
}

// ParseLayout takes a layout of so many alphabets, positions and groups from the start of b, and returns its length. The
// result refers to b, and to the memory of l. Errors wrap fault.ErrCorrupt.
//
//	size of each alphabet, less one
//	characters of each alphabet
//	the alphabet of each position, unless there is only one
//	positions of each group, less one
func (l *Layout) ParseLayout(b []byte, alphabets, period, groups int) (size int, err error) {
	if alphabets < 1 || period < 1 || period > MaxPeriod || groups < 1 || groups > period {
		return 0, fault.Corruptf("%d alphabets, %d positions, %d groups", alphabets, period, groups)
	}
	short := func() (int, error) { return 0, fault.Corruptf("layout is longer than %d bytes", len(b)) }
	if len(b) < alphabets {
		return short()
	}
	l.Alphabets = l.Alphabets[:0]
	at := alphabets
	for _, n := range b[:alphabets] {
		end := at + int(n) + 1
		if end > len(b) {
			return short()
		}
		chars := b[at:end:end]
		for i := range chars[1:] {
			if chars[i] >= chars[i+1] {
				return 0, fault.Corruptf("alphabet that does not ascend, at %d", at+i)
			}
		}
		l.Alphabets, at = append(l.Alphabets, chars), end
	}
	var none [MaxPeriod]byte
	l.Positions = append(l.Positions[:0], none[:period]...)
	if alphabets > 1 {
		if at+period > len(b) {
			return short()
		}
		copy(l.Positions, b[at:])
		at += period
	}
	if at+groups > len(b) {
		return short()
	}
	l.Groups = b[at : at+groups : at+groups]
	return at + groups, l.check()
}

// check looks for positions without an alphabet, and groups that are no period or too wide.
func (l *Layout) check() error {
	for i, a := range l.Positions {
		if int(a) >= len(l.Alphabets) {
			return fault.Corruptf("position %d has alphabet %d of %d", i, a, len(l.Alphabets))
		}
	}
	at := 0
	for _, n := range l.Groups {
		end := at + int(n) + 1
		if end > len(l.Positions) {
			return fault.Corruptf("groups of more than %d positions", len(l.Positions))
		}
		if _, width := l.kinds(at, end); width > maxWidth {
			return fault.Corruptf("group of positions %d to %d is wider than %d bits", at, end, maxWidth)
		}
		at = end
	}
	if at != len(l.Positions) {
		return fault.Corruptf("groups of %d positions instead of %d", at, len(l.Positions))
	}
	return nil
}

// kinds is how many numbers there are of some positions, and their width in bits; more than maxWidth if there are too many.
func (l *Layout) kinds(from, to int) (count uint64, width int) {
	count = 1
	for _, a := range l.Positions[from:to] {
		count *= uint64(len(l.Alphabets[a]))
		if width = bits.Len64(count - 1); width > maxWidth {
			return count, width
		}
	}
	return count, width
}

// Bits is the bits of a period.
func (l *Layout) Bits() (n int) {
	at := 0
	for _, g := range l.Groups {
		_, width := l.kinds(at, at+int(g)+1)
		n, at = n+width, at+int(g)+1
	}
	return n
}

// PackedLen is the bytes that so many characters take, the last period of which is filled up.
func (l *Layout) PackedLen(chars uint64) uint64 {
	period := uint64(len(l.Positions))
	periods := chars / period
	if chars%period > 0 {
		periods++
	}
	n := uint64(l.Bits())
	if hi, lo := bits.Mul64(periods, n); hi == 0 && lo < 1<<63 {
		return (lo + 7) / 8
	}
	return 1 << 60
}

// Append appends the layout, as ParseLayout takes it.
func (l *Layout) Append(dst []byte) []byte {
	for _, a := range l.Alphabets {
		dst = append(dst, byte(len(a)-1))
	}
	for _, a := range l.Alphabets {
		dst = append(dst, a...)
	}
	if len(l.Alphabets) > 1 {
		dst = append(dst, l.Positions...)
	}
	return append(dst, l.Groups...)
}

// len is the bytes that Append appends.
func (l *Layout) len() int {
	n := len(l.Alphabets) + len(l.Groups)
	for _, a := range l.Alphabets {
		n += len(a)
	}
	if len(l.Alphabets) > 1 {
		n += len(l.Positions)
	}
	return n
}
