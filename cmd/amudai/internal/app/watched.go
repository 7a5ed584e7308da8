package app

import (
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/term"
)

// watched notes whether bytes went through it, and the first error of writing. After that, nothing more is written, so that what prints for
// people need not look at errors.
type watched struct {
	r    io.Reader
	w    io.Writer
	used atomic.Bool
	lock sync.Mutex
	err  error
}

// Read implements io.Reader.
func (u *watched) Read(p []byte) (int, error) {
	u.used.Store(true)
	return u.r.Read(p)
}

// Write implements io.Writer.
func (u *watched) Write(p []byte) (int, error) {
	u.used.Store(true)
	u.lock.Lock()
	defer u.lock.Unlock()
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.w.Write(p)
	u.err = err
	return n, err
}

// Watch notes from now on whether bytes go through stdin or stdout, and the first error of stdout. The functions that it returns report
// both.
func (a *App) Watch() (used func() bool, failed func() error) {
	in, out := &watched{r: a.Stdin}, &watched{w: a.Stdout}
	a.Stdin, a.Stdout, a.Out.Out = in, out, out
	return func() bool { return in.used.Load() || out.used.Load() }, func() error {
		out.lock.Lock()
		defer out.lock.Unlock()
		return out.err
	}
}

// TerminalOf is the terminal behind stdin or stdout, or nil.
func TerminalOf(stream any) *os.File {
	if w, ok := stream.(*watched); ok {
		if stream = w.w; w.w == nil {
			stream = w.r
		}
	}
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}
