// Package ascii looks at characters of ASCII eight at a time.
package ascii

import "encoding/binary"

const (
	ones = 0x0101010101010101
	high = 0x80 * ones
)

// Only reports whether all bytes are ASCII.
func Only(b []byte) bool {
	for ; len(b) >= 32; b = b[32:] {
		w := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) |
			binary.LittleEndian.Uint64(b[16:]) | binary.LittleEndian.Uint64(b[24:])
		if !Only8(w) {
			return false
		}
	}
	for ; len(b) >= 8; b = b[8:] {
		if !Only8(binary.LittleEndian.Uint64(b)) {
			return false
		}
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// Only8 is Only for 8 bytes.
func Only8(w uint64) bool { return w&high == 0 }

// Upper8 turns 8 bytes of ASCII into upper case. A byte is a lower-case letter if adding 128-'a' sets its top bit, and adding
// 128-('z'+1) does not.
func Upper8(w uint64) uint64 {
	letters := (w + (0x80-'a')*ones) &^ (w + (0x80-'z'-1)*ones) & high
	return w - letters>>2
}
