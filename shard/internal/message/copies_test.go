package message

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Copies are read as they were written, and what is no such message is an error, which takes no more memory than copies may have.
func TestCopies(t *testing.T) {
	stripes := [][]byte{[]byte("first"), nil, []byte("third")}
	payload, err := Pack(stripes)
	require.NoError(t, err)
	got, err := Unpack(payload, 3)
	require.NoError(t, err)
	for i := range stripes {
		require.Equal(t, string(stripes[i]), string(got[i]))
	}
	for n := range payload {
		_, err := Unpack(payload[:n], 3)
		require.ErrorIs(t, err, fault.ErrCorrupt, "%d bytes", n)
	}
	for _, size := range []uint32{0, 4, 6, MaxCopied, MaxCopied + 1, 1<<32 - 1} {
		changed := append(binary.LittleEndian.AppendUint32(nil, size), payload[4:]...)
		_, err := Unpack(changed, 3)
		require.ErrorIs(t, err, fault.ErrCorrupt, "%d bytes in the first stripe", size)
	}
	_, err = Unpack(payload, 2)
	require.Error(t, err)
}
