// Package hash is the compact hash index: the rows of each 64-bit hash of a key (docs/format.md §15.6). It does not hash values.
//
// The b highest bits of a hash are the number of a block, and the next 18 bits its mark there. Different hashes may have the same mark, so
// that a row that is found may have another key. A mark of an index that was joined of others has u bits less, because these have fewer blocks,
// and so fewer bits of each hash. Hashes of the same mark are one there. A file of the index is the blocks, each behind the long lists of its hashes; then
// their directory, and the footer:
//
//	lists of block 0 | block 0 | lists of block 1 | block 1 | … | directory | footer
//
// A block has about 200 hashes, mostly a KiB:
//
//	0  u32  number of hashes T
//	4       a stream of bits (package postings), zeros up to a whole byte:
//	        T numbers: the mark of each hash in ascending order, less the one before
//	        T numbers: the rows of each hash, less 1
//	        a number for each hash of more than 64 rows: the size of its long list with the checksum, or 0 if it has none
//	        the list of each hash of up to 64 rows
//	   u32  checksum of all bytes before (docs/format.md §1.1)
//
// A long list is a list of package postings, zeros up to a whole byte, and a checksum like that of a block. A hash of more than 65,536 rows and
// more than 1/256 of all rows has none: it may be in any row.
//
// The directory is pages of 341 blocks; the last may have fewer. A page is a u64 offset and a u32 size for each block, and a checksum like that of
// a block. The footer has 64 bytes:
//
//	 0  u64  rows of the table
//	 8  u64  number of hashes
//	16  u64  number of rows of all hashes
//	24  u8   b
//	25  u8   u
//	26       zeros
//	40  u64  XXH3 of all bytes before the footer
//	48  u64  XXH3 of the 48 bytes before this
//	56       "amhash" and the version, a u16: 1, or 2 if u is not 0
package hash

import (
	"github.com/amudai/amudai-go/internal/format/container"
)

const (
	markBits    = 18
	blockHashes = 256 // in a block at most on average
	shortRows   = 64
	commonRows  = 1 << 16 // beyond which a hash may have no list
	commonShare = 256     // the part of all rows for that
	blockHeader = 4
	entryLen    = 12
	pageEntries = 341
	pageLen     = pageEntries*entryLen + container.ChecksumLen
	footerLen   = 64
	magic       = "amhash\x01\x00"
	maxBlockLen = 1 << 22
	maxBits     = 31 // of b
	maxUnknown  = 10 // of u: so many bits less find about as many other rows as there are in a block of 256, in one of 2^8 marks
	versionAt   = 62 // in the footer
)

// blockBits is b for a number of rows of all hashes.
func blockBits(postings int64) (b uint) {
	for b < maxBits && postings>>b > blockHashes {
		b++
	}
	return b
}

// split is the block and the mark of a hash.
func split(hash uint64, b uint) (block int64, mark uint32) {
	return int64(hash >> (63 - b) >> 1), uint32(hash << b >> (64 - markBits))
}

// isCommon reports whether a hash of n rows has no list.
func isCommon(n, total int64) bool { return n > commonRows && n > total/commonShare }

// directoryLen is the size of the directory of 2^b blocks.
func directoryLen(b uint) int64 {
	n := int64(1) << b
	return n*entryLen + (n+pageEntries-1)/pageEntries*container.ChecksumLen
}
