// Package stripe has what users meet of the columns of a stripe: the form in which Arrow values are stored, and the errors of single
// values. Package shard writes and reads stripes.
package stripe

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// Physical is an array in the form that stripes store: without dictionaries, runs, views and extension types around it. Its children are
// unchanged.
//
//	logical   extension<uuid>, dictionary<int8, utf8>
//	physical  fixed_size_binary[16], utf8
//
// The caller releases the result. arr stays the caller's, and the result may share its memory. The error is about arrays whose
// dictionary indices or runs contradict their length.
func Physical(mem memory.Allocator, arr arrow.Array) (arrow.Array, error) {
	if err := arrowutil.Check(arr); err != nil {
		return nil, err
	}
	return arrowutil.Plain(mem, arr)
}

// ValueError is a value that cannot be converted to the type that it is to be stored
// as, or to the Arrow type that it is read as.
type ValueError struct {
	Row int64 // from 0, in the array that was written, or in the stripe
	Err error // the reason
}

// Error names the row.
func (e *ValueError) Error() string { return fmt.Sprintf("row %d: %v", e.Row, e.Err) }

// Unwrap gives the cause.
func (e *ValueError) Unwrap() error { return e.Err }

// MisfitError is the reason of a [ValueError] about a stored decimal, or a stored number of ticks, that the Arrow type
// of its column cannot hold. Options for reading choose another Arrow type for all values of the family.
type MisfitError struct {
	Decimal bool  // a decimal, else ticks
	Err     error // the reason
}

// Error is the reason.
func (e *MisfitError) Error() string { return e.Err.Error() }

// Unwrap gives the reason.
func (e *MisfitError) Unwrap() error { return e.Err }
