package verify

import "fmt"

// FlippedBit is a checksum mismatch that a single bit explains: if it is flipped back, the bytes match their checksum.
type FlippedBit struct {
	Artifact string // location of the file or object
	Offset   int64  // offset of the byte
	Bit      int    // 0 is the least significant
	Err      error  // the mismatch
}

// Error implements error. It names the byte and the bit, too.
func (f *FlippedBit) Error() string {
	return fmt.Sprintf("%v; flipping bit %d of the byte at offset %d repairs it", f.Err, f.Bit, f.Offset)
}

// Unwrap returns the mismatch.
func (f *FlippedBit) Unwrap() error { return f.Err }
