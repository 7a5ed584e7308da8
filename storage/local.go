package storage

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amudai/amudai-go/internal/base/sys"
)

// Local is the store of local files. The zero value is ready.
//
// A file is written under a hidden temporary name in its final folder, made
// durable (fsync) and then renamed, so that readers see all of it or nothing.
// A process that is killed leaves the temporary file: .NAME.RANDOM.tmp.
type Local struct {
	fs sys.FS // nil: the machine's
}

// NewLocal is a local store on a file system that tests made.
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
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &localReader{f, path, size}, nil
}

type localReader struct {
	f    sys.File
	path string
	size int64
}

func (r *localReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckRange(off, int64(len(p)), r.size); err != nil {
		return err
	}
	if n, err := r.f.ReadAt(p, off); n < len(p) {
		return fmt.Errorf("reading %d bytes at %d: %w", len(p), off, err)
	}
	return nil
}

func (r *localReader) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	tail := make([]byte, min(int64(max(n, 0)), r.size))
	err := r.ReadAt(ctx, tail, r.size-int64(len(tail)))
	return tail, r.size, err
}

func (r *localReader) Size(context.Context) (int64, error) { return r.size, nil }
func (r *localReader) Name() string                        { return r.path }
func (r *localReader) Capabilities() Capabilities          { return Capabilities{Latency: LatencyLow} }
func (r *localReader) Close() error                        { return r.f.Close() }

// Create implements [Store]. The folder must exist.
func (s Local) Create(ctx context.Context, location string, o CreateOptions) (Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := Path(location)
	if err != nil {
		return nil, err
	}
	if !o.Overwrite { // Publish checks again; this saves the work up to there.
		taken, err := s.sys().Exists(path)
		if err != nil {
			return nil, err
		}
		if taken {
			return nil, exists(path)
		}
	}
	tmp, f, err := createTemp(s.sys(), filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return nil, err
	}
	return &localWriter{fs: s.sys(), f: f, buf: bufio.NewWriterSize(f, 128<<10), path: path, tmp: tmp, o: o}, nil
}

// createTemp makes a new file with a hidden name that nothing else uses.
func createTemp(fsys sys.FS, dir, base string) (string, sys.File, error) {
	if len(base) > 200 { // names end at 255 bytes
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
	fs   sys.FS
	f    sys.File // nil after the end
	buf  *bufio.Writer
	path string
	tmp  string
	size int64
	o    CreateOptions
}

func (w *localWriter) Write(p []byte) (int, error) {
	if w.f == nil {
		return 0, errEnded
	}
	n, err := w.buf.Write(p)
	w.size += int64(n)
	return n, err
}

// Flush hands what is buffered to the operating system, so that it survives the
// end of the process.
func (w *localWriter) Flush() error {
	if w.f == nil {
		return errEnded
	}
	if err := w.buf.Flush(); err != nil {
		return err
	}
	w.f.StartWriteBack()
	return nil
}

func (w *localWriter) Size() int64  { return w.size }
func (w *localWriter) Name() string { return w.path }

func (w *localWriter) Publish(ctx context.Context) error {
	if w.f == nil {
		return errEnded
	}
	err := ctx.Err()
	if err == nil {
		err = w.buf.Flush()
	}
	if err == nil {
		err = w.f.Sync()
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	err = w.f.Close()
	w.f = nil
	if err == nil {
		err = w.fs.Rename(w.tmp, w.path, w.o.Overwrite)
	}
	if err != nil {
		return errors.Join(err, w.removeTemp())
	}
	if err := w.fs.SyncDir(filepath.Dir(w.path)); err != nil {
		return fmt.Errorf("%s is complete, but its name may not be durable: %w", w.path, err)
	}
	return nil
}

func (w *localWriter) Abort() error {
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
	return s.sys().Remove(path)
}
