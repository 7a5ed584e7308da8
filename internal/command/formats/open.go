package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/blockpack/tempo"
	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/amudai"
	"github.com/amudai/amudai-go/table/lines"
)

// ErrUnknown is the error of an input whose format neither its name nor its first bytes tell.
var ErrUnknown = errors.New("cannot tell the format")

// Opener opens the inputs of one run of a command. It is not safe for concurrent use.
type Opener struct {
	// Scan has the options for reading shards, beside those of all formats. They may be changed before an input is opened.
	Scan shard.ScanOptions
	// AllRows infers the types of text from all rows, as the flag --sample all does.
	AllRows bool
	// Allocator is that of batches; nil for Go's.
	Allocator memory.Allocator

	stdin   io.Reader
	notice  func(string)
	types   arrowmap.ReadOptions // of shards that are read as tables
	table   string               // to choose of an input that holds several
	flags   *pflag.FlagSet       // which an input must take; nil: none
	formats table.Formats        // of inputs, with the options of the flags
}

// NewOpener returns an opener with default options. It gives notice the messages about inputs that are no errors.
func NewOpener(stdin io.Reader, notice func(string)) *Opener {
	return &Opener{stdin: stdin, notice: notice, formats: All}
}

// Use parses flags. Inputs that are opened later follow them. The options are for [Opener.Open] and [Opener.Source].
func (p *Opener) Use(ctx context.Context, r *ReadFlags) (table.ReadOptions, error) {
	o := table.ReadOptions{Allocator: p.Allocator, Columns: r.Columns, Notice: p.notice, Warning: p.notice}
	if r.Quiet {
		o.Notice = nil
	}
	var err error
	if p.types, err = r.types(); err != nil {
		return o, err
	}
	commas, err := r.text.csv()
	if err != nil {
		return o, err
	}
	objects, err := r.text.json()
	if err != nil {
		return o, err
	}
	commas.Text.AllRows = commas.Text.AllRows || p.AllRows
	objects.Text.AllRows = objects.Text.AllRows || p.AllRows
	p.flags = r.flags
	p.formats = with(commas, objects, rntuple.Options{NoProjected: r.noProjected})
	p.table = r.table
	fields := r.schema
	if name, ok := strings.CutPrefix(fields, "@"); ok {
		b, err := os.ReadFile(name)
		if err != nil {
			return o, files.Missing(name, err)
		}
		fields = string(b)
	}
	if o.Schema, err = text.ParseSchema(fields); err != nil {
		return o, usage.Errorf("amudai infer-schema prints one to start from", "--%w", err)
	}
	more := r.Types
	if r.schemaOf != "" {
		of, err := p.schemaOf(ctx, r.schemaOf)
		if err != nil {
			return o, fmt.Errorf("--schema-of: %w", err)
		}
		more = append(of, more...)
	}
	for _, f := range more {
		if !slices.ContainsFunc(o.Schema, func(g arrow.Field) bool { return g.Name == f.Name }) {
			o.Schema = append(o.Schema, f)
		}
	}
	return o, nil
}

// schemaOf is the columns of another table.
func (p *Opener) schemaOf(ctx context.Context, location string) ([]arrow.Field, error) {
	q := NewOpener(p.stdin, func(string) {})
	src, err := q.Source(ctx, location, "", table.ReadOptions{})
	if err != nil {
		return nil, err
	}
	fields := src.Schema().Fields()
	for i := range fields { // the metadata is about the other file
		fields[i].Metadata = arrow.Metadata{}
	}
	return fields, src.Close()
}

// Input opens a location for reading; "-" is stdin. Without a name of a format, the extension or the first
// bytes determine it.
func (p *Opener) Input(ctx context.Context, location, format string) (table.Input, table.Format, error) {
	if data, ok := blockOf(location); ok && (format == "" || format == Tempo) {
		location, format = data, Tempo
	}
	in, name, err := files.Open(ctx, location, p.stdin, p.formats)
	if err != nil {
		return in, table.Format{}, err
	}
	f, err := p.chooseFormat(&in, name, format)
	if err == nil && format == "" && f.Name == Parquet && tempo.IsBlockFile(ctx, in) {
		p.notice(in.Name + " is a block of Tempo: its spans are read; --from parquet reads its columns")
		f, err = byName(p.formats, Tempo)
	}
	if err == nil && p.table != "" {
		if in.Table != "" && in.Table != p.table {
			err = usage.Errorf("leave out one of them", "%s names a table, and --table %s another one", location, p.table)
		}
		in.Table = p.table
	}
	if err != nil {
		err = errors.Join(err, in.Close())
	}
	return in, f, err
}

