package column

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// NumPrefixes is the number of prefixes of a column of kind 10 or 11.
func NumPrefixes(t *testing.T, data []byte, rows int) int {
	var d Decoder
	r, err := d.Open(data, "c", Bytes, rows, DecodeOptions{})
	require.NoError(t, err)
	s, err := r.suffixes()
	require.NoError(t, err)
	return s.prefixes.Len()
}
