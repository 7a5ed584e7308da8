package storage

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/amudai/amudai-go/internal/base/sys"
)

// Budget is an amount of memory, in bytes, that many spools share. It may be
// used by many goroutines at once. A nil budget has no limit.
type Budget struct {
	limit int64
	used  atomic.Int64
	fs    sys.FS

	mu    sync.Mutex
	files map[string]*spillFile // current file of each temporary folder
}

// NewBudget is a budget of limit bytes; 0 or less means no limit.
func NewBudget(limit int64) *Budget { return NewBudgetOn(sys.OS{}, limit) }

// NewBudgetOn is a budget that spills to a file system that tests made.
func NewBudgetOn(fs sys.FS, limit int64) *Budget {
	if limit <= 0 {
		limit = math.MaxInt64
	}
	return &Budget{limit: limit, fs: fs, files: map[string]*spillFile{}}
}

// Limit is the number of bytes of the budget.
func (b *Budget) Limit() int64 {
	if b == nil {
		return math.MaxInt64
	}
	return b.limit
}

// Used is the number of bytes taken. It may exceed the limit, see [Budget.Take].
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// TryTake takes n bytes if they are left.
func (b *Budget) TryTake(n int64) bool {
	if b == nil {
		return true
	}
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

// Take takes n bytes even if they are not left: for memory that is needed to
// get on at all.
func (b *Budget) Take(n int64) {
	if b != nil {
		b.used.Add(n)
	}
}

// Give returns n bytes.
func (b *Budget) Give(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}

// rotateAt is the size from which spools that spill begin a new file. A file
// lives as long as any spool with bytes in it, so one file for all would grow
// for as long as the lives of spools overlap.
const rotateAt = 256 << 20

// A spillFile holds what spools of one budget moved out of memory. Spools share
// it, so that 50,000 of them do not need 50,000 open files.
type spillFile struct {
	f    sys.File
	fs   sys.FS
	path string // to remove at the end; "" if the name is gone already
	end  int64
	refs int // spools with bytes in it, and 1 while it is current
}

// reserve gives n bytes of the current file of a folder. last is the file that
// the spool used before; if the file is another one the spool now refers to it.
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
			b.drop(cur) // its spools keep it; an error shows when they end
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
	if dir == "" {
		dir = os.TempDir()
	}
	path, f, err := createTemp(b.fs, dir, "amudai-spill")
	if err != nil {
		return nil, err
	}
	s := &spillFile{f: f, fs: b.fs, path: path, refs: 1}
	// An open file without a name disappears with the process, however that
	// ends. Windows refuses; there the name goes when the file is closed.
	if b.fs.Remove(path) == nil {
		s.path = ""
	}
	return s, nil
}

// release takes back a spool's reference. The file goes with the last one.
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
