package faultstore

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// Errors are the sentinels of Go's I/O. Some of them mean something else than a failure to careless code: an end, a file that is not
// there, a caller that has left.
var Errors = []error{
	io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, io.ErrShortBuffer, io.ErrNoProgress,
	os.ErrClosed, os.ErrDeadlineExceeded, context.Canceled, context.DeadlineExceeded,
	fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, errors.ErrUnsupported,
	syscall.EINTR, syscall.EAGAIN, syscall.EIO, syscall.ENOSPC, syscall.ESTALE,
}

// Use is a use of the files in a folder, such as a call of the library or a command. Its result shows all rows that it has read.
type Use struct {
	Name string
	Run  func(dir string) (result string, err error)
}

// fault is a way in which an operation fails.
type fault struct {
	name   string
	err    error
	short  bool
	change func(t *testing.T, path string, off int64)
}

// faults are the faults of an operation: each sentinel, bare and wrapped. Reads may also be short, and of a file that changes before.
func faults(op Op) []fault {
	var all []fault
	for _, err := range Errors {
		all = append(all, fault{name: err.Error(), err: err}, fault{name: "wrapped " + err.Error(), err: fmt.Errorf("injected: %w", err)})
	}
	if op == Read {
		all = append(all, fault{name: "short read", err: Err, short: true})
		for name, change := range changes {
			all = append(all, fault{name: name, err: Err, change: change})
		}
	}
	return all
}

// changes are what another process may do to a file between two reads.
var changes = map[string]func(t *testing.T, path string, off int64){
	"truncated at the read": func(t *testing.T, path string, off int64) { require.NoError(t, os.Truncate(path, off)) },
	"emptied":               func(t *testing.T, path string, _ int64) { require.NoError(t, os.Truncate(path, 0)) },
	"grown": func(t *testing.T, path string, _ int64) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString("\nmore\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	},
	"replaced": func(t *testing.T, path string, _ int64) {
		require.NoError(t, os.WriteFile(path+".new", []byte("something else\n"), 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	},
	"removed": func(t *testing.T, path string, _ int64) { require.NoError(t, os.Remove(path)) },
	"rewritten": func(t *testing.T, path string, _ int64) {
		old, err := os.ReadFile(path)
		require.NoError(t, err)
		for i, c := range old { // of equal size: other digits
			if '1' <= c && c <= '8' {
				old[i]++
			}
		}
		rewrite(t, path, old)
	},
	"rewritten, longer": func(t *testing.T, path string, _ int64) {
		old, err := os.ReadFile(path)
		require.NoError(t, err)
		rewrite(t, path, append(old[len(old)/2:], old...))
	},
}

// rewrite overwrites a file in place. Clocks of file systems may be too coarse to notice.
func rewrite(t *testing.T, path string, b []byte) {
	require.NoError(t, os.WriteFile(path, b, 0))
	later := time.Now().Add(time.Second)
	require.NoError(t, os.Chtimes(path, later, later))
}

// Sweep checks uses of the files in a folder while all faults happen at every operation of some kinds. The outcome is an error, or the
// result without faults: never fewer rows, nor others, but those of a file that changes before its first byte is read. "make test" runs some of the cases, about perUse for each use.
//
// During the test all stores of local files have the faults, those that the use makes by itself too.
func Sweep(t *testing.T, dir string, ops []Op, perUse int, uses []Use) {
	SweepThen(t, dir, ops, perUse, uses, func() {})
}

// SweepThen is [Sweep] for uses that change the files: it calls check after each use, failed or not, unless another process has changed
// the files, too.
func SweepThen(t *testing.T, dir string, ops []Op, perUse int, uses []Use, check func()) {
	pristine := copyOf(t, dir)
	defer func(fs sys.FS) { sys.Default = fs }(sys.Default)
	for _, u := range uses {
		t.Run(u.Name, func(t *testing.T) {
			f := New()
			sys.Default = f.FS()
			want, err := u.Run(dir)
			require.NoError(t, err)
			restore(t, pristine, dir)
			counts := f.counts
			for _, op := range ops {
				cases := counts[op] * len(faults(op))
				for _, fault := range faults(op) {
					for k := 1; k <= counts[op]; k++ {
						name := fmt.Sprintf("%s: %s %d of %d", fault.name, op, k, counts[op])
						if Chosen(u.Name+name, cases, perUse) {
							one(t, f, fault, op, k, func() {
								got, err := u.Run(dir)
								want := want
								if err == nil && got != want && fault.change != nil && k == 1 { // nothing of the old file was read
									want, err = u.Run(dir)
									require.NoError(t, err)
								}
								if err == nil {
									require.Equal(t, want, got, name)
								}
							})
							f.Reset()
							if fault.change == nil {
								check()
							}
							restore(t, pristine, dir)
						}
					}
				}
			}
		})
	}
}

// EachStep calls try with faults in every n-th operation of each kind (see [sweep.Step]), alone and, for those that write, with all behind it, as on a full disk,
// until try does not reach the operation. The error of such a call ends the sweep: no fault is its cause.
func EachStep(n int, try func(faults *Faults, op Op, k int) error) error {
	for _, op := range Ops {
		for _, fail := range []func(*Faults, Op, int){(*Faults).FailAt, (*Faults).FailFrom} {
			for k := 1; ; k += sweep.Step(n) {
				faults := New()
				fail(faults, op, k)
				if err := try(faults, op, k); faults.Count(op) >= k {
					continue
				} else if err != nil {
					return fmt.Errorf("without a fault of %v %d: %w", op, k, err)
				}
				break
			}
			if op != Create && op != Write {
				break
			}
		}
	}
	return nil
}

// one arms a fault for a call.
func one(t *testing.T, f *Faults, x fault, op Op, k int, call func()) {
	f.Reset()
	f.err, f.short, f.change = x.err, x.short, nil
	if x.change != nil {
		f.change = func(path string, off int64) { x.change(t, path, off) }
	}
	f.FailAt(op, k)
	call()
}

// Chosen chooses about some of a number of cases, always the same ones, more of them in a sweep, all in a complete one.
func Chosen(name string, cases, some int) bool {
	h := fnv.New32a()
	io.WriteString(h, name)
	return h.Sum32()%uint32(sweep.StepOf(cases, some)) == 0
}

// copyOf is the content of the files in a folder, by their path in it.
func copyOf(t *testing.T, dir string) map[string][]byte {
	all := map[string][]byte{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = b
		return err
	}))
	return all
}

// restore brings a folder back to its content.
func restore(t *testing.T, content map[string][]byte, dir string) {
	now := copyOf(t, dir)
	for path, b := range content {
		if was, ok := now[path]; !ok || string(was) != string(b) {
			require.NoError(t, os.WriteFile(path, b, 0o644))
		}
		delete(now, path)
	}
	for path := range now {
		require.NoError(t, os.Remove(path))
	}
}
