// Package term is the compact term index: for each term of some columns of strings the rows that have it (docs/format.md §15.5).
//
// A file of the index is blocks of terms in their order, each behind the long lists of its terms; then the blocks of each gram, the
// directory of the blocks, and the footer:
//
//	lists of block 0 | block 0 | lists of block 1 | block 1 | … | grams | directory | footer
//
// A block has up to 256 terms:
//
//	 0  u16  number of terms T
//	 2  u16  size of the numbers as stored
//	 4  u16  size of the numbers unpacked: if it is the same, they are as they are, else compressed with Zstandard
//	 6  u16  size of the suffixes as stored
//	 8  u16  size of the suffixes unpacked, likewise
//	10       numbers, see below
//	         suffixes: of each term the bytes that it does not share with the one before
//	         short lists, of up to 64 rows, one behind the other with no bits between them (package postings); zeros up to
//	         a whole byte
//	         u32 checksum of all bytes before (docs/format.md §1.1)
//
//	numbers:
//	 T u8       bytes shared with the term before, 0 for the first
//	 T u8       bytes that are not shared
//	 T uvarint  number of the field, only if the index has several
//	 T uvarint  rows of the term, less 1
//	   uvarint  for each term of more than 64 rows the size of its list
//
// A long list, of up to 4096 rows, is a list of package postings, and a checksum like that of a block. A longer one is divided
// at multiples of 65,536 rows: it begins with a table of two uvarints for each part, the number of rows and the size of their list, and the
// table's checksum; no size is given for no rows. The lists follow, of rows from the beginning of their part on, each with a checksum.
//
// In a field with frequencies short lists are followed by these, and long ones are in blocks of 128 rows:
//
//	10 bytes for each block: u32 last row, u16 size, u8 greatest frequency, 3 u8 least length codes ([Bounds])
//	u32 checksum
//	blocks: gaps of rows, frequencies less 1 (package postings, packed), u32 checksum
//
// A gram is three consecutive bytes a, b, c of a term. Its number is the upper half of (a<<16 | b<<8 | c) * 0x9e3779b1 modulo 2^32; grams
// of the same number count as one. An index of at least 4 blocks has P pages of grams, the greatest power of two up to 256 and up to the
// number of blocks. Each has 65,536/P consecutive numbers. A page without grams is empty. Any other is
//
//	  uvarint  number of grams G
//	G uvarint  number of the gram, less the one before and 1; of the first less the first of the page
//	G uvarint  blocks that have the gram, 0 if they are not listed
//	G uvarint  size of the list, only of those that are listed
//	           lists of blocks (package postings), each with zeros up to a whole byte
//	           u32 checksum
//
// Behind the pages is a list of the blocks with terms that may have been cut, if there are any: their number as a uvarint, the list, and a checksum.
//
// The directory has for each block the first term (u8 length, bytes), its field (uvarint, only if the index has several), the
// size of the long lists and that of the block (uvarint). The size of each page and of the list of cut blocks follow (uvarint), if there
// are pages. The directory is compressed if that makes it smaller. The footer has 72 bytes:
//
//	 0  u64  rows of the table
//	 8  u32  rows for which there is one row in lists: 1 if lists are exact
//	12  u16  number of fields
//	14  u8   collation: 0 case-insensitive, 1 case-preserving
//	15  u8   fields with frequencies, the first ones; as many at the end are lengths of rows in them
//	16  u64  number of terms, of each field those that it has
//	24  u64  number of rows in all lists
//	32  u32  number of blocks
//	36  u32  size of the directory as stored
//	40  u32  size of the directory unpacked
//	44  u32  number of pages of grams P, or 0
//	48  u64  XXH3 of all bytes before the directory, which tells this index from others that have the same directory
//	56  u64  XXH3 of the directory as stored and the 56 bytes before this
//	64       "amterm" and the version u16: 1 without frequencies, else 2
//
// A case-insensitive index has terms in upper case. Terms are in the order of the collation, and equal ones in the order of their fields.
package term

import (
	"encoding/binary"
)

const (
	blockTerms  = 256
	blockHeader = 10
	shortRows   = 64
	longRows    = 4096
	partRows    = 1 << 16
	footerLen   = 72
	magic       = "amterm"
)

// uvarint takes a number from the beginning of b; ok is false if there is none up to most.
func uvarint(b []byte, most uint64) (x uint64, rest []byte, ok bool) {
	x, n := binary.Uvarint(b)
	if n <= 0 || x > most {
		return 0, nil, false
	}
	return x, b[n:], true
}
