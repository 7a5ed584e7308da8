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
	err := f.File.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
