package formats_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/storage"
)

// TestVersions replaces an input between the look at its schema and the reading of its rows.
func TestVersions(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"replaced": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path+".new", []byte("b\n2\n"), 0o600))
			require.NoError(t, os.Rename(path+".new", path))
		},
		"rewritten": func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("longer\n2\n"), 0)) },
		"emptied":   func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, dir := t.Context(), t.TempDir()
			one, other := filepath.Join(dir, "1.csv"), filepath.Join(dir, "2.csv")
			for _, path := range []string{one, other} {
				require.NoError(t, os.WriteFile(path, []byte("a\n1\n"), 0o600))
			}
			p := new(formats.Opener).Silent(strings.NewReader(""))
			p.Versions = inputs.NewVersions(nil)
			var flags formats.TableFlags
			flags.Register(&cobra.Command{}, -1)
			u, err := p.Union(ctx, []string{one, other}, &flags)
			require.NoError(t, err)
			defer u.Close()
			change(t, other)
			src, err := u.Reader(ctx, u.Scan)
			if err == nil {
				for err == nil {
					batch, rerr := src.Next(ctx)
					if err = rerr; batch == nil {
						break
					}
					batch.Release()
				}
				require.NoError(t, src.Close())
			}
			require.ErrorIs(t, err, storage.ErrChanged)
			require.ErrorContains(t, err, other)
			require.NotErrorIs(t, err, io.EOF)
		})
	}
}

// TestVersionsOfBefore has versions that another run has seen.
func TestVersionsOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.csv")
	require.NoError(t, os.WriteFile(path, []byte("a\n1\n"), 0o600))
	open := func(known storage.Version) (storage.Version, error) {
		p := new(formats.Opener).Silent(strings.NewReader(""))
		p.Versions = inputs.NewVersions(map[string]storage.Version{path: known})
		in, _, err := p.Input(t.Context(), path, "")
		if err == nil {
			require.NoError(t, in.Close())
		}
		return in.Version, err
	}
	_, err := open("another")
	require.ErrorIs(t, err, storage.ErrChanged)
	p := new(formats.Opener).Silent(strings.NewReader(""))
	in, _, err := p.Input(t.Context(), path, "")
	require.NoError(t, err)
	require.NoError(t, in.Close())
	_, err = open(in.Version)
	require.NoError(t, err)
}
