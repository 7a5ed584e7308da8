package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	_ "github.com/amudai/amudai-go/storage/http" // locations that begin with http:// and https://
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/amudai"
	"github.com/amudai/amudai-go/table/arrowipc"
	"github.com/amudai/amudai-go/table/csv"
	"github.com/amudai/amudai-go/table/jsonl"
	"github.com/amudai/amudai-go/table/lines"
	"github.com/amudai/amudai-go/table/parquet"
)

// Names of formats that have flags.
const (
	shardName   = "shard"
	parquetName = "parquet"
)

// formats lists every format with its default options.
var formats = formatsFor(csv.Options{}, table.TextOptions{})

// formatsFor lists every format that convert knows, with options for text.
func formatsFor(o csv.Options, sample table.TextOptions) table.Formats {
	return table.Formats{
		amudai.New(amudai.Options{}),
		parquet.New(parquet.Options{}),
		csv.New(o), csv.NewTSV(o),
		jsonl.New(jsonl.Options{Text: sample}), jsonl.NewArray(jsonl.Options{Text: sample}),
		arrowipc.Format, arrowipc.Stream,
		lines.New(lines.Options{Text: sample}),
	}
}

// formatHelp lists names and extensions for help texts.
func formatHelp() string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-8s %-18s %s\n", f.Name, f.Title, strings.Join(f.Extensions, " "))
	}
	return b.String()
}

// isURL tells URLs from paths; a Windows drive is no scheme.
func isURL(location string) bool {
	scheme, _, ok := strings.Cut(location, "://")
	return ok && len(scheme) > 1
}

// openInput opens a location for reading: "-" is stdin. The name of the format
// is given, or found by the extension, or by the first bytes.
func (a *app) openInput(ctx context.Context, location, format string) (table.Input, table.Format, error) {
	in, err := a.input(ctx, location)
	if err == nil {
		location, err = decompress(&in, location)
	}
	if err != nil {
		return in, table.Format{}, err
	}
	f, err := a.chooseFormat(&in, location, format)
	if err != nil {
		err = errors.Join(err, in.Close())
	}
	return in, f, err
}

func (a *app) input(ctx context.Context, location string) (table.Input, error) {
	switch {
	case location == "-":
		return table.Input{Name: "stdin", Reader: a.Stdin, Size: -1}, nil
	case isURL(location):
		return remoteInput(ctx, location)
	}
	f, err := os.Open(location)
	if err != nil {
		return table.Input{}, missing(location, err)
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
	}
	return in, nil
}

// decompress reads through gzip or zstd if the name says so, and gives the name
// without that.
func decompress(in *table.Input, location string) (string, error) {
	name := strings.ToLower(location)
	var r io.Reader
	var err error
	switch {
	case strings.HasSuffix(name, ".gz"):
		r, err = gzip.NewReader(in.Reader)
		location = location[:len(location)-len(".gz")]
	case strings.HasSuffix(name, ".zst"):
		var d *zstd.Decoder
		d, err = zstd.NewReader(in.Reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err == nil {
			r = d
			in.Closer = closers{closeFunc(d.Close), in.Closer}
		}
		location = location[:len(location)-len(".zst")]
	default:
		return location, nil
	}
	if err != nil {
		return location, errors.Join(fmt.Errorf("%s: %w", in.Name, err), in.Close())
	}
	in.Reader, in.At, in.Size, in.Location = r, nil, -1, ""
	return location, nil
}

// closers closes several things in turn.
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

// missing says in plain words that there is no such file.
func missing(location string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return plainError{location + " does not exist", err}
	}
	if errors.Is(err, fs.ErrPermission) {
		return plainError{location + ": permission denied", err}
	}
	return err
}

// plainError has a text of its own for an error.
type plainError struct {
	text string
	err  error
}

func (e plainError) Error() string { return e.text }
func (e plainError) Unwrap() error { return e.err }

// remoteInput reads an artifact of a store through ranges.
func remoteInput(ctx context.Context, location string) (table.Input, error) {
	store, err := storage.ForLocation(location)
	if err != nil {
		return table.Input{}, err
	}
	r, err := store.Open(ctx, location)
	if err != nil {
		return table.Input{}, missing(location, err)
	}
	size, err := r.Size(ctx)
	if err != nil {
		return table.Input{}, errors.Join(missing(location, err), r.Close())
	}
	at := readerAt{ctx, r, size}
	return table.Input{
		Name: location, At: at, Size: size, Closer: r, Location: location,
		Reader: bufio.NewReaderSize(io.NewSectionReader(at, 0, size), 1<<20),
	}, nil
}

// readerAt is a storage.Reader as an io.ReaderAt.
type readerAt struct {
	ctx  context.Context
	r    storage.Reader
	size int64
}

// ReadAt implements io.ReaderAt.
func (r readerAt) ReadAt(p []byte, off int64) (int, error) {
	if off >= r.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), r.size-off))
	if err := r.r.ReadAt(r.ctx, p[:n], off); err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// chooseFormat finds the format of an input; it may look at its first bytes,
