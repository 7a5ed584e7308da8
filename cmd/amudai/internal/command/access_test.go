//go:build unix

package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
)

// private requires that all files of the folder have mode 0600.
func private(t *testing.T, after ...string) {
	t.Helper()
	names, err := filepath.Glob("*.shard*")
	require.NoError(t, err)
	more, err := filepath.Glob("*.stripe")
	require.NoError(t, err)
	for _, name := range append(names, more...) {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode(), "%s after %v", name, after)
	}
}

// Edits and replacements keep a file private, and so are all new files of its shard: an index holds every word.
func TestPrivateFilesStayPrivate(t *testing.T) {
	for _, layout := range []string{"single", "two-level"} {
		t.Chdir(t.TempDir())
		require.NoError(t, os.WriteFile("t.csv", []byte("a,b\n1,secret word\n2,other\n"), 0o600))
		ok(t, "convert", "-q", "t.csv", "t.amudai.shard", "--layout", layout)
		names, err := filepath.Glob("*")
		require.NoError(t, err)
		for _, name := range names {
			require.NoError(t, os.Chmod(name, 0o600))
		}
		for _, args := range [][]string{
			{"index", "add", "t.amudai.shard", "--columns", "b"}, {"index", "drop", "t.amudai.shard", "--columns", "b"},
			{"index", "add", "t.amudai.shard", "--key", "a"}, {"convert", "-q", "-f", "t.csv", "t.amudai.shard", "--layout", layout, "--columns", "b"},
		} {
			ok(t, args...)
			private(t, args...)
		}
		for _, name := range []string{"t.parquet", "t.jsonl", "t.csv.gz", "t.arrow", "t.ntuple.root"} {
			require.NoError(t, os.WriteFile(name, nil, 0o600))
			ok(t, "convert", "-q", "-f", "t.csv", name)
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode(), name)
		}
	}
}

// twoLevel is a shard t.amudai.shard in the current folder, and its only stripe file.
func twoLevel(t *testing.T) (stripe string) {
	t.Helper()
	require.NoError(t, os.WriteFile("t.csv", []byte("a,b\n1,x\n2,y\n"), 0o600))
	ok(t, "convert", "-q", "t.csv", "t.amudai.shard", "--layout", "two-level")
	names, err := filepath.Glob("*.stripe")
	require.NoError(t, err)
	require.Len(t, names, 1)
	return names[0]
}

// quickly requires that a function ends, and returns what it returns.
func quickly(t *testing.T, run func() result) result {
	t.Helper()
	done := make(chan result, 1)
	go func() { done <- run() }()
	select {
	case r := <-done:
		return r
	case <-time.After(time.Minute):
		require.FailNow(t, "it waits")
	}
	return result{}
}

// A stripe that is a pipe or a device is refused, and waits for nobody.
func TestStripeThatIsNoFile(t *testing.T) {
	for name, replace := range map[string]func(stripe string) error{
		"pipe":   func(stripe string) error { return syscall.Mkfifo(stripe, 0o600) },
		"folder": func(stripe string) error { return os.Mkdir(stripe, 0o700) },
		"link to a pipe": func(stripe string) error {
			if err := syscall.Mkfifo("pipe", 0o600); err != nil {
				return err
			}
			return os.Symlink("pipe", stripe)
		},
	} {
		t.Chdir(t.TempDir())
		stripe := twoLevel(t)
		require.NoError(t, os.Remove(stripe))
		require.NoError(t, replace(stripe), name)
		for _, args := range [][]string{{"cat", "t.amudai.shard"}, {"verify", "t.amudai.shard"}, {"convert", "t.amudai.shard", "u.csv"}, {"index", "add", "t.amudai.shard", "--columns", "b"}} {
			r := quickly(t, func() result { return run(t, args...) })
			require.NotEqual(t, app.ExitOK, r.code, "%s: %v", name, args)
			require.Contains(t, r.out+r.errout, "not a regular file", "%s: %v", name, args)
		}
	}
}

// A link of a shard must not lead out of its folder, while the location that a user names may be one, and its folder.
func TestStripeThatIsALink(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(dir+"/shard/below", 0o700))
	t.Chdir(dir + "/shard")
	stripe := twoLevel(t)
	want := ok(t, "cat", "t.amudai.shard")
	require.NoError(t, os.Rename(stripe, "below/"+stripe))
	require.NoError(t, os.Symlink("below/"+stripe, stripe))
	require.NoError(t, os.Symlink("shard", dir+"/link"))
	for _, location := range []string{"t.amudai.shard", dir + "/link/t.amudai.shard", "file://" + dir + "/shard/t.amudai.shard"} {
		require.Equal(t, want, ok(t, "cat", location))
	}
	require.NoError(t, os.Rename("below/"+stripe, dir+"/"+stripe))
	for _, target := range []string{"../" + stripe, dir + "/" + stripe} {
		require.NoError(t, os.Remove(stripe))
		require.NoError(t, os.Symlink(target, stripe))
		for _, args := range [][]string{{"cat", "t.amudai.shard"}, {"count", "t.amudai.shard", "--where", "a = 1"}, {"convert", "t.amudai.shard", "u.csv"}, {"cat", dir + "/link/t.amudai.shard"}} {
			r := run(t, args...)
			require.NotEqual(t, app.ExitOK, r.code, args)
			require.Contains(t, r.errout, "leads out of the folder", args)
		}
	}
}

// Waiting for the other end of a pipe that the user names ends with the command.
func TestPipeIsInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, syscall.Mkfifo("pipe.csv", 0o600))
	require.NoError(t, os.WriteFile("t.csv", []byte("a\n1\n"), 0o600))
	for _, args := range []string{"cat pipe.csv", "count pipe.csv --from csv", "convert t.csv pipe.csv", "take t.csv --rows-from pipe.csv", "diff pipe.csv t.csv", "sort pipe.csv --by a"} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		r := quickly(t, func() result { return runContext(ctx, app.Env{Args: strings.Fields(args)}) })
		cancel()
		require.NotEqual(t, app.ExitOK, r.code, args)
	}
}
