// Package strrange is the range index of columns of strings: bounds of the values of every few rows, so that a reader skips rows that cannot match
// (docs/format.md §15.7). It is what package numrange is for numbers, but in an artifact of its own.
//
// The rows of a column, a field, are divided into pages of as many rows each. A bound has as many bytes as it takes to tell the bounds of its page
// apart, and 4 more, at most 64. What is cut off makes a lower bound less; an upper one becomes the next greater text of its length.
//
//	payload | footer
//
// The payload has for each field, one behind the other,
//
//	P u8  flags: 1 the page has values, 2 it has nulls, 4 it has no upper bound
//	P u8  bytes that the lower bound shares with that of the page before, 0 for the first page
//	P u8  its other bytes
//	P u8  bytes that the upper bound shares with the lower one
//	P u8  its other bytes
//	      the other bytes of all lower bounds, then those of all upper bounds
//
// A page without values has no bounds: all its sizes are 0. The footer has 40 bytes:
//
//	 0  u64  rows of the table
//	 8  u32  rows of a page; the last one may have fewer
//	12  u16  number of fields
//	14  u16  0
//	16  u32  size of the payload as stored
//	20  u32  size of the payload unpacked: if it is the same, it is as it is, else compressed with Zstandard
//	24  u64  XXH3 of the payload as stored and the 24 bytes before this
//	32       "amrang" and u16 1, the version
package strrange

const (
	footerLen = 40
	magic     = "amrang\x01\x00"

	maxBound = 64 // bytes of a bound
	apart    = 4  // bytes of a bound behind those that both of a page have
	perPage  = 5  // bytes of a page besides its bounds

	// maxPayload bounds the memory for an index: about two million pages.
	maxPayload = 16 << 20
	// MaxPageRows bounds the rows of a page.
	MaxPageRows = 1 << 20
)

// Flags of a page.
const (
	hasValues = 1 << iota
	hasNulls
	unbounded // above
	allFlags  = hasValues | hasNulls | unbounded
)
