//go:build unix

package storage_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/storage"
)

// access describes permissions and owners of a file.
func access(t *testing.T, name string) (os.FileMode, [2]uint32) {
	t.Helper()
	info, err := os.Stat(name)
	require.NoError(t, err)
	s := info.Sys().(*syscall.Stat_t)
	return info.Mode(), [2]uint32{s.Uid, s.Gid}
}

// A file that is replaced keeps its access, and its content is never open to more than it was.
func TestLocalAccess(t *testing.T) {
	ctx := t.Context()
	for _, mode := range []os.FileMode{0o600, 0o640, 0o644, 0o666, 0o400, 0o777} {
		dir := t.TempDir()
		path, beside, fresh := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		owner := [2]uint32{uint32(os.Getuid()), uint32(os.Getgid())}
		if os.Getuid() == 0 {
			owner = [2]uint32{12345, 23456}
			require.NoError(t, os.Chown(path, 12345, 23456))
		}
		info, err := os.Stat(path)
		require.NoError(t, err)
		r, err := storage.Local{}.Open(ctx, path)
		require.NoError(t, err)
		version, err := r.Version(ctx)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		for _, o := range []storage.CreateOptions{{IfMatch: version}, {Overwrite: true}, {Overwrite: true, Like: "/dev/null"}} {
			w, err := storage.Local{}.Create(ctx, path, o)
			require.NoError(t, err)
			require.NoError(t, w.Write(ctx, []byte("new")))
			require.NoError(t, w.Flush(ctx))
			names, err := filepath.Glob(dir + "/.*.tmp")
			require.NoError(t, err)
			require.Len(t, names, 1)
			now, who := access(t, names[0])
			require.Equal(t, info.Mode(), now, "while it is written")
			require.Equal(t, owner, who)
			require.NoError(t, w.Publish(ctx))
			now, who = access(t, path)
			require.Equal(t, info.Mode(), now)
			require.Equal(t, owner, who)
		}
		write := func(name string, o storage.CreateOptions) {
			w, err := storage.Local{}.Create(ctx, name, o)
			require.NoError(t, err)
			require.NoError(t, w.Publish(ctx))
		}
		write(beside, storage.CreateOptions{Like: path})
		now, who := access(t, beside)
		require.Equal(t, info.Mode(), now)
		require.Equal(t, owner, who)

		write(fresh, storage.CreateOptions{Like: filepath.Join(dir, "nothing")})
		plain := filepath.Join(dir, "plain")
		f, err := os.Create(plain)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		now, _ = access(t, plain)
		got, _ := access(t, fresh)
		require.Equal(t, now, got, "as any new file")
	}
}

// Permissions that change while the new content is written are those of the new file.
func TestLocalAccessChanges(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	w, err := storage.Local{}.Create(ctx, path, storage.CreateOptions{Overwrite: true})
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, w.Publish(ctx))
	now, _ := access(t, path)
	require.Equal(t, os.FileMode(0o600), now)
}

// What is no regular file is refused, without waiting for the other end of a pipe.
func TestLocalOpensOnlyFiles(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(dir+"/pipe", 0o600))
	require.NoError(t, os.Symlink("pipe", dir+"/link"))
	require.NoError(t, os.Mkdir(dir+"/folder", 0o700))
	for _, name := range []string{dir + "/pipe", dir + "/link", dir + "/folder", "/dev/zero", "/dev/tty"} {
		_, err := storage.Local{}.Open(ctx, name)
		require.Error(t, err, name)
		_, err = storage.Local{}.OpenIn(ctx, filepath.Dir(name), name)
		require.Error(t, err, name)
	}
}

// Links may lead to other names in the folder and below it, and the folder itself may be a link.
func TestLocalOpenIn(t *testing.T) {
	ctx := t.Context()
	base := t.TempDir()
	require.NoError(t, os.MkdirAll(base+"/shard/sub", 0o700))
	require.NoError(t, os.WriteFile(base+"/secret", []byte("secret"), 0o600))
	require.NoError(t, os.WriteFile(base+"/shard/sub/file", []byte("inside"), 0o600))
	for name, target := range map[string]string{
		"shard/in": "sub/file", "shard/sub/up": "../in", "shard/out": "../secret", "shard/absolute": base + "/secret", "shard/folder": "..",
		"shard/own": base + "/shard/sub/file", "link": "shard", "shard/loop": "loop", "shard/sub/deep": "../../secret",
	} {
		require.NoError(t, os.Symlink(target, base+"/"+name))
	}
	for _, s := range []storage.Store{storage.Local{}, faultstore.New().Local(), faultstore.New().Wrap(storage.Local{})} {
		for _, folder := range []string{base + "/shard", base + "/link", "file://" + base + "/shard/"} {
			open := func(name string) error {
				r, err := storage.OpenIn(ctx, s, folder, folder+"/"+name)
				if err != nil {
					return err
				}
				tail, _, err := r.ReadSuffix(ctx, 100)
				require.Equal(t, "inside", string(tail))
				return errors.Join(err, r.Close())
			}
			for _, name := range []string{"sub/file", "in", "sub/up"} {
				require.NoError(t, open(name), name)
			}
			for _, name := range []string{"out", "absolute", "folder/secret", "own", "sub/deep"} {
				err := open(name)
				require.ErrorIs(t, err, fault.ErrUnsupported, name)
				require.ErrorContains(t, err, "leads out of the folder")
			}
			require.ErrorIs(t, open("nothing"), os.ErrNotExist)
			require.ErrorIs(t, open("loop"), syscall.ELOOP)
		}
	}
}
