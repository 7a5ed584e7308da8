package tempfile

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShorter reads a file that became shorter: io.EOF would mean that there is nothing behind.
func TestShorter(t *testing.T) {
	f, err := Create(t.TempDir())
	require.NoError(t, err)
	defer f.Close()
	_, err = f.Write(make([]byte, 100))
	require.NoError(t, err)
	p := make([]byte, 100)
	_, err = f.Read(p)
	require.Equal(t, io.EOF, err)
	_, err = f.ReadAt(p, 50)
	require.Equal(t, io.EOF, err)
	require.NoError(t, f.Truncate(60))
	_, err = f.ReadAt(p, 50)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = f.Seek(60, io.SeekStart)
	require.NoError(t, err)
	_, err = f.Read(p)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	BeforeIO = func(string) error { return io.EOF }
	defer func() { BeforeIO = nil }()
	_, err = f.Read(p)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotErrorIs(t, err, io.EOF)
	require.ErrorAs(t, err, new(*os.PathError))
}
