// Package container is the frame of an artifact: the magic header and footer, messages with
// length and checksum, the directory at the tail of a root, and the rules for references
// between artifacts. It does not interpret messages. See docs/format.md §2.
//
//	root artifact
//	 0   magic, version                8 bytes
//	 8   buffers and messages          messages are not aligned, buffers to 64
//	 …   directory message             u32 n | n bytes | u32 checksum
//	-12  u32 n                         again, to be found from the end
//	-8   magic, version                8 bytes
package container

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Sizes in bytes.
const (
	MarkSize     = 8        // header, and footer
	FrameExtra   = 8        // bytes of a frame beside its payload
	TailSize     = 12       // directory length and footer
	MinRootSize  = 28       // header, an empty directory, its length, footer
	MaxDirectory = 16 << 20 // a directory message must be shorter
	Alignment    = 64       // of every encoded buffer in its artifact
)

// Mark is the header and the footer of every artifact: the magic, then the
// version, patch first (docs/format.md §2.1).
//
//	61 6d 75 64   "amud"
//	00            patch
//	01 00         minor
//	00            major
var Mark = [MarkSize]byte{'a', 'm', 'u', 'd', 0, 1, 0, 0}

// A Version is the version in a mark. Older readers cannot read a later Major version.
type Version struct{ Major, Minor, Patch int }

// String is the version as major.minor.patch.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// CheckMark parses a header or footer. what names it in errors. Roots must have both. For
// stripe files the caller decides, because the reference never checks their header.
func CheckMark(b []byte, what string) (Version, error) {
	if len(b) != MarkSize {
		return Version{}, fault.Corruptf("%s has %d bytes instead of %d", what, len(b), MarkSize)
	}
	if [4]byte(b) != [4]byte(Mark[:]) {
		return Version{}, fault.Corruptf("%s is % x: not an Amudai artifact%s", what, b, foreign(b))
	}
	v := Version{Major: int(b[7]), Minor: int(binary.LittleEndian.Uint16(b[5:])), Patch: int(b[4])}
	if v.Major > 0 {
		return v, fault.Unsupportedf("%s says format version %v; this reader knows 0.x", what, v)
	}
	return v, nil
}

// foreign guesses the format of a file that is not a shard, for the error message.
func foreign(b []byte) string {
	s := string(b)
	switch {
	case s[:4] == "PAR1" || s[4:] == "PAR1":
		return " (it looks like Parquet)"
	case s[:6] == "ARROW1" || s[2:] == "ARROW1":
		return " (it looks like an Arrow IPC file)"
	case s[:2] == "\x1f\x8b":
		return " (it looks like gzip)"
	case s[:4] == "\x28\xb5\x2f\xfd":
		return " (it looks like zstd)"
	}
	return ""
}

// Checksum is the checksum of messages, dictionaries and blocks: XXH3-64
// without a seed, its halves joined by exclusive or.
func Checksum(b []byte) uint32 {
	h := xxh3.Hash(b)
	return uint32(h) ^ uint32(h>>32)
}

// ChecksumLen is the size of a checksum.
const ChecksumLen = 4

// AppendChecksum appends the checksum of the bytes of dst from one on.
func AppendChecksum(dst []byte, from int) []byte {
	return binary.LittleEndian.AppendUint32(dst, Checksum(dst[from:]))
}

// CutChecksum returns bytes without the checksum at their end, which it verifies.
func CutChecksum(b []byte) ([]byte, error) {
	n := len(b) - ChecksumLen
	if n < 0 {
		return nil, fault.Corruptf("%d bytes with a checksum", len(b))
	}
	if Checksum(b[:n]) != binary.LittleEndian.Uint32(b[n:]) {
		return nil, fault.Checksumf("checksum of %d bytes", n)
	}
	return b[:n], nil
}

// AppendFrame appends a message: length, payload and checksum (docs/format.md §2.2).
//
//	02 00 00 00 | 68 69 | checksum of "68 69"
func AppendFrame(dst, payload []byte) []byte {
	dst, mark := BeginFrame(dst)
	return EndFrame(append(dst, payload...), mark)
}

