package provider

import "fmt"

// ValueError is the error of a value that does not fit its column. Either Line or Row is set.
type ValueError struct {
	Column string // its name, with dots for nested ones
	Value  string // the text of the value, shortened
	Line   int64  // line of the input, from 1, in formats of text
	Row    int64  // row of the input, from 1, in other formats
	Input  string // name of the input
	Err    error  // the reason
	Remedy string // a way to read the value

	// Inferred means that the type of the column, or the encoding, was inferred from a sample that has no such value.
	// [TextOptions.AllRows] finds one that fits.
	Inferred bool
}

// Error names the value, its column and its place.
func (e *ValueError) Error() string {
	place := fmt.Sprintf("line %d", e.Line)
	if e.Line == 0 {
		place = fmt.Sprintf("row %d", e.Row)
	}
	return fmt.Sprintf("column %q: %v (%s of %s)", e.Column, e.Err, place, e.Input)
}

// Unwrap returns the reason.
func (e *ValueError) Unwrap() error { return e.Err }

// Hint returns the remedy.
func (e *ValueError) Hint() string { return e.Remedy }
