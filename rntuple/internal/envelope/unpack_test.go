package envelope_test

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

func unpack(t testing.TB, file []byte, l envelope.Link) []byte {
	src := file[l.Offset:l.End()]
	if l.Size == l.Length {
		return src
	}
	switch string(src[:2]) {
	case "ZS":
		d, err := zstd.NewReader(nil)
		require.NoError(t, err)
		defer d.Close()
		out, err := d.DecodeAll(src[9:], nil)
		require.NoError(t, err)
		return out
	case "ZL":
		z, err := zlib.NewReader(bytes.NewReader(src[9:]))
		require.NoError(t, err)
		out, err := io.ReadAll(z)
		require.NoError(t, err)
		return out
	case "L4":
		out := make([]byte, l.Length)
		_, err := lz4.UncompressBlock(src[17:], out)
		require.NoError(t, err)
		return out
	}
	t.Skipf("no test of %q yet", src[:2])
	return nil
}
