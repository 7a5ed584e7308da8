package blockpack_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/shard"
)

// emptyFile is a file without spans.
func emptyFile(t *testing.T) []byte {
	b, err := hex.DecodeString("00000000000000000100000000" + "a1fe11c00b00000000000000000d00000000000000" +
		"dec11dc001000000000100000000" + "03000d0000000000000022000000000000000e000000")
	require.NoError(t, err)
	return b
}

// oldFooter ends as a file of version 7, whose footer begins with the magic number.
var oldFooter = append(make([]byte, 50), 0xa1, 0xfe, 0x11, 0xc0, 7, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0)

// Files of versions that this module does not know are not damaged: it cannot check them.
func TestVerifyVersions(t *testing.T) {
	newer := emptyFile(t)
	require.True(t, verifyBytes(t, newer).OK())
	newer[17] = 12
	for _, file := range [][]byte{newer, oldFooter} {
		r := verifyBytes(t, file)
		require.Empty(t, r.Problems)
		require.Equal(t, 1, r.Unchecked)
		require.Len(t, r.Notes, 1)
		require.ErrorContains(t, r.Notes[0], "not checked")
		require.ErrorIs(t, r.Notes[0], shard.ErrUnsupported)
	}
}

// TestVersions opens files of other versions, and names these.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		at   int
		b    byte
		want blockpack.UnsupportedError
		text string
	}{
		{17, 12, blockpack.UnsupportedError{Version: 12, Footer: 3}, "version 12 with footer 3, this program reads versions 10 and 11"},
		{17, 14, blockpack.UnsupportedError{Version: 14, Footer: 3}, "version 14 with footer 3"},
	} {
		data := emptyFile(t)
		data[c.at] = c.b
		path := filepath.Join(t.TempDir(), "spans.blockpack")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		f, err := blockpack.Open(t.Context(), path, blockpack.Options{})
		if err == nil {
			_, err = f.ArrowSchema(t.Context())
			require.NoError(t, f.Close())
		}
		var u *blockpack.UnsupportedError
		require.ErrorAs(t, err, &u)
		require.Equal(t, c.want, *u)
		require.ErrorContains(t, err, c.text)
		require.ErrorIs(t, err, shard.ErrUnsupported)
	}
	path := filepath.Join(t.TempDir(), "spans.blockpack")
	require.NoError(t, os.WriteFile(path, oldFooter, 0o600))
	_, err := blockpack.Open(t.Context(), path, blockpack.Options{})
	require.ErrorContains(t, err, "footer of version 7")
	require.ErrorIs(t, err, shard.ErrUnsupported)
}
