package table

import (
	"errors"
	"io"
	"os"
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
