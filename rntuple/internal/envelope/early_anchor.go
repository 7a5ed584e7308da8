package envelope

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	earlyAnchorSize = 58 // of class versions 0 and 3
	v02AnchorSize   = 70 // of class version 4
	earlyEnvelope   = 8  // the shortest envelope
)

// parseEarly reads an anchor from before format 1.0, whose byte count ends at end:
//
//	class version 4  as 1.0, up to 62; the checksum follows, and is counted
//	class version 6  as 1.0
//	others           6 u32 checksum of the class, u32 version, u32 size, then for header and footer
//	                 u64 offset, u32 size, u32 length, and 8 bytes of no use
func (a *Anchor) parseEarly(b []byte, end int64) error {
	switch a.ClassVersion {
	case 4:
		a.Format = V02
		return a.parse(b, end, end, v02AnchorSize)
	case 6:
		a.Format = V02
		return a.parse(b, end, end+checksumSize, AnchorSize)
	}
	if a.ClassVersion != 0 && a.ClassVersion != 3 || len(b) != earlyAnchorSize {
		return fault.Unsupportedf("class version %d of %s with an anchor of %d bytes, of a development version before ROOT 6.34", a.ClassVersion, EarlyAnchorClass, len(b))
	}
	if end != earlyAnchorSize {
		return fault.Corruptf("byte count says that the anchor has %d bytes, it has %d", end, len(b))
	}
	a.Format = RC1
	a.Header, a.Footer = earlyLink(b[18:]), earlyLink(b[34:])
	return nil
}

func earlyLink(b []byte) Link {
	return Link{
		Length:  uint64(binary.BigEndian.Uint32(b[12:])),
		Locator: Locator{Offset: binary.BigEndian.Uint64(b), Size: uint64(binary.BigEndian.Uint32(b[8:]))},
	}
}