// blockOf returns the data file of a folder that is a block of Tempo.
func blockOf(location string) (data string, ok bool) {
	if location == "-" || files.IsURL(location) {
		return "", false
	}
	data = filepath.Join(location, tempo.DataFile)
	info, err := os.Stat(data)
	return data, err == nil && info.Mode().IsRegular()
}

// chooseFormat finds the format of an input. It may read the first bytes, which are not consumed.
func (p *Opener) chooseFormat(in *table.Input, location, name string) (table.Format, error) {
	if name != "" {
		return byName(p.formats, name)
	}
	named, ok := p.formats.ByPath(location)
	if ok && named.Name != "csv" && named.Name != "tsv" {
		return named, nil // whose readers refuse the bytes of other formats
	}
	head := make([]byte, 64)
	n, err := io.ReadFull(in.Reader, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return table.Format{}, err
	}
	in.Reader = io.MultiReader(strings.NewReader(string(head[:n])), in.Reader)
	f, known := p.formats.Sniff(head[:n])
	if ok && known && slices.Contains([]string{Shard, Parquet, "arrow"}, f.Name) { // almost any bytes are CSV; those of ROOT files begin with a word
		return f, usage.WithHint(fmt.Errorf("%s is not CSV, it looks like %s", in.Name, f.Title), "--from %s reads it", f.Name)
	}
	if ok {
		return named, nil
	}
	if !known {
		return f, usage.Errorf("--from lines for a log, or one of "+strings.Join(All.Names(), ", "), "%w of %s", ErrUnknown, in.Name)
	}
	return f, nil
}

// Describes opens a location if its format has some capability. Otherwise, and if the location cannot be
// opened, ok is false: it is to be treated as a shard.
func (p *Opener) Describes(ctx context.Context, location string, has func(table.Format) bool) (in table.Input, f table.Format, ok bool) {
	if location == "-" {
		return in, f, false
	}
	file, _ := p.formats.SplitTable(location)
	if f, known := p.formats.ByPath(file); known && !has(f) {
		return in, f, false
	}
	in, f, err := p.Input(ctx, location, "")
	if err != nil {
		return in, f, false
	}
	if !has(f) {
		in.Close()
		return in, f, false
	}
	return in, f, true
}

// Source opens a location as a source of batches.
func (p *Opener) Source(ctx context.Context, location, format string, o table.ReadOptions) (table.Source, error) {
	in, f, err := p.Input(ctx, location, format)
	if err != nil {
		return nil, err
	}
	if err := p.Check(location, f); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return p.Open(ctx, in, f, location, o)
}

// Live opens lines of text as [Opener.Source] does, but gives them as they arrive.
func (p *Opener) Live(ctx context.Context, location, format string, o table.ReadOptions) (table.Source, error) {
	in, _, err := p.Input(ctx, location, format)
	if err != nil {
		return nil, err
	}
	return p.Open(ctx, in, lines.New(lines.Options{Live: true}), location, o)
}

// Open opens an input in a format.
func (p *Opener) Open(ctx context.Context, in table.Input, f table.Format, location string, o table.ReadOptions) (table.Source, error) {
	if !o.Filter.IsZero() {
		o.BatchRows = 0 // small batches would slow down a filter that few rows meet
	}
	src, err := p.Configured(f).Open(ctx, in, o)
	if err != nil {
		return nil, wrongFormat(ctx, files.Missing(location, err), location, f.Name)
	}
	return src, nil
}

// Configured is a format with the options of the flags.
func (p *Opener) Configured(f table.Format) table.Format {
	if f.Name == Shard {
		return amudai.New(amudai.Options{Open: shard.OpenOptions{Types: p.types}, Scan: p.Scan})
	}
	return f
}

// wrongFormat adds the likely format of a file to an error about its content.
func wrongFormat(ctx context.Context, err error, location, format string) error {
	if location == "-" || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	head, ferr := files.Head(ctx, location, 64)
	if ferr != nil {
		return err
	}
	looks, known := All.Sniff(head)
	if format == Shard {
		return notShard(err, location, head, looks, known)
	}
	if !known || looks.Name == format || looks.Name == "jsonl" || looks.Name == "json" || looks.Name == "arrows" && format == "arrow" {
		return err
	}
	return usage.WithHint(err, "it looks like %s: --from %s", looks.Title, looks.Name)
}

// notShard describes a file that cannot be opened as a shard.
func notShard(err error, location string, head []byte, looks table.Format, known bool) error {
	switch {
	case len(head) == 0:
		return fmt.Errorf("%s is empty", location)
	case !known:
		return fmt.Errorf("%s is not an Amudai shard: it starts with %q", location, head[:min(8, len(head))])
	case looks.Name != Shard:
		err = fmt.Errorf("%s is not an Amudai shard, it looks like %s", location, looks.Title)
		return usage.WithHint(err, "amudai convert %s OUT.amudai.shard makes a shard of it", location)
	}
	return err
}
