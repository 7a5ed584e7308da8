package inputs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/table/provider"
)

// OpenFile opens a file for reading. A named pipe is waited for until another process opens its other end, or ctx ends.
func OpenFile(ctx context.Context, path string) (*os.File, error) {
	return OpenWaiting(ctx, path, os.O_RDONLY, os.O_WRONLY)
}

// OpenWaiting opens a file. The system does not give up waiting for the other end of a pipe: when ctx ends, that end is opened here.
func OpenWaiting(ctx context.Context, path string, flag, other int) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		return os.OpenFile(path, flag, 0)
	}
	done := started(func() (*os.File, error) { return os.OpenFile(path, flag, 0) })
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	if f, err := os.OpenFile(path, other|sys.NoWait, 0); err == nil {
		if r := <-done; r.err == nil {
			r.value.Close()
		}
		f.Close()
	} // else the goroutine has not begun to wait, and ends with the process
	return nil, ctx.Err()
}

// IsDevice reports whether a location is a device, a named pipe or the like. These are written to, not replaced.
func IsDevice(location string) bool {
	if location == "-" || IsURL(location) {
		return false
	}
	info, err := os.Stat(location)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// IsPipe reports whether a location can be read only once.
func IsPipe(location string) bool { return location == "-" || IsDevice(location) }

// Spool copies what can be read only once, perhaps stdin, to a temporary file.
func Spool(ctx context.Context, location string, stdin io.Reader, tempDir string) (*provider.Spooled, error) {
	if location == "-" {
		if stdin == nil {
			return nil, errors.New(`the input "-" needs Stdin in OpenOptions`)
		}
		return provider.Spool(Interruptible(ctx, stdin), tempDir)
	}
	f, err := OpenFile(ctx, location)
	if err != nil {
		return nil, Missing(location, err)
	}
	temp, err := provider.Spool(Interruptible(ctx, f), tempDir)
	return temp, errors.Join(err, f.Close())
}
