package table

import "fmt"

// ValueError says that a value does not fit its column. One of Line and Row is
// set.
type ValueError struct {
	Column string // its name, with dots for nested ones
	Value  string // as it was read, shortened
	Line   int64  // 1-based line in the input, for formats of text
	Row    int64  // 1-based row in the input, for others
	Input  string // name of the input
	Err    error  // why
	Remedy string // what to do about it
}

// Error names the value, its column and its place.
func (e *ValueError) Error() string {
	place := fmt.Sprintf("line %d", e.Line)
	if e.Line == 0 {
		place = fmt.Sprintf("row %d", e.Row)
	}
	return fmt.Sprintf("column %q: %v (%s of %s)", e.Column, e.Err, place, e.Input)
}

// Unwrap gives the reason.
func (e *ValueError) Unwrap() error { return e.Err }

// Hint is the remedy.
func (e *ValueError) Hint() string { return e.Remedy }
