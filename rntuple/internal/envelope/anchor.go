package envelope

import (
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/wire"
)

// The classes of the keys that hold an anchor.
const (
	AnchorClass      = "ROOT::RNTuple"
	EarlyAnchorClass = "ROOT::Experimental::RNTuple" // before format 1.0
)

// Anchor is where the reading of an ntuple begins. All its numbers are big-endian on disk:
//
//	0   u32    0x40000000 | number of bytes from 4 on, without the checksum
//	4   u16    class version, 2
//	6   4×u16  epoch, major, minor, patch
//	14  3×u64  header: offset, size, uncompressed length
//	38  3×u64  footer
//	62  u64    maximum size of a key
//	70  …      what newer versions add
//	    u64    XXH3 of all from 6 on
type Anchor struct {
	ClassVersion uint16
	Format       Format
	Version      Version
	Header       Link
	Footer       Link
	MaxKeySize   uint64 // longer blobs are in several keys; 0: none are
}

const (
	countFlag    = 0x4000_0000
	anchorFields = 6  // offset of the epoch
	anchorEnd    = 70 // of what is known
	anchorClass  = 2

	// AnchorSize is the length in bytes of an anchor of format 1.0.
	AnchorSize = anchorEnd + checksumSize
)

// ParseAnchor reads an anchor, the uncompressed payload b of a key of the given class. Formats that cannot be read at all
// are errors that name them.
func ParseAnchor(b []byte, class string) (a Anchor, err error) {
	defer func() { err = fault.In(err, "anchor", -1) }()
	if len(b) < anchorFields {
		return a, fault.Corruptf("anchor of %d bytes", len(b))
	}
	count := binary.BigEndian.Uint32(b)
	if count&countFlag == 0 {
		return a, fault.Corruptf("byte count %#x without its flag", count)
	}
	end := int64(count&^countFlag) + 4
	a.ClassVersion = binary.BigEndian.Uint16(b[4:])
	switch class {
	case AnchorClass:
		if a.ClassVersion < anchorClass {
			return a, fault.Unsupportedf("class version %d of %s", a.ClassVersion, class)
		}
		return a, a.parse(b, end, end+checksumSize, AnchorSize)
	case EarlyAnchorClass:
		return a, a.parseEarly(b, end)
	}
	return a, fault.Unsupportedf("class %q is none of an RNTuple", class)
}

// parse reads an anchor of 64-bit numbers, whose fields end at end, and whose last bytes are the checksum.
func (a *Anchor) parse(b []byte, end, size int64, smallest int) error {
	if size != int64(len(b)) || size < int64(smallest) {
		return fault.Corruptf("byte count says that the anchor has %d bytes, it has %d", size, len(b))
	}
	fields := b[anchorFields : size-checksumSize]
	if found := binary.BigEndian.Uint64(b[size-checksumSize:]); found != xxh3.Hash(fields) {
		return fault.In(fault.Checksumf("XXH3 differs"), "", size-checksumSize)
	}
	c := wire.Coder{Buf: b, Pos: anchorFields, End: len(b) - checksumSize, BigEndian: true}
	a.code(&c, end >= anchorEnd && smallest == AnchorSize)
	return a.checkVersion()
}

func (a *Anchor) checkVersion() error {
	switch {
	case a.Format == V1 && a.Version.Epoch == 1:
		return nil
	case a.Format == V02 && a.Version == (Version{0, 2, 0, 0}):
		return nil
	case a.Version.Epoch == 0:
		return fault.Unsupportedf("RNTuple format %v, of a pre-release (class version %d, %s)", a.Version, a.ClassVersion, a.Releases())
	}
	return fault.Unsupportedf("RNTuple format %v: epoch %d is not known", a.Version, a.Version.Epoch)
}

// Releases names the releases of ROOT whose anchors look like this one.
func (a Anchor) Releases() string {
	switch {
	case a.Format == V1:
		return "ROOT 6.34 and later"
	case a.ClassVersion == 6:
		return "development versions of ROOT 6.34"
	case a.ClassVersion == 4:
		return "ROOT 6.30 to 6.33"
	case a.ClassVersion == 3:
		return "ROOT 6.28 and 6.29"
	}
	return "ROOT 6.20 to 6.26"
}

// code describes the fields from the epoch on. Before version 6 of the class there was no maximum size of a key.
func (a *Anchor) code(c *wire.Coder, sized bool) {
	c.U16("epoch", &a.Version.Epoch)
	c.U16("major version", &a.Version.Major)
	c.U16("minor version", &a.Version.Minor)
	c.U16("patch", &a.Version.Patch)
	c.U64("header: offset", &a.Header.Offset)
	c.U64("bytes", &a.Header.Size)
	c.U64("unpacked", &a.Header.Length)
	c.U64("footer: offset", &a.Footer.Offset)
	c.U64("bytes", &a.Footer.Size)
	c.U64("unpacked", &a.Footer.Length)
	if sized {
		c.U64("max key size", &a.MaxKeySize)
	}
}

// CodeAnchor describes an anchor of format 1.0 up to its maximum size of a key.
func CodeAnchor(c *wire.Coder, a *Anchor) {
	count, class := uint32(countFlag|(anchorEnd-4)), uint16(anchorClass)
	c.U32("byte count", &count)
	c.U16("class version", &class)
	a.code(c, true)
}

// AppendAnchor appends an anchor of format 1.0 with its checksum.
func AppendAnchor(dst []byte, a Anchor) []byte {
	c := wire.Coder{Buf: dst, Writing: true, BigEndian: true}
	CodeAnchor(&c, &a)
	return binary.BigEndian.AppendUint64(c.Buf, xxh3.Hash(c.Buf[len(dst)+anchorFields:]))
}

// Check tells whether header and footer can lie in a file of that size, and have lengths that their sizes allow.
func (a Anchor) Check(fileSize int64) error {
	for _, e := range []struct {
		kind Kind
		link Link
	}{{KindHeader, a.Header}, {KindFooter, a.Footer}} {
		if err := e.link.Check(fileSize, a.MaxKeySize); err != nil {
			return fault.In(fault.In(err, e.kind.String(), -1), "anchor", -1)
		}
	}
	if a.Header.Offset == a.Footer.Offset {
		return fault.In(fault.Corruptf("header and footer both at %d", a.Header.Offset), "anchor", -1)
	}
	return nil
}

// Check tells whether the envelope can lie in a file of that size, and can have its length: compression makes no
// chunk of less than 10 bytes out of 16 MiB.
func (l Link) Check(fileSize int64, maxKey uint64) error {
	if err := l.Locator.Check(fileSize, maxKey); err != nil {
		return err
	}
	const chunk, smallest = 1<<24 - 1, 10
	most := uint64(math.MaxInt64)
	if chunks := l.Size / smallest; chunks < most/chunk {
		most = chunks * chunk
	}
	if l.Length < earlyEnvelope || l.Length < l.Size || l.Length > max(most, l.Size) {
		return fault.Corruptf("envelope of %d bytes, stored in %d", l.Length, l.Size)
	}
	return nil
}

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
