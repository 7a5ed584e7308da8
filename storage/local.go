package storage

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/sys"
)

// Local is the store of local files. The zero value is ready to use.
//
// A file is written under a hidden temporary name in its final folder, synced, and then
// renamed, so that readers see the whole file or none. A process that is killed leaves
// the temporary file behind: .NAME.RANDOM.tmp.
//
// A file that is replaced keeps its permissions, and its owner and group where the system allows that; if its group cannot be
// kept, the new one may do no more than all others. Access control lists and extended attributes are not kept.
//
// The version of a file is its inode, size and modification time. Publish with
// [CreateOptions.IfMatch] compares and renames under a lock (flock) on the folder, which
// replacements and removals by other processes of this machine respect. Systems and file
// systems without such locks, Windows among them, have no conditional replacement.
//
// A reader fails with [ErrChanged] once its file was overwritten or became shorter. Appended bytes are not read. Of all files that
// are not read at the moment, 64 stay open; others are opened again, which fails with [ErrChanged] if they were replaced.
type Local struct {
	fs sys.FS // nil: that of the machine
}

// FileSystem is what a store of local files asks of the system. Only tests need another than that of the machine.
type FileSystem = sys.FS

// NewLocal returns a store on another file system, for tests. Nil is that of the machine.
func NewLocal(fs FileSystem) Local { return Local{fs} }

func (s Local) sys() sys.FS {
	if s.fs == nil {
		return sys.Default
	}
	return s.fs
}

// localPath is the path of a location, unless the context has ended.
func localPath(ctx context.Context, location string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return Path(location)
}

// Open implements [Store].
func (s Local) Open(ctx context.Context, location string) (Reader, error) {
	path, err := localPath(ctx, location)
	if err != nil {
		return nil, err
	}
	return newLocalReader(path, s.sys().Open)
}

// OpenIn implements [Confiner].
func (s Local) OpenIn(ctx context.Context, folder, location string) (Reader, error) {
	dir, err := localPath(ctx, folder)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, err
	}
	path, err := Path(location)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	below, err := filepath.Rel(dir, path)
	if err != nil {
		return nil, err
	}
	return newLocalReader(path, func(string) (sys.File, error) {
		f, err := s.sys().OpenIn(dir, below)
		if errors.Is(err, sys.ErrOutside) {
			return nil, fault.Unsupportedf("%s is a symbolic link that leads out of the folder %s: not allowed", path, dir)
		}
		return f, err
	})
}

func newLocalReader(path string, open func(name string) (sys.File, error)) (Reader, error) {
	h, err := newHandle(path, open)
	if err != nil {
		return nil, err
	}
	return &localReader{handle: h}, nil
}

type localReader struct {
	*handle
	end atomic.Pointer[[]byte] // last bytes, once they were read
}

func (r *localReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckRange(off, int64(len(p)), r.info.Size()); err != nil {
		return err
	}
	return r.use(func(f sys.File) error {
		if err := readFull(f, p, off, r.info.Size()); err != nil {
			return err
		}
		if known := int(min(endBytes, r.info.Size())); known > 0 && len(p) >= known && off+int64(len(p)) == r.info.Size() && r.end.Load() == nil {
			end := bytes.Clone(p[len(p)-known:])
			r.end.Store(&end)
		}
		return r.unchanged(f)
	})
}

// endBytes is how many of the last bytes of a file tell whether it only became longer. Fewer of them may be equal by chance.
const endBytes = 64

// unchanged fails if the file is no longer the one that was opened. It may become longer, as logs do, as long as its old bytes stay.
func (r *localReader) unchanged(f sys.File) error {
	now, err := f.Stat()
	if err != nil || now.Size() == r.info.Size() && now.ModTime().Equal(r.info.ModTime()) {
		return err
	}
	if end := r.end.Load(); end != nil && now.Size() > r.info.Size() {
		p := make([]byte, len(*end))
		if err := readFull(f, p, r.info.Size()-int64(len(p)), r.info.Size()); err != nil {
			return err
		}
		if bytes.Equal(p, *end) {
			return nil
		}
	}
	return fmt.Errorf("%d bytes of %v are now %d of %v: %w", r.info.Size(), r.info.ModTime().UTC().Format(time.RFC3339Nano),
		now.Size(), now.ModTime().UTC().Format(time.RFC3339Nano), ErrChanged)
}

