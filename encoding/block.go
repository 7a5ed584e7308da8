package encoding

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// BlockHeaderLen is the size of the header in bytes.
const BlockHeaderLen = 8

// BlockChecksumLen is the size of the checksum of a block in bytes.
const BlockChecksumLen = 4

// Block is a view of the two sections of a block, in the memory of the block. A block has an 8-byte header, a presence section
// ([DecodePresence]), a values section (packages numeric and bytestring) and a checksum. See docs/format.md §6.3.
//
//	offset           size            content
//	0                4               presence size, u32
//	4                4               values size, u32
//	8                presence size   presence section
//	...              0..7            zeros, up to V = 8 + presence size rounded up to 8
//	V                values size     values section: one encoding tree
//	...                              zeros
//	end-4            4               checksum of all bytes before it, if the buffer has checksums
//
// The whole length is the least multiple of 8. All numbers are little-endian.
// An example, int32 10, 20, 30 without nulls, Plain, with a checksum:
//
//	0000: 00 00 00 00  0e 00 00 00                     no presence, 14 bytes of values
//	0008: 01 00  0a 00 00 00 14 00 00 00 1e 00 00 00   Plain
//	0016: 00 00 00 00 00 00                            zeros
//	001c: 6c b5 47 03                                  checksum 0x0347b56c
type Block struct {
	Presence     []byte // the presence section; empty if no value is null
	Values       []byte // the values section: one encoding tree
	ValuesOffset int    // offset of Values in the block
}

// Parse finds the sections of the block b, and checks the checksum if the buffer has checksums. It ignores zeros and
// bytes after the values. Errors wrap fault.ErrCorrupt or fault.ErrChecksum.
func ParseBlock(b []byte, checksum bool) (Block, error) {
	if checksum {
		if len(b) < BlockHeaderLen+BlockChecksumLen {
			return Block{}, fault.Corruptf("a block of %d bytes has no room for header and checksum", len(b))
		}
		end := len(b) - BlockChecksumLen
		want := binary.LittleEndian.Uint32(b[end:])
		b = b[:end]
		if got := BlockChecksum(b); got != want {
			return Block{}, fault.Checksumf("block has checksum %#08x, its bytes give %#08x", want, got)
		}
	} else if len(b) < BlockHeaderLen {
		return Block{}, fault.Corruptf("a block of %d bytes has no room for its header", len(b))
	}
	presence := uint64(binary.LittleEndian.Uint32(b))
	values := uint64(binary.LittleEndian.Uint32(b[4:]))
	at := BlockHeaderLen + (presence+7)&^7
	if at+values > uint64(len(b)) {
		return Block{}, fault.Corruptf("block sections of %d and %d bytes do not fit into %d bytes", presence, values, len(b))
	}
	return Block{
		Presence:     b[BlockHeaderLen : BlockHeaderLen+presence : BlockHeaderLen+presence],
		Values:       b[at : at+values : at+values],
		ValuesOffset: int(at),
	}, nil
}

// Checksum is XXH3-64 (seed 0) with its high half folded onto its low half.
func BlockChecksum(b []byte) uint32 {
	h := xxh3.Hash(b)
	return uint32(h) ^ uint32(h>>32)
}

// Begin appends an empty header to dst. The block starts at mark. The caller then appends the presence section, calls
// [EndPresence], appends the values and calls [EndBlock].
func BeginBlock(dst []byte) (out []byte, mark int) {
	return append(dst, make([]byte, BlockHeaderLen)...), len(dst)
}

// EndPresence records the size of the presence section, which are all bytes since [BeginBlock], and pads it.
func EndPresence(dst []byte, mark int) []byte {
	size := len(dst) - mark - BlockHeaderLen
	binary.LittleEndian.PutUint32(dst[mark:], uint32(size))
	return pad(dst, PadTo8(size)-size)
}

// End records the size of the values section, which are all bytes since [EndPresence], pads the block and appends its
// checksum. Each section must be below 4 GiB.
func EndBlock(dst []byte, mark int, checksum bool) []byte {
	presence := int(binary.LittleEndian.Uint32(dst[mark:]))
	size := len(dst) - mark
	values := size - BlockHeaderLen - PadTo8(presence)
	binary.LittleEndian.PutUint32(dst[mark+4:], uint32(values))
	if !checksum {
		return pad(dst, PadTo8(size)-size)
	}
	dst = pad(dst, PadTo8(size+BlockChecksumLen)-BlockChecksumLen-size)
	return binary.LittleEndian.AppendUint32(dst, BlockChecksum(dst[mark:]))
}

func pad(dst []byte, n int) []byte {
	var zeros [8]byte
	return append(dst, zeros[:n]...)
}
