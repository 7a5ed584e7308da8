package fault

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlace checks that each layer adds its part of the place, to the fields and to the text.
func TestPlace(t *testing.T) {
	err := Corruptf("odd")
	err = In(err, "RLE", 3)
	err = In(err, "values", 7)
	err = Shift(err, 100)
	err = InBlock(err, 7, 100)
	err = InBuffer(err, "DATA", 64)
	err = InColumn(err, "item")
	err = InColumn(err, `v1\.2`)
	inner := err
	err = InStripe(err, 2)
	err = InStripe(err, 3) // the innermost one counts
	err = Of(Of(err, "a"), "b")
	require.EqualError(t, err, `corrupt: odd (stripe 2/column "v1\.2.item"/DATA/block 7/values/RLE, offset 103, in a)`)
	var e *Error
	require.ErrorAs(t, fmt.Errorf("row 5: %w", err), &e)
	require.Equal(t, Error{"a", 2, `v1\.2.item`, "DATA", 7, "values/RLE", 103, e.Err}, *e)
	require.ErrorIs(t, err, ErrCorrupt)
	require.NotContains(t, inner.Error(), "stripe", "an error is changed that others may hold")
}

func TestPlaceInPart(t *testing.T) {
	e := errors.New("x")
	require.EqualError(t, Of(e, ""), "x")
	require.EqualError(t, InStripe(e, 0), "x (stripe 0)")
	require.EqualError(t, InBlock(e, 0, 5), "x (block 0, offset 5)")
	require.EqualError(t, In(In(e, "", 4), "field list", 2), "x (field list, offset 4)")
	require.EqualError(t, InColumn(e, "a\x1b[2J\u202e"), `x (column "a\x1b[2J\u202e")`)
	for _, err := range []error{In(nil, "x", 1), InBlock(nil, 1, 1), InBuffer(nil, "DATA", 1), InColumn(nil, "x"), InStripe(nil, 1), Of(nil, "x"), Shift(nil, 1)} {
		require.NoError(t, err)
	}
}
