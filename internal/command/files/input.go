// Package files opens inputs and creates outputs of the command by location: paths, URLs,
// and "-" for stdin and stdout. Its errors are for people.
package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/table"
)

// IsURL distinguishes URLs from paths. The drive of a Windows path is not a scheme.
func IsURL(location string) bool {
	scheme, _, ok := strings.Cut(location, "://")
	return ok && len(scheme) > 1
}

// Open opens a location for reading. It decompresses gzip or zstd by the extension or the first bytes. Name is the location without
// this extension, for finding the format. If no file has the location as its name, the location may end in the
// path of a table in a file of one of the formats.
func Open(ctx context.Context, location string, stdin io.Reader, formats table.Formats) (in table.Input, name string, err error) {
	in, err = open(ctx, location, stdin, hasFooter(location, formats))
	if file, path := formats.SplitTable(location); err != nil && file != location {
		if in, err = open(ctx, file, stdin, hasFooter(file, formats)); err == nil {
			in.Table, location = path, file
		}
	}
	if err == nil {
		_, known := formats.ByPath(location)
		name, err = decompress(&in, location, known)
	}
	return in, name, err
}

// hasFooter reports whether the name of a file is that of a format which is read from its end.
func hasFooter(location string, formats table.Formats) bool {
	f, known := formats.ByPath(location)
	return known && f.Ranges
}

func open(ctx context.Context, location string, stdin io.Reader, footer bool) (table.Input, error) {
	switch {
	case location == "-":
		return table.Input{Name: "stdin", Reader: Interruptible(ctx, stdin), Size: -1}, nil
	case IsURL(location):
		return remoteInput(ctx, location, footer)
	}
	f, err := os.Open(location)
	if err != nil {
		return table.Input{}, Missing(location, err)
	}
	info, err := f.Stat()
	if err != nil {
		return table.Input{}, errors.Join(err, f.Close())
	}
	if info.IsDir() {
		return table.Input{}, errors.Join(fmt.Errorf("%s is a folder", location), f.Close())
	}
	in := table.Input{Name: location, Reader: f, Size: -1, Closer: f}
	if info.Mode().IsRegular() {
		in.At, in.Size, in.Location = f, info.Size(), location
	} else {
		in.Reader = Interruptible(ctx, f)
	}
	return in, nil
}

// codecs are the codecs of compressed files: their extension and their first bytes.
var codecs = []struct{ extension, magic string }{{".gz", "\x1f\x8b\x08"}, {".zst", "\x28\xb5\x2f\xfd"}}

// decompress decompresses gzip or zstd by the extension, or else by the first bytes, and returns the name without this extension.
// known means that the name tells the format.
func decompress(in *table.Input, location string, known bool) (string, error) {
	if plain, codec := Codec(location); codec != "" {
		return plain, decode(in, codec)
	}
	head, err := peek(in, known)
	if err != nil {
		return location, errors.Join(fmt.Errorf("%s: %w", in.Name, err), in.Close())
	}
	return location, decode(in, Compressed(head))
}

// Compressed returns the extension of the codec of a file by its first bytes, or "".
func Compressed(head []byte) string {
	for _, c := range codecs {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return c.extension
		}
	}
	return ""
}

// peek returns the first bytes of an input, but none of a remote one of a known format: they would take a request.
func peek(in *table.Input, known bool) ([]byte, error) {
	head := make([]byte, 4)
	var n int
	var err error
	switch f := in.At.(type) {
	case nil:
		n, err = io.ReadFull(in.Reader, head)
		in.Reader = io.MultiReader(bytes.NewReader(head[:n]), in.Reader)
	case *os.File:
		n, err = f.ReadAt(head, 0)
	default:
		if !known {
			n, err = io.ReadFull(in.Reader, head)
			in.Reader = io.MultiReader(bytes.NewReader(head[:n]), in.Reader)
		}
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}

// decode puts the decoder of a codec before an input.
func decode(in *table.Input, extension string) error {
	r := compressed{codec: map[string]string{".gz": "gzip", ".zst": "Zstandard"}[extension]}
	var err error
	switch extension {
	case ".gz":
		r.Reader, err = gzip.NewReader(in.Reader)
	case ".zst":
		var d *zstd.Decoder
		d, err = zstd.NewReader(in.Reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err == nil {
			r.Reader = d
			in.Closer = closers{closeFunc(d.Close), in.Closer}
		}
	default:
		return nil
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s is no %s file: %w", in.Name, r.codec, err), in.Close())
	}
	in.Reader, in.At, in.Size, in.Location, in.Store = r, nil, -1, "", nil
	return nil
}

// compressed reads the content of a compressed file. Its errors are for people.
type compressed struct {
	io.Reader
	codec string
}

// Read implements io.Reader.
func (c compressed) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("the %s data are cut off: %w", c.codec, err)
	case err != nil && err != io.EOF:
		err = fmt.Errorf("the %s data are damaged: %w", c.codec, err)
	}
	return n, err
}

// closers closes several closers in order.
type closers []io.Closer

// Close implements io.Closer.
func (cs closers) Close() error {
	var all error
	for _, c := range cs {
		if c != nil {
			all = errors.Join(all, c.Close())
		}
	}
	return all
}

type closeFunc func()

// Close implements io.Closer.
func (f closeFunc) Close() error { f(); return nil }

// Missing returns a plain error if err means that the file does not exist or must not be read.
func Missing(location string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return plainError{text: location + " does not exist", err: err}
	}
	if errors.Is(err, fs.ErrPermission) && !advises(err) {
		return plainError{text: location + ": permission denied", err: err}
	}
	return err
}

// advises reports whether an error says what to do about it, as those of stores about credentials.
func advises(err error) bool {
	var hint interface{ Hint() string }
	return errors.As(err, &hint)
}

// plainError is an error with a plain text and a hint.
type plainError struct {
	text string
	err  error
	hint string
}

func (e plainError) Error() string { return e.text }
func (e plainError) Unwrap() error { return e.err }
func (e plainError) Hint() string  { return e.hint }

// CheckShard explains why a location cannot be opened as a shard.
func CheckShard(location string) error {
	switch {
	case location == "-":
		return plainError{text: "a shard needs random access, so that it cannot be read from standard input", hint: "save it to a file first"}
	case IsURL(location):
		return nil
	}
	info, err := os.Stat(location)
	if err != nil {
		return Missing(location, err)
	}
	if info.IsDir() {
		return errors.New(location + " is a folder")
	}
	return nil
}
