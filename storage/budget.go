package storage

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/amudai/amudai-go/internal/base/sys"
)

// Budget is a limit, in bytes, on the memory of all spools that share it. Its methods
// may be called concurrently.
type Budget struct {
	limit int64
	used  atomic.Int64
	fs    sys.FS

	mu    sync.Mutex
	files map[string]*spillFile // the current file by folder
}

// NewBudget returns a budget of limit bytes. One of 0 or less is unlimited.
func NewBudget(limit int64) *Budget { return NewBudgetOn(sys.Default, limit) }

// NewBudgetOn returns a budget that spills to another file system, for tests.
func NewBudgetOn(fs FileSystem, limit int64) *Budget {
	limit = cmp.Or(max(limit, 0), math.MaxInt64)
	return &Budget{limit: limit, fs: fs, files: map[string]*spillFile{}}
}

// Used is the number of bytes taken. Spools may bring it somewhat above the limit, to make progress.
func (b *Budget) Used() int64 { return b.used.Load() }

// tryTake takes n bytes if that many are left, and reports whether it did.
func (b *Budget) tryTake(n int64) bool {
	for {
		used := b.used.Load()
		if n > b.limit-used {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// rotateAt is the size at which a spill file is full. A file exists until the last spool
// with bytes in it is closed: a single file would grow as long as lifetimes of spools
// overlap.
const rotateAt = 256 << 20

// A spillFile holds bytes of several spools of one budget: 50,000 spools must not need
// 50,000 open files.
type spillFile struct {
	f    sys.File
	fs   sys.FS
	path string // to remove; "" if the file has no name any more
	end  int64
	refs int // spools with bytes in it, plus 1 while it is current
}

// reserve returns the current file of a folder, and the offset in it of n bytes for the
// caller. last is the previous file of the spool. If the files differ, the spool gets a
// reference.
func (b *Budget) reserve(dir string, n int64, last *spillFile) (*spillFile, int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	cur := b.files[dir]
	if cur == nil || cur.end >= rotateAt {
		f, err := b.create(dir)
		if err != nil {
			return nil, 0, err
		}
		if cur != nil {
			b.drop(cur) // closed with its last spool
		}
		cur = f
		b.files[dir] = f
	}
	if cur != last {
		cur.refs++
	}
	off := cur.end
	cur.end += n
	return cur, off, nil
}

func (b *Budget) create(dir string) (*spillFile, error) {
	dir = cmp.Or(dir, os.TempDir())
	path, f, err := createTemp(b.fs, dir, "amudai-spill", nil)
	if err != nil {
		return nil, err
	}
	s := &spillFile{f: f, fs: b.fs, path: path, refs: 1}
	// A file without a name disappears with the process, even after a crash. Windows does
	// not remove open files: there drop does.
	if b.fs.Remove(path) == nil {
		s.path = ""
	}
	return s, nil
}

// release drops a reference of a spool. The last one removes the file.
func (b *Budget) release(f *spillFile) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.drop(f)
	for dir, cur := range b.files {
		if cur == f && f.refs == 1 {
			delete(b.files, dir)
			err = errors.Join(err, b.drop(f))
		}
	}
	return err
}

func (b *Budget) drop(f *spillFile) error {
	f.refs--
	if f.refs > 0 {
		return nil
	}
	err := f.f.Close()
	if f.path != "" {
		if rerr := f.fs.Remove(f.path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
