package app

import (
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/term"
)

// watched notes whether bytes went through it.
type watched struct {
	r    io.Reader
	w    io.Writer
	used atomic.Bool
}

// Read implements io.Reader.
func (u *watched) Read(p []byte) (int, error) {
	u.used.Store(true)
	return u.r.Read(p)
}

// Write implements io.Writer.
func (u *watched) Write(p []byte) (int, error) {
	u.used.Store(true)
	return u.w.Write(p)
}

// Watch notes from now on whether bytes go through stdin or stdout, and returns a function that reports it.
func (a *App) Watch() (used func() bool) {
	in, out := &watched{r: a.Stdin}, &watched{w: a.Stdout}
	a.Stdin, a.Stdout, a.Out.Out = in, out, out
	return func() bool { return in.used.Load() || out.used.Load() }
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
