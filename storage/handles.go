package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/amudai/amudai-go/internal/base/sys"
)

// maxHandles is how many files stay open for readers of local files that do not read at the moment. Systems allow a process 256 open files
// and more.
const maxHandles = 64

// handle is a file that is opened again for the next read if it was closed in between, because there are too many.
type handle struct {
	open       func(name string) (sys.File, error)
	path, full string
	info       fs.FileInfo // as it was opened first

	opening sync.Mutex
	f       sys.File // nil while it is closed; handles is locked for it and for what follows
	users   int
	used    uint64 // time of the last use
}

// handles are the open files of all readers.
var handles struct {
	sync.Mutex
	open map[*handle]bool
	time uint64
}

func newHandle(path string, open func(name string) (sys.File, error)) (*handle, error) {
	full, err := filepath.Abs(path) // in another folder, a path would be that of another file
	if err != nil {
		return nil, err
	}
	h := &handle{open: open, path: path, full: full}
	return h, h.use(func(sys.File) error { return nil })
}

// use calls do with the open file.
func (h *handle) use(do func(f sys.File) error) error {
	f, err := h.acquire()
	if err != nil {
		return err
	}
	defer func() {
		handles.Lock()
		defer handles.Unlock()
		h.users--
	}()
	return do(f)
}

// acquire counts a use of the file, which it opens if it is closed.
func (h *handle) acquire() (sys.File, error) {
	h.opening.Lock()
	defer h.opening.Unlock()
	handles.Lock()
	defer handles.Unlock()
	if h.f == nil {
		handles.Unlock()
		f, err := h.reopen()
		handles.Lock()
		if err != nil {
			return nil, err
		}
		if handles.open == nil {
			handles.open = map[*handle]bool{}
		}
		h.f, handles.open[h] = f, true
	}
	h.users++
	handles.time++
	h.used = handles.time
	closeIdle(maxHandles)
	return h.f, nil
}

// reopen opens the file, which must still be the same one.
func (h *handle) reopen() (sys.File, error) {
	name := h.path
	if h.info != nil {
		name = h.full
	}
	f, err := h.open(name)
	if errors.Is(err, syscall.EMFILE) {
		handles.Lock()
		closeIdle(0)
		handles.Unlock()
		f, err = h.open(name)
	}
	if err != nil {
		if h.info != nil && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", ErrChanged, err)
		}
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err == nil && h.info == nil:
		h.info = info
	case err == nil && sys.Inode(info) != sys.Inode(h.info):
		err = ErrChanged
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// closeIdle closes files that nobody reads, those first that were not used for the longest time, as long as more than some are open. The
// caller holds the lock.
func closeIdle(most int) {
	for len(handles.open) > most {
		var oldest *handle
		for h := range handles.open {
			if h.users == 0 && (oldest == nil || h.used < oldest.used) {
				oldest = h
			}
		}
		if oldest == nil {
			return
		}
		_ = oldest.drop() // nothing was written
	}
}

// drop closes the file. The caller holds the lock.
func (h *handle) drop() error {
	f := h.f
	h.f = nil
	delete(handles.open, h)
	if f == nil {
		return nil
	}
	return f.Close()
}

// close closes the file for good.
func (h *handle) close() error {
	handles.Lock()
	defer handles.Unlock()
	return h.drop()
}