// which stay to be read.
func (a *app) chooseFormat(in *table.Input, location, name string) (table.Format, error) {
	if name != "" {
		return byName(a.formats, name)
	}
	if f, ok := a.formats.ByPath(location); ok {
		return f, nil
	}
	head := make([]byte, 64)
	n, err := io.ReadFull(in.Reader, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return table.Format{}, err
	}
	in.Reader = io.MultiReader(strings.NewReader(string(head[:n])), in.Reader)
	f, ok := a.formats.Sniff(head[:n])
	if !ok {
		return f, usagef("--from csv, or one of "+strings.Join(formats.Names(), ", "), "cannot tell the format of %s", in.Name)
	}
	return f, nil
}

func byName(fs table.Formats, name string) (table.Format, error) {
	f, err := fs.ByName(name)
	if err != nil {
		return f, usageError{err: err}
	}
	return f, nil
}

// openSource opens a location as a source of batches.
func (a *app) openSource(ctx context.Context, location, format string, o table.ReadOptions) (table.Source, error) {
	in, f, err := a.openInput(ctx, location, format)
	if err != nil {
		return nil, err
	}
	if err := checkFlags(a.inputFlags, true, location, f); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return a.openAs(ctx, in, f, location, o)
}

// openAs opens an input in a format.
func (a *app) openAs(ctx context.Context, in table.Input, f table.Format, location string, o table.ReadOptions) (table.Source, error) {
	o.Filter = a.shards.Filter
	if !o.Filter.IsZero() {
		o.BatchRows = 0 // rows to look at, which few may meet
	}
	if f.Name == shardName {
		f = amudai.New(amudai.Options{Open: shard.OpenOptions{Types: a.types}, Scan: a.shards})
	}
	src, err := f.Open(ctx, in, o)
	if err != nil {
		return nil, columnHint(wrongFormat(err, location, f.Name))
	}
	return src, nil
}

// wrongFormat adds what a file looks like to an error about its content.
func wrongFormat(err error, location, format string) error {
	if location == "-" || isURL(location) {
		return err
	}
	head, ferr := firstBytes(location)
	if ferr != nil {
		return err
	}
	looks, known := formats.Sniff(head)
	if format == shardName {
		return notShard(err, location, head, looks, known)
	}
	if !known || looks.Name == format || looks.Name == "jsonl" || looks.Name == "json" || looks.Name == "arrows" && format == "arrow" {
		return err
	}
	return withHint(err, "it looks like %s: --from %s", looks.Title, looks.Name)
}

// notShard says what a file is that cannot be opened as a shard.
func notShard(err error, location string, head []byte, looks table.Format, known bool) error {
	switch {
	case len(head) == 0:
		return fmt.Errorf("%s is empty", location)
	case !known:
		return fmt.Errorf("%s is not an Amudai shard: it starts with %q", location, head[:min(8, len(head))])
	case looks.Name != shardName:
		err = fmt.Errorf("%s is not an Amudai shard, it looks like %s", location, looks.Title)
		return withHint(err, "amudai convert %s OUT.amudai.shard makes one", location)
	}
	return err
}

func firstBytes(location string) ([]byte, error) {
	f, err := os.Open(location)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	return head[:n], err
}

// stdoutOutput is stdout as an output: what was written cannot be taken back.
type stdoutOutput struct{ io.Writer }

func (stdoutOutput) Publish(context.Context) error { return nil }
func (stdoutOutput) Abort() error                  { return nil }

// outputFormat finds the format to write a location in.
func outputFormat(location, name string) (table.Format, error) {
	if name != "" {
		return byName(formats, name)
	}
	if location == "-" {
		return table.Format{}, usagef("--to jsonl, for example", "the output is stdout: say in which format")
	}
	f, ok := formats.ByPath(location)
	if !ok {
		return f, usagef("--to parquet, for example; known extensions: "+strings.Join(formats.Extensions(), " "),
			"cannot tell the format of %s", location)
	}
	return f, nil
}

// createOutput makes an output that appears under its name only when it is complete.
func (a *app) createOutput(ctx context.Context, location string, force bool) (table.Output, error) {
	if location == "-" {
		return stdoutOutput{a.Stdout}, nil
	}
	store, err := storage.ForLocation(location)
	if err != nil {
		return nil, err
	}
	w, err := store.Create(ctx, location, storage.CreateOptions{Overwrite: force})
	if err != nil {
		return nil, creating(location, err)
	}
	return w, nil
}

// creating explains why an output cannot be created.
func creating(location string, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return withHint(plainError{location + " exists already", err}, "--force replaces it")
	case errors.Is(err, fs.ErrNotExist):
		return plainError{"the folder of " + location + " does not exist", err}
	case errors.Is(err, fs.ErrPermission):
		return plainError{location + ": permission denied", err}
	}
	return err
}

// createSink makes the sink of a format other than shards.
func (a *app) createSink(ctx context.Context, location string, f table.Format, schema *arrow.Schema, force bool, o table.WriteOptions) (table.Sink, error) {
	out, err := a.createOutput(ctx, location, force)
	if err != nil {
		return nil, err
	}
	sink, err := f.Create(ctx, out, schema, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot write %s: %w", f.Title, err), out.Abort())
	}
	return sink, nil
}