func (r *localReader) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	size := r.info.Size()
	tail := make([]byte, min(int64(max(n, endBytes)), size))
	err := r.ReadAt(ctx, tail, size-int64(len(tail)))
	return tail[max(0, len(tail)-max(n, 0)):], size, err
}

func (r *localReader) Size(context.Context) (int64, error)      { return r.info.Size(), nil }
func (r *localReader) Version(context.Context) (Version, error) { return fileVersion(r.info), nil }
func (r *localReader) Name() string                             { return r.path }
func (r *localReader) Capabilities() Capabilities               { return Capabilities{Latency: LatencyLow} }
func (r *localReader) Close() error                             { return r.close() }

// fileVersion needs no access to the content. A replacement has another inode, and a
// later modification time than the file that it replaces (see localWriter.replace).
func fileVersion(info fs.FileInfo) Version {
	return Version(fmt.Sprintf("%x-%x-%x", sys.Inode(info), info.Size(), info.ModTime().UnixNano()))
}

// Link implements [Linker] by hard links.
func (s Local) Link(ctx context.Context, from, to string) error {
	old, err := localPath(ctx, from)
	if err != nil {
		return err
	}
	name, err := Path(to)
	if err != nil {
		return err
	}
	if err := s.sys().Link(old, name); err != nil {
		return err
	}
	return s.sys().SyncDir(filepath.Dir(name))
}

// Create implements [Store]. The folder must exist, or be asked for.
func (s Local) Create(ctx context.Context, location string, o CreateOptions) (Writer, error) {
	path, err := localPath(ctx, location)
	if err != nil {
		return nil, err
	}
	if o.Folders {
		if err := s.makeFolder(filepath.Dir(path)); err != nil {
			return nil, err
		}
	}
	like, err := s.checkCreate(ctx, path, o)
	if err != nil {
		return nil, err
	}
	tmp, f, err := createTemp(s.sys(), filepath.Dir(path), filepath.Base(path), like)
	if err != nil {
		return nil, err
	}
	return &localWriter{fs: s.sys(), f: f, buffer: newBuffer(f), path: path, tmp: tmp, o: o}, nil
}

func (s Local) makeFolder(dir string) error {
	if taken, err := s.sys().Exists(dir); taken || err != nil {
		return err
	}
	if err := s.sys().MakeFolder(dir); err != nil {
		return err
	}
	return s.sys().SyncDir(filepath.Dir(dir))
}

