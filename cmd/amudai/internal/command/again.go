package command

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/amudai/amudai-go/table/provider"
)

// execute runs the command of the arguments. If a value far behind the sample does not fit the type inferred from it, the
// command runs again with types from all rows, unless it has written to stdout or read from stdin by then: files that it
// writes are not published yet.
func (a *app) execute(ctx context.Context) error {
	in, out := &watched{r: a.Stdin}, &watched{w: a.Stdout}
	a.Stdin, a.Stdout, a.out.Out = in, out, out
	err := a.executeOnce(ctx, false)
	var v *provider.ValueError
	if ctx.Err() != nil || !errors.As(err, &v) || !v.Inferred || in.used.Load() || out.used.Load() {
		return err
	}
	a.noticef("%v: types are inferred from all rows now (--sample all)", v)
	return a.executeOnce(ctx, true)
}

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
