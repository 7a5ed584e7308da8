package text

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The bytes of numbers are in the order of numbers.
func TestOrdered(t *testing.T) {
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,5}|9007199254740993)(\.[0-9]{1,4}|\.0{0,3}1)?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, ok := AppendOrdered(nil, []byte(a))
		require.True(t, ok)
		y, ok := AppendOrdered([]byte("abc"), []byte(b))
		require.True(t, ok)
		p, _ := new(big.Rat).SetString(a)
		q, _ := new(big.Rat).SetString(b)
		require.Equal(t, p.Cmp(q), bytes.Compare(x, y[3:]), "%s %s %x %x", a, b, x, y)
	})
	for _, s := range []string{"", "-", "x", "1e", "1.2.3", "1e1e1", "1e99999999999999999999", "1e-1073741830", "."} {
		b, ok := AppendOrdered([]byte("ab"), []byte(s))
		require.False(t, ok, s)
		require.Equal(t, "ab", string(b))
	}
	zero, ok := AppendOrdered(nil, []byte("-0.00e99999999999999999999"))
	require.True(t, ok)
	require.Equal(t, []byte{0x80}, zero)
}
