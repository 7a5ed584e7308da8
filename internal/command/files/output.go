package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
)

// stdoutOutput writes to stdout. Written bytes cannot be taken back.
type stdoutOutput struct{ w io.Writer }

func (o stdoutOutput) Write(_ context.Context, p []byte) error {
	_, err := o.w.Write(p)
	return err
}

func (stdoutOutput) Publish(context.Context) error { return nil }
func (stdoutOutput) Abort(context.Context) error   { return nil }

// Create creates an output that appears under its name only when it is complete. "-" is stdout, which shows bytes
// as they are written. Only force replaces an existing output. A name that ends in .gz or .zst compresses it.
func Create(ctx context.Context, location string, force bool, stdout io.Writer) (table.Output, error) {
	if location == "-" {
		return stdoutOutput{stdout}, nil
	}
	if isDevice(location) {
		return openDevice(location)
	}
	out, err := createFile(ctx, location, force)
	if err != nil {
		return nil, err
	}
	if _, codec := Codec(location); codec != "" {
		return compress(out, codec)
	}
	return out, nil
}

// isDevice reports whether a location is a device, a named pipe or the like. These are written to, not replaced.
func isDevice(location string) bool {
	if location == "-" || IsURL(location) {
		return false
	}
	info, err := os.Stat(location)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// device is an output to a device. Written bytes cannot be taken back.
type device struct {
	stdoutOutput
	f *os.File
}

func openDevice(location string) (table.Output, error) {
	f, err := os.OpenFile(location, os.O_WRONLY, 0)
	if err != nil {
		return nil, CreateError(location, err)
	}
	return device{stdoutOutput{f}, f}, nil
}

func (d device) Publish(context.Context) error { return d.f.Close() }
func (d device) Abort(context.Context) error {
	if err := d.f.Close(); !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}

func createFile(ctx context.Context, location string, force bool) (table.Output, error) {
	store, err := storage.ForLocation(location)
	if err != nil {
		return nil, err
	}
	w, err := store.Create(ctx, location, storage.CreateOptions{Overwrite: force})
	if err != nil {
		return nil, CreateError(location, err)
	}
	return w, nil
}

// CreateError returns a plain error if an output cannot be created.
func CreateError(location string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return plainError{location + " exists already", err, "--force replaces it"}
	case errors.Is(err, fs.ErrNotExist):
		return plainError{text: "the folder of " + location + " does not exist", err: err}
	case errors.Is(err, fs.ErrPermission) && !advises(err):
		return plainError{text: location + ": permission denied", err: err}
	}
	return err
}

// CheckOutput reports errors of Create early.
func CheckOutput(location string, force bool) error {
	if IsURL(location) && strings.HasSuffix(location, "/") {
		return plainError{text: location + " is a folder", hint: "name a file in it"}
	}
	if location == "-" || IsURL(location) || isDevice(location) {
		return nil
	}
	if info, err := os.Stat(location); err == nil && info.IsDir() {
		return plainError{text: location + " is a folder", hint: "name a file in it"}
	}
	if _, err := os.Lstat(location); err == nil && !force {
		return CreateError(location, fs.ErrExist)
	}
	if _, err := os.Stat(filepath.Dir(location)); err != nil {
		return CreateError(location, err)
	}
	return nil
}

// Same reports whether two locations are the same file.
func Same(a, b string) bool {
	if IsURL(a) || IsURL(b) {
		x, xerr := plainURL(a)
		y, yerr := plainURL(b)
		return a == b || xerr == nil && yerr == nil && x == y
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// plainURL is a location as a URL without escapes.
func plainURL(location string) (string, error) {
	u, err := storage.URL(location)
	if err != nil {
		return "", err
	}
	return url.PathUnescape(u)
}
