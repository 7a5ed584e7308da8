// Package tempfile makes temporary files that vanish with the process where the system allows it.
package tempfile

import (
	"errors"
	"fmt"
	"os"
)

// File is a temporary file.
type File struct {
	*os.File
	named bool
}

// BeforeIO is nil, but for tests, where it is called before each operation on temporary files, whose error it may return.
var BeforeIO func(op string) error

func before(op string, f *os.File) error {
	if BeforeIO == nil {
		return nil
	}
	if err := BeforeIO(op); err != nil {
		return &os.PathError{Op: op, Path: f.Name(), Err: err}
	}
	return nil
}

// Write implements [io.Writer].
func (f *File) Write(p []byte) (int, error) {
	if err := before("write", f.File); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// Read implements [io.Reader].
func (f *File) Read(p []byte) (int, error) {
	if err := before("read", f.File); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if err := before("read", f.File); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

// Seek implements [io.Seeker].
func (f *File) Seek(offset int64, whence int) (int64, error) {
	if err := before("seek", f.File); err != nil {
		return 0, err
	}
	return f.File.Seek(offset, whence)
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
