package storage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amudai/amudai-go/internal/base/sys"
)

// Local is the store of local files. The zero value is ready to use.
//
// A file is written under a hidden temporary name in its final folder, synced, and then
// renamed, so that readers see the whole file or none. A process that is killed leaves
// the temporary file behind: .NAME.RANDOM.tmp.
//
// The version of a file is its inode, size and modification time. Publish with
// [CreateOptions.IfMatch] compares and renames under a lock (flock) on the folder, which
// replacements and removals by other processes of this machine respect. Systems and file
// systems without such locks, Windows among them, have no conditional replacement.
type Local struct {
	fs sys.FS // nil: that of the machine
}

// NewLocal returns a store on another file system, for tests.
func NewLocal(fs sys.FS) Local { return Local{fs} }

func (s Local) sys() sys.FS {
	if s.fs == nil {
		return sys.OS{}
	}
	return s.fs
}

// Open implements [Store].
func (s Local) Open(ctx context.Context, location string) (Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := Path(location)
	if err != nil {
		return nil, err
	}
	f, err := s.sys().Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &localReader{f, path, info}, nil
}

type localReader struct {
	f    sys.File
	path string
	info fs.FileInfo // at Open
}

func (r *localReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckRange(off, int64(len(p)), r.info.Size()); err != nil {
		return err
	}
	if n, err := r.f.ReadAt(p, off); n < len(p) {
		return fmt.Errorf("reading %d bytes at %d: %w", len(p), off, err)
	}
	return nil
}

func (r *localReader) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	size := r.info.Size()
	tail := make([]byte, min(int64(max(n, 0)), size))
	err := r.ReadAt(ctx, tail, size-int64(len(tail)))
	return tail, size, err
}

func (r *localReader) Size(context.Context) (int64, error)      { return r.info.Size(), nil }
func (r *localReader) Version(context.Context) (Version, error) { return fileVersion(r.info), nil }
func (r *localReader) Name() string                             { return r.path }
func (r *localReader) Capabilities() Capabilities               { return Capabilities{Latency: LatencyLow} }
func (r *localReader) Close() error                             { return r.f.Close() }

// fileVersion needs no access to the content. A replacement has another inode, and a
// later modification time than the file that it replaces (see localWriter.replace).
func fileVersion(info fs.FileInfo) Version {
	return Version(fmt.Sprintf("%x-%x-%x", sys.Inode(info), info.Size(), info.ModTime().UnixNano()))
}

// Link implements [Linker] by hard links.
func (s Local) Link(ctx context.Context, from, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	old, err := Path(from)
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

// Create implements [Store]. The folder must exist.
func (s Local) Create(ctx context.Context, location string, o CreateOptions) (Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := Path(location)
	if err != nil {
		return nil, err
	}
	if err := s.checkCreate(ctx, path, o); err != nil {
		return nil, err
	}
	tmp, f, err := createTemp(s.sys(), filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return nil, err
	}
	return &localWriter{fs: s.sys(), f: f, buffer: newBuffer(f), path: path, tmp: tmp, o: o}, nil
}

// isReplaceable returns an error for a device, a pipe or the like, and for a link to one: a rename would put a file in its place.
func isReplaceable(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() { // a rename onto a folder fails by itself
		return &fs.PathError{Op: "replace", Path: path, Err: errors.New("not a file")}
	}
	return nil
}

// checkCreate saves the work of writing an artifact that Publish would refuse.
func (s Local) checkCreate(ctx context.Context, path string, o CreateOptions) error {
	switch {
	case o.IfMatch != "":
		unlock, err := s.sys().Lock(ctx, filepath.Dir(path))
		if err != nil {
			return err
		}
		defer unlock()
		_, err = matching(s.sys(), path, o.IfMatch)
		return err
	case o.Overwrite:
		return isReplaceable(path)
	}
	taken, err := s.sys().Exists(path)
	if err == nil && taken {
		err = exists(path)
	}
	return err
}

// createTemp creates a file under a hidden, unused name.
func createTemp(fsys sys.FS, dir, base string) (string, sys.File, error) {
	if len(base) > 200 { // file systems limit names to 255 bytes
		base = base[:200]
	}
	for try := 0; ; try++ {
		var random [8]byte
		rand.Read(random[:]) // never fails
		name := filepath.Join(dir, "."+base+"."+hex.EncodeToString(random[:])+".tmp")
		f, err := fsys.Create(name)
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

// WriteAt implements [WriterAt].
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
		err = w.replace(ctx, written.ModTime())
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
// and it matches.
func (w *localWriter) replace(ctx context.Context, modified time.Time) error {
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
	if old != nil && !modified.After(old.ModTime()) {
		if err := w.fs.SetModTime(w.tmp, old.ModTime().Add(time.Microsecond)); err != nil {
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
	if err := ctx.Err(); err != nil {
		return err
	}
	path, err := Path(location)
	if err != nil {
		return err
	}
	unlock, err := optional(s.sys().Lock(ctx, filepath.Dir(path)))
	if err != nil {
		return err
	}
	defer unlock()
	return s.sys().Remove(path)
}
