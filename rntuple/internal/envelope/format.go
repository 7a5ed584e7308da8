package envelope

import "fmt"

// Version is the version of the format that the writer states. Only the epoch decides whether a file can be read.
type Version struct{ Epoch, Major, Minor, Patch uint16 }

// String is as in "1.0.0.2".
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d.%d", v.Epoch, v.Major, v.Minor, v.Patch)
}

// Format is a way to lay out the metadata.
type Format uint8

// The formats that are known.
const (
	V1  Format = iota // 1.0.x, by ROOT 6.34 and later
	V02               // 0.2.0.0, by ROOT 6.30 to 6.33 and development versions of 6.34
	RC1               // by ROOT 6.20 to 6.29: listed only
)

// String names the format and the releases of ROOT that write it.
func (f Format) String() string {
	switch f {
	case V1:
		return "1.0"
	case V02:
		return "0.2.0.0 (ROOT 6.30 to 6.33)"
	}
	return "of a pre-release (ROOT 6.20 to 6.29)"
}

// ListedOnly tells that at most schema and counts can be read, with [ParseListing].
func (f Format) ListedOnly() bool { return f >= RC1 }
