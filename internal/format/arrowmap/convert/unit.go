// Package convert holds the changes of representation between Arrow values and
// stored ones, as loops over whole slices. None of them loses anything: a value
// that the other side cannot hold exactly is a [*RowError].
//
// Every function takes the validity of the rows. What lies under a null never
// causes an error; where it cannot be converted the result is 0.
package convert

import "fmt"

// Unit is what an Arrow timestamp, date or duration counts.
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

// RowError says that one value cannot be represented exactly on the other side.
// It is the caller who knows the column.
type RowError struct {
	Row    int    // index into the slices that the function was given
	Value  string // the value, in words
	Reason string // what is wrong with it
}

// Error is the text without the place.
func (e *RowError) Error() string { return fmt.Sprintf("%s: %s", e.Value, e.Reason) }
