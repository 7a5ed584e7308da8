// Package convert converts between Arrow values and stored values, in loops over whole slices.
// All conversions are exact: a value that the other side cannot hold is a [*RowError].
//
// Every function takes the validity of the rows. A value under a null never causes an error; if
// it cannot be converted, the result is 0.
package convert

import "fmt"

// Unit is the unit of an Arrow timestamp, date or duration.
type Unit uint8

// The units. Dates count days (date32) or milliseconds (date64).
const (
	Nanosecond  Unit = iota // a hundredth of a tick
	Microsecond             // 10 ticks
	Millisecond             // 10,000 ticks
	Second                  // 10,000,000 ticks
	Day                     // 864,000,000,000 ticks
)

// String is Arrow's short name of the unit.
func (u Unit) String() string {
	return [...]string{"ns", "us", "ms", "s", "days"}[min(u, Day)]
}

// RowError says that one value cannot be represented exactly on the other side. The caller adds
// the column.
type RowError struct {
	Row    int    // index into the slices that the function was given
	Value  string // the value, in words
	Reason string // the reason
}

// Error is the text without the place.
func (e *RowError) Error() string { return fmt.Sprintf("%s: %s", e.Value, e.Reason) }
