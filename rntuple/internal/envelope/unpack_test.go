package envelope_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// unpack gives the uncompressed bytes that a link leads to.
func unpack(t testing.TB, file []byte, l envelope.Link) []byte {
	var d compress.Decoder
	out, err := d.DecodeGrow(file[l.Offset:l.End()], l.Length)
	require.NoError(t, err)
	return out
}
