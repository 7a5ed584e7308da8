package decimal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Decimals come back from integers and exceptions, which are as few as possible.
func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		texts      []string
		exponent   int
		reduced    bool
		exceptions []uint32
	}{
		{[]string{"1.25", "0.50", "-3.00"}, -2, false, nil},
		{[]string{"1.25", "NaN", "0.50"}, -2, false, []uint32{1}},
		{[]string{"1.25", "0.5", "7", "-0.75"}, -2, true, nil},
		{[]string{"1.25", "0.50", "0.5"}, -2, true, []uint32{1}},
		{[]string{"12E3", "1.5E4", "7E3"}, 3, false, nil},
		{[]string{"1E-30", "2E-30", "1.0"}, -30, false, []uint32{2}},
	} {
		var src []Decimal
		for _, text := range c.texts {
			d, err := parse(text)
			require.NoError(t, err)
			src = append(src, d)
		}
		var x Integers
		for range 2 { // used again
			require.True(t, x.Set(src, bitmap.All(len(src))))
			require.Equal(t, c.exponent, x.Exponent, "%v", c.texts)
			require.Equal(t, c.reduced, x.Reduced, "%v", c.texts)
			require.Equal(t, c.exceptions, append([]uint32(nil), x.Exceptions...), "%v", c.texts)
		}
		got := make([]Decimal, len(src))
		FromInt64(got, x.Numbers, x.Exponent)
		for i := range got {
			if x.Reduced {
				got[i] = got[i].Reduce()
			}
		}
		for _, i := range x.Exceptions {
			got[i] = src[i]
		}
		require.Equal(t, src, got)
	}
	var x Integers
	nan := Decimal{15: 0x7c}
	require.False(t, x.Set([]Decimal{nan, nan, {}}, bitmap.All(3)))
	require.True(t, x.Set([]Decimal{nan, nan, {}}, bitmap.Bits{Data: []byte{0b100}, Len: 3})) // nulls
	require.Empty(t, x.Exceptions)
}