// checkCreate saves the work of writing an artifact that Publish would refuse. It returns the file whose permissions the new one
// gets: the one that it replaces, or else that of the options, or nil.
func (s Local) checkCreate(ctx context.Context, path string, o CreateOptions) (like fs.FileInfo, err error) {
	switch {
	case o.IfMatch != "":
		unlock, err := s.sys().Lock(ctx, filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		defer unlock()
		return matching(s.sys(), path, o.IfMatch)
	case o.Overwrite:
		if like, err = s.sys().Stat(path); err == nil {
			return like, isReplaceable(path, like)
		}
	default:
		taken, err := s.sys().Exists(path)
		if err == nil && taken {
			err = exists(path)
		}
		if err != nil {
			return nil, err
		}
	}
	if o.Like == "" {
		return nil, nil
	}
	if path, err = Path(o.Like); err != nil {
		return nil, err
	}
	return matching(s.sys(), path, "")
}

// isReplaceable returns an error for a device, a pipe or the like, and for a link to one: a rename would put a file in its place.
func isReplaceable(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() && !info.IsDir() { // a rename onto a folder fails by itself
		return &fs.PathError{Op: "replace", Path: path, Err: errors.New("not a file")}
	}
	return nil
}

// createTemp creates a file under a hidden, unused name, with the access of like.
func createTemp(fsys sys.FS, dir, base string, like fs.FileInfo) (string, sys.File, error) {
	if len(base) > 200 { // file systems limit names to 255 bytes
		base = base[:200]
	}
	for try := 0; ; try++ {
		var random [8]byte
		rand.Read(random[:]) // never fails
		name := filepath.Join(dir, "."+base+"."+hex.EncodeToString(random[:])+".tmp")
		f, err := fsys.Create(name, like)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		return name, f, err
	}
}

type localWriter struct {
	fs     sys.FS
	f      sys.File // nil after the end
	buffer buffer
	path   string
	tmp    string
	begun  int64 // bytes that the system was asked to write to the device
	o      CreateOptions
}

// writeBackFrom is how many bytes the system is asked to begin writing to the device. With fewer, the call takes longer than it spares Sync.
const writeBackFrom = 1 << 20

func (w *localWriter) Write(ctx context.Context, p []byte) error {
	if w.f == nil {
		return errEnded
	}
	return w.buffer.write(ctx, p)
}

func (w *localWriter) WriteAt(ctx context.Context, p []byte, off int64) error {
	if w.f == nil {
		return errEnded
	}
	return w.buffer.writeAt(ctx, w.f, p, off)
}

func (w *localWriter) Flush(ctx context.Context) error {
	if w.f == nil {
		return errEnded
	}
	if err := w.buffer.flush(ctx); err != nil {
		return err
	}
	if w.buffer.size-w.begun >= writeBackFrom {
		w.begun = w.buffer.size
		w.f.StartWriteBack()
	}
	return nil
}

func (w *localWriter) Size() int64  { return w.buffer.size }
func (w *localWriter) Name() string { return w.path }

func (w *localWriter) Publish(ctx context.Context) error {
	if w.f == nil {
		return errEnded
	}
	err := w.buffer.flush(ctx)
	if err == nil {
		err = w.f.Sync()
	}
	var written fs.FileInfo
	if err == nil {
		written, err = w.f.Stat()
	}
	err = errors.Join(err, w.f.Close())
	w.f = nil
	switch {
	case err != nil:
	case w.o.Overwrite || w.o.IfMatch != "":
		err = w.replace(ctx, written)
	default:
		err = w.fs.Rename(w.tmp, w.path, false)
	}
	if err != nil {
		return errors.Join(err, w.removeTemp())
	}
	if err := w.fs.SyncDir(filepath.Dir(w.path)); err != nil {
		return fmt.Errorf("%s is complete, but its name may not be durable: %w", w.path, err)
	}
	return nil
}

// replace renames the temporary file over the artifact at the location, if there is one
// and it matches. It keeps the access of the old one, also if that has changed since Create.
func (w *localWriter) replace(ctx context.Context, written fs.FileInfo) error {
	unlock, err := w.fs.Lock(ctx, filepath.Dir(w.path))
	if w.o.IfMatch == "" {
		unlock, err = optional(unlock, err)
	}
	if err != nil {
		return err
	}
	defer unlock()
	old, err := matching(w.fs, w.path, w.o.IfMatch)
	if err != nil {
		return err
	}
	// Clocks of file systems tick every few milliseconds, and inodes are reused. Times
	// that increase with every replacement keep a version from coming back.
	if old != nil && !written.ModTime().After(old.ModTime()) {
		if err := w.fs.SetModTime(w.tmp, old.ModTime().Add(time.Microsecond)); err != nil {
			return err
		}
	}
	if old != nil && old.Mode() != written.Mode() {
		if err := w.fs.SetAccess(w.tmp, old); err != nil {
			return err
		}
	}
	return w.fs.Rename(w.tmp, w.path, true)
}

// matching describes the file at path, nil if there is none. It fails if the file is not
// version v; the empty version matches any state.
func matching(fsys sys.FS, path string, v Version) (fs.FileInfo, error) {
	info, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = nil, nil
	}
	if err == nil && v != "" && (info == nil || fileVersion(info) != v) {
		err = changed(path)
	}
	return info, err
}

// optional turns a lock that cannot be had at all into none, for steps that were atomic
// without it: they take it only for the sake of conditional ones.
func optional(unlock func(), err error) (func(), error) {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	return unlock, err
}

func (w *localWriter) Abort(context.Context) error {
	if w.f == nil {
		return nil
	}
	err := w.f.Close()
	w.f = nil
	return errors.Join(err, w.removeTemp())
}

func (w *localWriter) removeTemp() error {
	if err := w.fs.Remove(w.tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Remove implements [Store].
func (s Local) Remove(ctx context.Context, location string) error {
	return s.RemoveVersion(ctx, location, "")
}

// RemoveVersion implements [VersionRemover]. Without locks another process may replace the file meanwhile.
func (s Local) RemoveVersion(ctx context.Context, location string, v Version) error {
	path, err := localPath(ctx, location)
	if err != nil {
		return err
	}
	unlock, err := optional(s.sys().Lock(ctx, filepath.Dir(path)))
	if err != nil {
		return err
	}
	defer unlock()
	if v != "" {
		if info, err := matching(s.sys(), path, ""); err != nil || info != nil && fileVersion(info) != v {
			return cmp.Or(err, changed(path))
		}
	}
	return s.sys().Remove(path)
}
