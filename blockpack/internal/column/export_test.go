package column

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// AppendKind is Append with a kind, if that can hold the column.
func (e *Encoder) AppendKind(dst []byte, c *Column, k Kind) (out []byte, ok bool, err error) {
	if err := e.begin(c); err != nil {
		return dst, false, err
	}
	if !k.writable(c.Type) {
		return dst, false, nil
	}
	size, err := e.size(k, impossible)
	if err != nil || size == impossible {
		return dst, false, err
	}
	out = e.append(dst, k)
	if len(out)-len(dst) != size {
		panic("size is not what is appended")
	}
	return out, true, nil
}

// writable tells whether columns of a type may be written in a kind.
func (k Kind) writable(t Type) bool {
	if t == Int64 && k == DeltaUint64 {
		return false
	}
	return k.holds(t) && (t != String || !k.bytesOnly())
}

func (k Kind) bytesOnly() bool {
	switch k {
	case InlineBytes, SparseInlineBytes, XORBytes, SparseXORBytes, PrefixBytes, SparsePrefixBytes, DeltaDictionary, SparseDeltaDictionary:
		return true
	}
	return false
}

// PresenceSize is the size of the presence of c, with its length.
func PresenceSize(c *Column) int { return len(appendPresence(nil, c.Present, c.Rows)) }

// NumPrefixes is the number of prefixes of a column of kind 10 or 11.
func NumPrefixes(t *testing.T, data []byte, rows int) int {
	var d Decoder
	r, err := d.Open(data, "c", Bytes, rows, DecodeOptions{})
	require.NoError(t, err)
	s, err := r.suffixes()
	require.NoError(t, err)
	return s.prefixes.Len()
}
