package envelope

import (
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// The types of locators.
const (
	LocatorSimple uint8 = 0 // i32 size, u64 offset
	LocatorLarge  uint8 = 1 // u64 size, u64 offset
	locatorURI    uint8 = 0x80
)

// Locator says where bytes lie in the file. It may be of a type that this version does not know; such bytes cannot be read.
type Locator struct {
	Offset, Size uint64
	Type         uint8
	Reserved     uint8
}

// Check tells whether the bytes can be in a file of that size. If there are more than the anchor's maximum size of a
// key, at the offset are only so many of them.
func (l Locator) Check(fileSize int64, maxKey uint64) error {
	if l.Type > LocatorLarge {
		return fault.Unsupportedf("locator of type %d", l.Type)
	}
	first := l.Size
	if maxKey > 0 {
		first = min(first, maxKey)
	}
	if l.Size > uint64(fileSize) || l.Offset > uint64(fileSize)-first {
		return fault.Corruptf("%d bytes at %d lie behind the end of the file, %d", l.Size, l.Offset, fileSize)
	}
	return nil
}

// End is the offset of the byte behind. It is only meaningful after [Locator.Check].
func (l Locator) End() uint64 { return l.Offset + l.Size }

// Link leads to an envelope: where it lies, and its uncompressed length in bytes.
type Link struct {
	Length uint64
	Locator
}

const minLocator = 4

// locator is
//
//	i32 size, u64 offset                                    if the size is not negative, else, with the word negated,
//	u16 size of the locator, u8 reserved, u8 type ┃ content
func (w *coder) locator(l *Locator) {
	if w.Writing {
		w.putLocator(l)
		return
	}
	start := w.Pos
	var word uint32
	w.U32("size", &word)
	if int32(word) >= 0 {
		l.Size, l.Type = uint64(word), LocatorSimple
		w.U64("offset", &l.Offset)
		return
	}
	word = -word
	size := int(word & 0xFFFF)
	l.Type, l.Reserved = uint8(word>>24), uint8(word>>16)
	if w.format != V1 && l.Type == LocatorLarge {
		l.Type = locatorURI
	}
	if size < minLocator || size > w.End-start {
		w.Pos = start
		w.Fail(fault.Corruptf("locator of %d bytes where %d to %d are possible", size, minLocator, w.End-start))
		return
	}
	if l.Type == LocatorLarge {
		if size < largeLocator {
			w.Fail(fault.Corruptf("large locator of %d bytes", size))
		}
		w.U64("size", &l.Size)
		w.U64("offset", &l.Offset)
	}
	if w.Err == nil {
		w.Pos = start + size
	}
}

const largeLocator = 20

func (w *coder) putLocator(l *Locator) {
	switch {
	case l.Type > LocatorLarge:
		w.Fail(fault.Unsupportedf("locator of type %d", l.Type))
	case l.Type == LocatorLarge || l.Size > math.MaxInt32:
		word := -(uint32(LocatorLarge)<<24 | uint32(l.Reserved)<<16 | largeLocator)
		w.U32("", &word)
		w.U64("", &l.Size)
		w.U64("", &l.Offset)
	default:
		size := uint32(l.Size)
		w.U32("", &size)
		w.U64("", &l.Offset)
	}
}
