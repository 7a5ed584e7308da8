// Package inputs finds tables by location, and opens them: paths, URLs, folders, patterns, compressed files, "-" for
// standard input. It finds their formats by name or first bytes. Its errors are for people.
package inputs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// IsURL distinguishes URLs from paths. The drive of a Windows path is not a scheme.
func IsURL(location string) bool {
	scheme, _, ok := strings.Cut(location, "://")
	return ok && len(scheme) > 1
}

// openLocation opens a location for reading. It decompresses gzip or zstd by the extension or the first bytes. Name is the location without
// this extension, for finding the format. If no file has the location as its name, the location may end in the
// path of a table in a file of one of the formats.
func openLocation(ctx context.Context, location string, stdin io.Reader, formats provider.Formats, only bool, kept *Kept) (in provider.Input, name string, err error) {
	in, err = open(ctx, location, stdin, tailOf(location, formats, only), only, kept)
	if file, path := formats.SplitTable(location); err != nil && file != location {
		if in, err = open(ctx, file, stdin, tailOf(file, formats, only), only, kept); err == nil {
			in.Table, location = path, file
		}
	}
	if err == nil {
		location = storage.Redact(location) // without a query, behind which no extension is found
		_, known := formats.ByPath(location)
		name, err = decompress(&in, location, known)
	}
	return in, name, err
}

// Open opens a location that is no table, such as a list of numbers, as a table is opened: "-" is stdin, and compressed files are decompressed.
func Open(ctx context.Context, location string, stdin io.Reader) (provider.Input, error) {
	in, _, err := openLocation(ctx, location, stdin, nil, false, nothing)
	return in, err
}

// tailOf is what is read first at the end of a file whose name is that of a format which is read from there, else 0.
func tailOf(location string, formats provider.Formats, only bool) int {
	switch f, known := formats.ByPath(storage.Redact(location)); {
	case !known || !f.Ranges:
		return 0
	case only:
		return onlyTailBytes
	}
	return tailBytes
}

func open(ctx context.Context, location string, stdin io.Reader, tail int, only bool, kept *Kept) (provider.Input, error) {
	switch {
	case location == "-":
		return provider.Input{Name: "stdin", Reader: Interruptible(ctx, stdin), Size: -1}, nil
	case IsURL(location):
		return kept.input(ctx, location, only, func() (*artifact, error) { return openObject(ctx, location, tail) })
	}
	info, err := os.Stat(location)
	switch {
	case err != nil:
		return provider.Input{}, Missing(location, err)
	case info.IsDir():
		return provider.Input{}, fmt.Errorf("%s is a folder", location)
	case info.Mode().IsRegular() && info.Size() > 0:
		return kept.input(ctx, location, only, func() (*artifact, error) { return openFile(ctx, location) })
	}
	f, err := OpenFile(ctx, location) // a pipe, or a file of the system without a size
	if err != nil {
		return provider.Input{}, Missing(location, err)
	}
	in := provider.Input{Name: location, Reader: Interruptible(ctx, f), Size: -1, Closer: f}
	if info.Mode().IsRegular() {
		in.At, in.Size, in.Location, in.Version = f, 0, location, "empty"
	}
	return in, nil
}

// openFile opens a file as it is now: its reader fails if the file becomes another one. All who read the input share the reader.
func openFile(ctx context.Context, location string) (*artifact, error) {
	r, err := storage.Local{}.Open(ctx, location)
	if err != nil {
		return nil, Missing(location, err)
	}
	a := &artifact{Reader: r, store: storage.Local{}, location: location}
	if _, a.size, err = r.ReadSuffix(ctx, 1); err == nil { // the reader then knows whether bytes are only appended
		a.version, err = r.Version(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", location, err), r.Close())
	}
	return a, nil
}

// fileAt is a file as an io.ReaderAt.
type fileAt struct {
	ctx  context.Context
	r    storage.Reader
	size int64
}

func (f fileAt) ReadAt(p []byte, off int64) (int, error) {
	return readAt(p, off, f.size, func(p []byte) error { return f.r.ReadAt(f.ctx, p, off) })
}

// readAt reads the bytes of an input of some size at an offset, as [io.ReaderAt] does.
func readAt(p []byte, off, size int64, read func([]byte) error) (int, error) {
	n := int(max(0, min(int64(len(p)), size-off)))
	if err := read(p[:n]); err != nil {
		return 0, fault.NoEOF(err)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// codecs are the codecs of compressed files: their extension and their first bytes.
var codecs = []struct{ extension, magic string }{{".gz", "\x1f\x8b\x08"}, {".zst", "\x28\xb5\x2f\xfd"}}

// Codec returns the name of a file without the extension of a codec, .gz or .zst, and this extension, or "".
func Codec(location string) (plain, extension string) {
	for _, c := range codecs {
		if strings.HasSuffix(strings.ToLower(location), c.extension) {
			return location[:len(location)-len(c.extension)], c.extension
		}
	}
	return location, ""
}

// decompress decompresses gzip or zstd by the extension, or else by the first bytes, and returns the name without this extension.
// known means that the name tells the format.
func decompress(in *provider.Input, location string, known bool) (string, error) {
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
func peek(in *provider.Input, known bool) ([]byte, error) {
	head := make([]byte, 4)
	var n int
	var err error
	switch at := in.At.(type) {
	case nil:
		n, err = io.ReadFull(in.Reader, head)
		in.Reader = io.MultiReader(bytes.NewReader(head[:n]), in.Reader)
	case *os.File, fileAt:
		n, err = at.ReadAt(head, 0)
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
func decode(in *provider.Input, extension string) error {
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
			in.Closer = closers{d.IOReadCloser(), in.Closer}
		}
	default:
		return nil
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s is no %s file: %w", in.Name, r.codec, err), in.Close())
	}
	in.Reader, in.At, in.Size, in.Location, in.Store, in.Opened = r, nil, -1, "", nil, nil
	return nil
}

// compressed reads the content of a compressed file. Its errors are for people.
type compressed struct {
	io.Reader
	codec string
}

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

func (cs closers) Close() error {
	var all error
	for _, c := range cs {
		if c != nil {
			all = errors.Join(all, c.Close())
		}
	}
	return all
}

// Missing returns a plain error if err means that the file does not exist or must not be read.
func Missing(location string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return advice.Plain(err, storage.Redact(location)+" does not exist", "")
	}
	if errors.Is(err, fs.ErrPermission) && advice.Hint(err) == "" {
		return advice.Plain(err, storage.Redact(location)+": permission denied", "")
	}
	return err
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
