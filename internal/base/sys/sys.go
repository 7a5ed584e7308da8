// Package sys is the interface of storage to file systems. Tests replace it to make any
// step fail.
package sys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// File is an open file.
type File interface {
	io.Writer
	io.ReaderAt
	io.WriterAt
	Stat() (fs.FileInfo, error)
	// StartWriteBack asks the system to begin writing dirty pages to the device, so that
	// less is left for Sync. It does not wait.
	StartWriteBack()
	Sync() error
	Close() error
}

// FS is a file system.
type FS interface {
	// Open opens a regular file for reading. It does not wait for the other end of a pipe, as it refuses what is no file.
	Open(name string) (File, error)
	// OpenIn is Open for a path below a folder. Symbolic links that lead out of the folder are refused with [ErrOutside].
	OpenIn(dir, path string) (File, error)
	// Create creates a file for reading and writing, with the access of like, or that of new files if it is nil. It fails
	// with fs.ErrExist if the name is taken.
	Create(name string, like fs.FileInfo) (File, error)
	// SetAccess gives a file the permissions of another one, and its owner and group where the system allows that.
	SetAccess(name string, like fs.FileInfo) error
	// Rename renames a file. If the new name is taken, the file of that name is replaced,
	// or without replace the error is fs.ErrExist. Either is one atomic step.
	Rename(from, to string, replace bool) error
	// Link gives a file, or the one that a link leads to, a second name. It fails with fs.ErrExist if the name is taken, and with errors.ErrUnsupported if the
	// file system has no such links.
	Link(from, to string) error
	// Remove deletes a file.
	Remove(name string) error
	// Exists reports whether a name is taken, by a dangling link too.
	Exists(name string) (bool, error)
	// Stat describes a file, or the file that a link leads to.
	Stat(name string) (fs.FileInfo, error)
	// SetModTime sets the modification time of a file.
	SetModTime(name string, t time.Time) error
	// Lock locks a folder against other calls of Lock, in any process of this machine,
	// until unlock or the end of the process. It waits for the lock until ctx ends. The
	// error wraps errors.ErrUnsupported if the system or the file system has no such
	// locks.
	Lock(ctx context.Context, dir string) (unlock func(), err error)
	// ReadDir lists a folder, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// MakeFolder creates a folder, and those that it is in, unless they are there.
	MakeFolder(name string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error
}

// OS is the file system of the machine.
type OS struct{}

// Default is the file system of stores and budgets that name no other. Only tests set it.
var Default FS = OS{}

type osFile struct{ *os.File }

// Open implements [FS].
func (OS) Open(name string) (File, error) { return regular(os.OpenFile(name, os.O_RDONLY|NoWait, 0)) }

// OpenIn implements [FS].
func (OS) OpenIn(dir, path string) (File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(path, os.O_RDONLY|NoWait, 0)
	if of := new(fs.PathError); errors.As(err, &of) {
		if of.Path = filepath.Join(dir, path); !errors.As(err, new(syscall.Errno)) { // package os refuses it, not the system
			of.Err = ErrOutside
		}
	}
	return regular(f, err)
}

// ErrOutside is the error of a path that symbolic links lead out of a folder.
var ErrOutside = errors.New("it leads out of the folder")

// regular is the file that was opened, if it is a regular one.
func regular(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: fmt.Errorf("is not a regular file (%v)", info.Mode().Type())}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
}

// Create implements [FS].
func (OS) Create(name string, like fs.FileInfo) (File, error) {
	mode := fs.FileMode(0o666)
	if like != nil {
		mode = 0o600 // until it has the right group
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err == nil && like != nil {
		if err = (OS{}).SetAccess(name, like); err != nil {
			err = errors.Join(err, f.Close(), os.Remove(name))
		}
	}
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// SetAccess implements [FS].
func (OS) SetAccess(name string, like fs.FileInfo) error {
	mode := like.Mode().Perm()
	if !setOwner(name, like) {
		mode = otherGroup(mode)
	}
	err := os.Chmod(name, mode)
	if now, statErr := os.Stat(name); err != nil && statErr == nil && now.Mode().Perm() == mode {
		return nil // of a file system without permissions
	}
	return err
}

// otherGroup are the permissions of a file whose group is another one: it may do what all may.
func otherGroup(mode fs.FileMode) fs.FileMode { return mode&^0o070 | mode&0o070&(mode<<3) }

// Link implements [FS].
func (OS) Link(from, to string) error {
	if file, err := filepath.EvalSymlinks(from); err == nil {
		from = file
	}
	err := os.Link(from, to)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EMLINK) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EXDEV) {
		err = fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
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
	// Like renameNew, link fails if the name is taken.
	err = os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) || !unsupported(err) {
		return err
	}
	// This file system has no such step. Check and rename are two.
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

// Stat implements [FS].
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// SetModTime implements [FS].
func (OS) SetModTime(name string, t time.Time) error { return os.Chtimes(name, time.Time{}, t) }

// ReadDir implements [FS]. If name is no folder the error wraps fs.ErrNotExist, too.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(name)
	if errors.Is(err, syscall.ENOTDIR) {
		err = fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return entries, err
}

// MakeFolder implements [FS].
func (OS) MakeFolder(name string) error { return os.MkdirAll(name, 0o777) }

// SyncDir implements [FS]. It does nothing on Windows and on file systems without such a
// call: they make names durable by themselves.
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
