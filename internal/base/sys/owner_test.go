//go:build unix

package sys

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where the group of a file cannot be kept, another group gets no more than all have.
func TestOtherGroup(t *testing.T) {
	for mode, want := range map[fs.FileMode]fs.FileMode{0o640: 0o600, 0o644: 0o644, 0o660: 0o600, 0o664: 0o644, 0o646: 0o646, 0o604: 0o604, 0o777: 0o777} {
		require.Equal(t, want, otherGroup(mode), "%o", mode)
	}
}

// A link gives the file that a symbolic link leads to a second name.
func TestLinkOfLink(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/below", 0o700))
	require.NoError(t, os.WriteFile(dir+"/below/file", []byte("x"), 0o600))
	require.NoError(t, os.Symlink("below/file", dir+"/link"))
	require.NoError(t, OS{}.Link(filepath.Join(dir, "link"), filepath.Join(dir, "second")))
	info, err := os.Lstat(dir + "/second")
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular())
}
