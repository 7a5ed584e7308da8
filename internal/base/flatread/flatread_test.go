package flatread

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// small is a buffer written by hand:
//
//	 0  root at 16
//	 4  vtable: 10 bytes, table of 12, slots 4 (u32), 8 (string), 0 (absent)
//	14  padding
//	16  table: vtable 12 bytes back, u32 7, string at 28
//	28  length 2, "hi", 0, padding
var small = []byte{
	16, 0, 0, 0,
	10, 0, 12, 0, 4, 0, 8, 0, 0, 0, 0, 0,
	12, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0,
	2, 0, 0, 0, 'h', 'i', 0, 0,
}

func TestSmall(t *testing.T) {
	r, err := Root(small)
	require.NoError(t, err)
	require.Equal(t, uint32(7), r.Uint32(0, 1))
	require.Equal(t, "hi", string(r.String(1)))
	require.Equal(t, uint32(9), r.Uint32(2, 9), "an absent field")
	require.Equal(t, uint64(9), r.Uint64(100, 9), "a slot that the vtable does not have")
	require.Nil(t, r.String(2))
	_, ok := r.Table(2)
	require.False(t, ok)
	require.NoError(t, r.Err)

	r.Uint64(1, 0) // 8 bytes where the table has 4
	require.ErrorIs(t, r.Err, fault.ErrCorrupt)
}

func TestHostile(t *testing.T) {
	read := func(b []byte) error {
		r, err := Root(b)
		if err != nil {
			return err
		}
		r.Uint32(0, 0)
		r.String(1)
		return r.Err
	}
	require.NoError(t, read(small))
	for _, c := range []struct {
		what  string
		at    int
		value uint32
	}{
		{"root offset 0", 0, 0}, {"root past the end", 0, 36}, {"root far past the end", 0, 0xFFFFFFFF}, {"root at the last byte", 0, 33},
		{"vtable before the buffer", 16, 17}, {"vtable past the end", 16, 0xFFFFFF00}, {"vtable at the end", 16, ^uint32(16)},
		{"vtable length odd", 4, 12<<16 | 9}, {"vtable too short", 4, 12<<16 | 2}, {"vtable too long", 4, 12<<16 | 40},
		{"table too short", 4, 2<<16 | 10}, {"table too long", 4, 40<<16 | 10},
		{"field before the fields", 8, 8<<16 | 2}, {"field past the table", 8, 8<<16 | 10},
		{"string offset 0", 24, 0}, {"string past the end", 24, 12}, {"string too long", 28, 5}, {"string far too long", 28, 0xFFFFFFFF},
	} {
		b := append([]byte(nil), small...)
		binary.LittleEndian.PutUint32(b[c.at:], c.value)
		require.ErrorIs(t, read(b), fault.ErrCorrupt, c.what)
	}
}

func TestVectorElements(t *testing.T) {
	b := append(append([]byte(nil), small...),
		2, 0, 0, 0, // a vector of two references, at 36
		8, 0, 0, 0, 200, 0, 0, 0,
		1, 0, 0, 0, 'x', 0, 0, 0)
	host := Table{buf: b}
	v := host.vectorAt(36, 4)
	require.NoError(t, host.Err)
	require.True(t, v.Present())
	require.Equal(t, 2, v.Len())
	require.Equal(t, uint32(200), v.Uint32(1))
	s, err := v.String(0)
	require.NoError(t, err)
	require.Equal(t, "x", string(s))
	_, err = v.String(1)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	_, err = v.Table(1)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	_, err = v.Table(0) // a string is not a table
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.False(t, Vector{}.Present())
}
