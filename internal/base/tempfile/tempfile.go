// Package tempfile makes temporary files that vanish with the process where the system allows it.
package tempfile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// File is a temporary file. It is written, then read. Reads behind the last byte that was written end with io.EOF, those of a file that
// became shorter fail.
type File struct {
	*os.File
	named bool
	size  int64 // written
	at    int64 // position
}

// BeforeIO is nil, but for tests, where it is called before each operation on temporary files, whose error it may return.
var BeforeIO func(op string) error

func before(op string, f *os.File) error {
	if BeforeIO == nil {
		return nil
	}
	if err := BeforeIO(op); err != nil {
		return &os.PathError{Op: op, Path: f.Name(), Err: fault.NoEOF(err)}
	}
	return nil
}

// Write implements [io.Writer].
func (f *File) Write(p []byte) (int, error) {
	if err := before("write", f.File); err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	f.at += int64(n)
	f.size = max(f.size, f.at)
	return n, err
}

// Read implements [io.Reader].
func (f *File) Read(p []byte) (int, error) {
	if err := before("read", f.File); err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	f.at += int64(n)
	return n, f.end(err, f.at)
}

// end is the error of a read up to an offset.
func (f *File) end(err error, at int64) error {
	if err == io.EOF && at < f.size {
		return &os.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("it ends at %d of %d bytes: %w", at, f.size, io.ErrUnexpectedEOF)}
	}
	return err
}

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if err := before("read", f.File); err != nil {
		return 0, err
	}
	n, err := f.File.ReadAt(p, off)
	return n, f.end(err, off+int64(n))
}

// Seek implements [io.Seeker].
func (f *File) Seek(offset int64, whence int) (int64, error) {
	if err := before("seek", f.File); err != nil {
		return 0, err
	}
	at, err := f.File.Seek(offset, whence)
	f.at = at
	return at, err
}

// Create makes a file in a folder; "" is os.TempDir. Where the system allows it, the file has no name.
func Create(dir string) (*File, error) {
	f, err := os.CreateTemp(dir, "amudai-*")
	if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	return &File{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// Close closes the file, and removes it.
func (f *File) Close() error {
	err := errors.Join(before("close", f.File), f.File.Close())
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