// BeginFrame starts a message. The caller appends the payload, and passes mark to EndFrame.
func BeginFrame(dst []byte) (out []byte, mark int) {
	return append(dst, 0, 0, 0, 0), len(dst)
}

// EndFrame completes a message with all bytes since BeginFrame as its payload. It panics if
// these are 4 GiB or more, which is a mistake of the writer.
func EndFrame(dst []byte, mark int) []byte {
	payload := dst[mark+4:]
	if uint64(len(payload)) > math.MaxUint32 {
		panic("container: message of 4 GiB")
	}
	binary.LittleEndian.PutUint32(dst[mark:], uint32(len(payload)))
	return binary.LittleEndian.AppendUint32(dst, Checksum(payload))
}

// FrameChecksum is the checksum at the end of a frame.
func FrameChecksum(frame []byte) uint32 {
	return binary.LittleEndian.Uint32(frame[len(frame)-ChecksumLen:])
}

// ParseFrame gives the payload of the message that fills b, and verifies its checksum. The
// length must be that of the reference: a shorter message is another one, which a misplaced
// write put there.
func ParseFrame(b []byte) (payload []byte, err error) {
	payload, rest, err := CutFrame(b)
	if err == nil && len(rest) != 0 {
		return nil, fault.Corruptf("message of %d bytes where one of %d is expected", len(payload), len(payload)+len(rest))
	}
	return payload, err
}

// CutFrame is ParseFrame for a message at the start of b, and also returns the rest of b. It
// finds messages without a reference, for recovery.
func CutFrame(b []byte) (payload, rest []byte, err error) {
	if len(b) < FrameExtra {
		return nil, nil, fault.Corruptf("message has %d bytes, less than its frame", len(b))
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > int64(len(b)-FrameExtra) {
		return nil, nil, fault.Corruptf("message says %d bytes, %d are left", n, len(b)-FrameExtra)
	}
	payload, sum := b[4:4+n], b[4+n:]
	want := binary.LittleEndian.Uint32(sum)
	if got := Checksum(payload); got != want {
		return nil, nil, fault.Checksumf("message of %d bytes has checksum %08x, the file says %08x", n, got, want)
	}
	return payload, sum[4:], nil
}

// AppendTail appends the end of a root artifact: the directory as a message,
// its length again and the footer (docs/format.md §2.3).
func AppendTail(dst, directory []byte) []byte {
	dst = AppendFrame(dst, directory)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(directory)))
	return append(dst, Mark[:]...)
}

// DirectoryRange finds the directory message of a root from its end: size is that of the
// artifact, tail its last bytes, at least [TailSize]. It checks the footer and returns the
// range of the message in the artifact.
func DirectoryRange(tail []byte, size int64) (start, end int64, err error) {
	if size < MinRootSize {
		return 0, 0, fault.Corruptf("%d bytes are too few for a shard", size)
	}
	if len(tail) < TailSize {
		return 0, 0, fault.Corruptf("tail of %d bytes", len(tail))
	}
	if _, err := CheckMark(tail[len(tail)-MarkSize:], "footer"); err != nil {
		return 0, 0, fault.In(err, "footer", size-MarkSize)
	}
	return DirectoryBefore(tail[:len(tail)-MarkSize], size-MarkSize)
}

// DirectoryBefore finds the directory message of one of several shards in an
// artifact: the message's length is the u32 in the 4 bytes before end, the last
// of tail.
func DirectoryBefore(tail []byte, end int64) (start, stop int64, err error) {
	if len(tail) < 4 || end < MarkSize+FrameExtra+4 {
		return 0, 0, fault.Corruptf("no directory ends at offset %d", end)
	}
	n := int64(binary.LittleEndian.Uint32(tail[len(tail)-4:]))
	if n >= MaxDirectory {
		return 0, 0, fault.In(fault.Corruptf("directory of %d bytes, more than allowed", n), "directory length", end-4)
	}
	stop = end - 4
	start = stop - FrameExtra - n
	if start < MarkSize {
		return 0, 0, fault.In(fault.Corruptf("directory of %d bytes does not fit into the artifact", n), "directory length", end-4)
	}
	return start, stop, nil
}

// PadTo is the number of zero bytes that align offset off to a multiple of align.
func PadTo(off int64, align int) int { return int(-off & int64(align-1)) }
