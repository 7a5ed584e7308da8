// Package files creates outputs of the command by location: paths, URLs, and "-" for stdout. Its errors are for people.
package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
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
func Create(ctx context.Context, location string, force bool, stdout io.Writer) (provider.Output, error) {
	if location == "-" {
		return stdoutOutput{stdout}, nil
	}
	if inputs.IsDevice(location) {
		return openDevice(ctx, location)
	}
	out, err := createFile(ctx, location, force)
	if err != nil {
		return nil, err
	}
	if _, codec := inputs.Codec(location); codec != "" {
		return compress(out, codec)
	}
	return out, nil
}

// device is an output to a device. Written bytes cannot be taken back.
type device struct {
	stdoutOutput
	f *os.File
}

func openDevice(ctx context.Context, location string) (provider.Output, error) {
	f, err := inputs.OpenWaiting(ctx, location, os.O_WRONLY, os.O_RDONLY)
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

func createFile(ctx context.Context, location string, force bool) (provider.Output, error) {
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
		return advice.Plain(err, storage.Redact(location)+" exists already", "--force replaces it")
	case errors.Is(err, fs.ErrNotExist):
		return advice.Plain(err, "the folder of "+storage.Redact(location)+" does not exist", "")
	case errors.Is(err, fs.ErrPermission) && advice.Hint(err) == "":
		return advice.Plain(err, storage.Redact(location)+": permission denied", "")
	}
	return err
}

// CheckOutput reports errors of Create early.
func CheckOutput(location string, force bool) error {
	if inputs.IsURL(location) && strings.HasSuffix(location, "/") {
		return advice.Plain(nil, storage.Redact(location)+" is a folder", "name a file in it")
	}
	if location == "-" || inputs.IsURL(location) || inputs.IsDevice(location) {
		return nil
	}
	if info, err := os.Stat(location); err == nil && info.IsDir() {
		return advice.Plain(nil, storage.Redact(location)+" is a folder", "name a file in it")
	}
	if _, err := os.Lstat(location); err == nil && !force {
		return CreateError(location, fs.ErrExist)
	}
	if _, err := os.Stat(filepath.Dir(location)); err != nil {
		return CreateError(location, err)
	}
	return nil
}

// CheckShard explains why a location cannot be opened as a shard.
func CheckShard(location string) error {
	switch {
	case location == "-":
		return advice.Plain(nil, "a shard needs random access, so that it cannot be read from standard input", "save it to a file first")
	case inputs.IsURL(location):
		return nil
	}
	info, err := os.Stat(location)
	if err != nil {
		file, number, _ := strings.Cut(location, ".shard:")
		if _, notNumber := strconv.Atoi(number); notNumber == nil {
			if _, missing := os.Stat(file + ".shard"); missing == nil {
				return advice.Plain(nil, location+" is a shard within a file, which is changed as one of its own", "amudai pack "+location+" -o OUT copies it out")
			}
		}
		return inputs.Missing(location, err)
	}
	if info.IsDir() {
		return errors.New(location + " is a folder")
	}
	return nil
}

// compressedOutput compresses what is written to an output.
type compressedOutput struct {
	provider.Output
	to  *storage.IOWriter
	enc io.WriteCloser
}

// compress puts a compressor before an output.
func compress(out provider.Output, extension string) (provider.Output, error) {
	o := &compressedOutput{Output: out, to: &storage.IOWriter{Writer: out}}
	if extension == ".gz" {
		o.enc = gzip.NewWriter(o.to)
		return o, nil
	}
	enc, err := zstd.NewWriter(o.to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(err, out.Abort(context.Background()))
	}
	o.enc = enc
	return o, nil
}

// Write implements [provider.Output].
func (o *compressedOutput) Write(ctx context.Context, p []byte) error {
	o.to.Context = ctx
	_, err := o.enc.Write(p)
	return err
}

// Publish implements [provider.Output].
func (o *compressedOutput) Publish(ctx context.Context) error {
	o.to.Context = ctx
	if err := o.enc.Close(); err != nil {
		return errors.Join(err, o.Abort(context.WithoutCancel(ctx)))
	}
	return o.Output.Publish(ctx)
}
