package provider

import (
	"errors"
	"io"
	"os"

	"github.com/amudai/amudai-go/storage"
)

// Spooled is a temporary file with the content of a pipe, for formats that need random access.
type Spooled struct {
	*os.File
	size int64
}

// Spool copies r to a temporary file in dir, which Close removes. An empty dir
// means os.TempDir.
func Spool(r io.Reader, dir string) (*Spooled, error) {
	f, err := os.CreateTemp(dir, "amudai-spool-*")
	if err != nil {
		return nil, err
	}
	s := &Spooled{File: f}
	if s.size, err = io.Copy(f, r); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Size is the number of bytes.
func (s *Spooled) Size() int64 { return s.size }

// Close closes and removes the file. It does nothing if the file is nil.
func (s *Spooled) Close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.File.Close(), os.Remove(s.File.Name()))
}

// Stored is an input in a store, for formats that read from stores.
type Stored struct {
	Location string
	Store    storage.Store

	temp *Spooled // nil unless the input is a pipe
}

// Stored returns the bytes of the input in a store: its own if the input has a location, so that reads over a network are
// joined as the store likes it. A pipe is copied to a temporary file in tempDir, by default os.TempDir. The input stays
// the caller's, and must be closed after the result.
func (in Input) Stored(tempDir string) (Stored, error) {
	if in.Location != "" {
		store, err := storage.Of(in.Store, in.Location)
		return Stored{in.Location, store, nil}, err
	}
	if in.At != nil && in.Size >= 0 {
		return Stored{in.Name, storage.FromReaderAt(in.Name, in.At, in.Size), nil}, nil
	}
	temp, err := Spool(in.Reader, tempDir)
	if err != nil {
		return Stored{}, err
	}
	return Stored{in.Name, storage.FromReaderAt(in.Name, temp, temp.Size()), temp}, nil
}

// Close removes the temporary file, if there is one.
func (s Stored) Close() error { return s.temp.Close() }
