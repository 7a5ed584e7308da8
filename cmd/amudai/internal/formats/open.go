package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
	texts "github.com/amudai/amudai-go/table/text"
)

// Opener opens the inputs of one run of a command. It is not safe for concurrent use.
type Opener struct {
	// AllRows infers the types of text from all rows, as the flag --sample all does.
	AllRows bool
	// Allocator is that of batches; nil for Go's.
	Allocator memory.Allocator
	// Lines are the options of lines of text, but for their sample.
	Lines texts.LinesOptions
	// Parallelism is that of scans of shards; 0: one per CPU.
	Parallelism int
	// IndexError is told of the indexes of shards that cannot be used; nil: nobody is.
	IndexError func(error)
	// Policy allows shards to refer to other folders than their own.
	Policy shard.Policy
	// Versions are compared with those of the inputs; nil if an input may change from one opening to the next.
	Versions *inputs.Versions

	stdin   io.Reader
	notice  func(string)
	warning func(string)
	types   arrowmap.ReadOptions // of shards that are read as tables
	strings shard.StringLayout   // of these
	at      At                   // which version of these
	commas  texts.CSVOptions
	objects texts.JSONOptions
	ntuple  rntuple.Options
	table   string         // to choose of an input that holds several
	flags   *pflag.FlagSet // which an input must take; nil: none
}

// NewOpener returns an opener with default options. It gives notice the messages about inputs that are no errors, and warning
// those that data may be misread.
func NewOpener(stdin io.Reader, notice, warning func(string)) *Opener {
	return &Opener{stdin: stdin, notice: notice, warning: warning}
}

// Silent returns an opener that drops messages, and asks of inputs what p does.
func (p *Opener) Silent(stdin io.Reader) *Opener {
	s := NewOpener(stdin, func(string) {}, func(string) {})
	s.Policy, s.Versions = p.Policy, p.Versions
	return s
}

// formats are those with options of the flags.
func (p *Opener) formats() []provider.Format {
	ntuple, lines := p.ntuple, p.Lines
	ntuple.VariantsAsStructs, lines.Text = true, p.commas.Text
	return []provider.Format{
		shard.New(shard.FormatOptions{
			Open: shard.OpenOptions{Policy: p.Policy, Types: p.types, IndexError: p.IndexError, Version: p.at.Version, AsOf: p.at.Time}, Scan: shard.ScanOptions{Strings: p.strings, Parallelism: p.Parallelism},
		}),
		texts.CSV(p.commas), texts.TSV(p.commas),
		texts.JSONLines(p.objects), texts.JSONArray(p.objects),
		rntuple.New(rntuple.FormatOptions{Read: ntuple}),
		texts.Lines(lines),
	}
}

// versions are those that inputs have to have. A version with a number stays what it is while its shard changes.
func (p *Opener) versions() *inputs.Versions {
	if p.at.Version != 0 {
		return nil
	}
	return p.Versions
}

// finder finds inputs in a format, or in any if its name is "".
func (p *Opener) finder(format string) *inputs.Finder {
	return &inputs.Finder{Formats: provider.Registered().With(p.formats()...), Format: format, Table: p.table, Stdin: p.stdin, Notice: p.notice, Versions: p.versions()}
}

// Use parses flags. Inputs that are opened later follow them. The options are for [Opener.Open] and [Opener.Source].
func (p *Opener) Use(ctx context.Context, r *ReadFlags) (provider.ReadOptions, error) {
	o := provider.ReadOptions{Allocator: p.Allocator, Columns: r.Columns, Notice: p.notice, Warning: p.warning}
	var err error
	if p.commas, p.objects, err = r.text.options(p.AllRows); err != nil {
		return o, err
	}
	p.types, p.at, p.ntuple.NoProjected, p.table, p.flags = r.types(), r.at, r.noProjected, r.table, r.flags
	fields := r.schema
	if name, ok := strings.CutPrefix(fields, "@"); ok {
		if fields, err = p.text(ctx, name); err != nil {
			return o, err
		}
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

// text is the content of a file.
func (p *Opener) text(ctx context.Context, location string) (_ string, err error) {
	in, err := inputs.Open(ctx, location, p.stdin)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	b, err := io.ReadAll(in.Reader)
	return string(b), err
}

// schemaOf is the columns of another table.
func (p *Opener) schemaOf(ctx context.Context, location string) ([]arrow.Field, error) {
	src, err := p.Silent(p.stdin).Source(ctx, location, "", provider.ReadOptions{})
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
func (p *Opener) Input(ctx context.Context, location, format string) (provider.Input, provider.Format, error) {
	return p.finder(format).Open(ctx, location)
}

// Inputs finds the inputs of locations: of folders the files with extensions of tables. Lines of text there, such as
// a README, are left out if there are other tables.
func (p *Opener) Inputs(ctx context.Context, locations []string, r *ReadFlags) (all []string, err error) {
	return p.finder(r.From).Find(ctx, locations)
}

// Source opens a location as a source of batches.
func (p *Opener) Source(ctx context.Context, location, format string, o provider.ReadOptions) (provider.Source, error) {
	in, f, err := p.Input(ctx, location, format)
	if err != nil {
		return nil, err
	}
	if err := p.Check(location, f); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return p.finder(format).Source(ctx, in, f, location, o)
}
