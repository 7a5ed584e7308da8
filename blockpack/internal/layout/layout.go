// Package layout has all structures of a Blockpack file but the data of columns: footer, header, block index, range
// index, column index, trace index, compact index, and the head and trace table of a block. Bytes are parsed where
// they are, and only as far as a reader asks; what is parsed refers to the bytes that were given, which must not
// change. docs/blockpack.md draws all bytes.
//
// Parsers take any bytes: counts and lengths are compared with the bytes left and with the limits of the format
// before memory is taken. Errors are of package fault, with the structure, the element, and the offset in the file.
package layout

import (
	"fmt"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Sizes and magic numbers.
const (
	Magic        = 0xC011FEA1 // begins the header and each block
	CompactMagic = 0xC01DC1DE // begins the compact index

	FooterSize    = 22
	HeaderSize    = 21
	BlockHeadSize = 24 // of the fixed part

	FooterVersion  = 3
	Version10      = 10
	Version11      = 11
	CompactVersion = 1
	TraceVersion   = 1 // with rows
	TraceVersion2  = 2 // without rows
)

// Limits of the format.
const (
	MaxSpans        = 1_000_000     // in a block
	MaxBlocks       = 100_000       // in a file
	MaxColumns      = 10_000        // in a block
	MaxBlockBytes   = 1_073_741_824 // of a block
	MaxMetadata     = 104_857_600   // bytes of metadata
	MaxTraces       = 1_000_000     // in a block
	MaxCompactBytes = 52_428_800    // of the compact index

	// MaxIndexed is the number of blocks of a file, and of spans of a block, that a trace index can refer to.
	MaxIndexed = 65_535
)

// TraceID is the id of a trace.
type TraceID [16]byte

// cursor reads the fields of structures.
type cursor struct{ fields.Cursor }

// id is a trace id.
func (c *cursor) id(label string) (id TraceID) {
	if b := c.Take(label, len(id)); b != nil {
		id = TraceID(b)
		c.Note(len(b), label, fields.Hex(b))
	}
	return id
}

// UnsupportedError is a file of another version. It wraps fault.ErrUnsupported.
type UnsupportedError struct {
	Version int // of the header; 0 if the footer did not lead to one
	Footer  int
}

func (e *UnsupportedError) Error() string {
	if e.Version == 0 {
		return fmt.Sprintf("%v: footer of version %d, this program reads version %d", fault.ErrUnsupported, e.Footer, FooterVersion)
	}
	return fmt.Sprintf("%v: version %d with footer %d, this program reads versions %d and %d", fault.ErrUnsupported, e.Version, e.Footer, Version10, Version11)
}

// Unwrap gives fault.ErrUnsupported.
func (e *UnsupportedError) Unwrap() error { return fault.ErrUnsupported }
