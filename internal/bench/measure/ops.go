package measure

import "strings"

// The operations that are measured. Those of two threads are measured by the clock: one
// operation with two threads, and two operations with one thread each, side by side. The share
// is the throughput of the former relative to the latter. Peaks are the anonymous resident
// memory of a process that does nothing else.
const (
	OpSize         = "size" // not an operation, but with figures of the same kind
	OpWrite        = "write"
	OpScan         = "scan"
	OpReuse        = "reuse"   // scan that uses the memory of each batch again
	OpViews        = "views"   // scan into Arrow's string_view
	OpProject      = "project" // the columns of a typical query
	OpProjectReuse = "project reuse"
	OpOpen         = "open"    // open and read one column
	OpTake         = "take"    // 1,000 random rows in ascending order, opening included
	OpFilter       = "filter " // and the name of a query: all columns of its rows
	OpCount        = "count "  // and the name of a query: the number of its rows
	OpScanTwo      = "scan 2t"
	OpWriteTwo     = "write 2t"
	OpScanShare    = "scan 2t share"
	OpWriteShare   = "write 2t share"
	OpPeakWrite    = "write peak"
	OpPeakScan     = "scan peak"
)

// IsShare reports whether the figures of an operation are shares, of which more is better.
func IsShare(op string) bool { return op == OpScanShare || op == OpWriteShare }

// IsPeak reports whether the figures of an operation are MiB.
func IsPeak(op string) bool { return op == OpPeakWrite || op == OpPeakScan }

// Unit is the unit of an operation's figures.
func Unit(op string) string {
	if IsPeak(op) {
		return "MiB"
	}
	return "s"
}

// TwoThreads reports whether an operation is measured by the clock on two cores.
func TwoThreads(op string) bool { return op == OpScanTwo || op == OpWriteTwo || IsShare(op) }

// ByHand reports whether arrow-go's Parquet lacks the operation, so that the base is code that
// does it by hand: [HandNote].
func ByHand(op string) bool {
	return op == OpTake || op == OpWriteTwo || strings.HasPrefix(op, OpFilter) || strings.HasPrefix(op, OpCount)
}

// HandNote explains the mark of operations that are done by hand.
const HandNote = "Marked *: arrow-go's Parquet has no such operation. What the others are compared with reads everything, " +
	"or what statistics leave of it, and picks the rows; it writes with one thread."

// Title is the column title of an operation, with a mark if it is done by hand.
func Title(op string) string {
	if ByHand(op) {
		return op + " *"
	}
	return op
}
