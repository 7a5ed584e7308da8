// Package sys is the part of a file system that storage uses. Tests replace it to make any step
// fail.
package sys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// File is an open file.
type File interface {
	io.Writer
	io.ReaderAt
	io.WriterAt
	Size() (int64, error)
	// StartWriteBack makes the system begin to write the file to the device, if it can, so that
	// Sync has less to do.
	StartWriteBack()
	Sync() error
	Close() error
}

// FS is a file system.
type FS interface {
	// Open opens a regular file for reading.
	Open(name string) (File, error)
	// Create makes a file that must not exist yet, for reading and writing.
	Create(name string) (File, error)
	// Rename gives a file its new name. With replace false it fails with
	// fs.ErrExist, in one step, if that name is taken.
	Rename(from, to string, replace bool) error
	// Remove deletes a file.
	Remove(name string) error
	// Exists reports whether a name is taken.
	Exists(name string) (bool, error)
	// ReadDir lists a folder, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error
}

// OS is the file system of the machine.
type OS struct{}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Open implements [FS].
func (OS) Open(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("is not a regular file (%v)", info.Mode().Type())}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return osFile{f}, nil
}

// Create implements [FS].
func (OS) Create(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Rename implements [FS].
func (OS) Rename(from, to string, replace bool) error {
	if replace {
		return os.Rename(from, to)
	}
	err := renameNew(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) || !unsupported(err) {
		return wrapLink(err, from, to)
	}
	// A hard link fails on an existing name as well.
	err = os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) || !unsupported(err) {
		return err
	}
	// No step of this file system does both: look, then rename.
	if _, err := os.Lstat(to); err == nil {
		return wrapLink(fs.ErrExist, from, to)
	}
	return os.Rename(from, to)
}

func wrapLink(err error, from, to string) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}

// unsupported reports whether an error means that the file system lacks a call.
func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EPERM)
}

// Remove implements [FS].
func (OS) Remove(name string) error { return os.Remove(name) }

// Exists implements [FS].
func (OS) Exists(name string) (bool, error) {
	_, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// ReadDir implements [FS]. If name is no folder the error wraps fs.ErrNotExist, too.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(name)
	if errors.Is(err, syscall.ENOTDIR) {
		err = fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return entries, err
}

// SyncDir implements [FS]. Windows has no such call, and some file systems refuse it. Both make
// names durable in other ways.
func (OS) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !unsupported(err) {
		return err
	}
	return nil
}
