package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/shard"
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
	ntupleName  = "rntuple"
)

// formats lists every format with its default options.
var formats = formatsFor(csv.Options{}, table.TextOptions{}, rntuple.Options{})

// formatsFor lists every format that convert knows, with options for text and RNTuples.
func formatsFor(o csv.Options, sample table.TextOptions, ntuple rntuple.Options) table.Formats {
	ntuple.VariantsAsStructs = true
	return table.Formats{
		amudai.New(amudai.Options{}),
		parquet.New(parquet.Options{}),
		csv.New(o), csv.NewTSV(o),
		jsonl.New(jsonl.Options{Text: sample}), jsonl.NewArray(jsonl.Options{Text: sample}),
		arrowipc.Format, arrowipc.Stream,
		rntuple.New(rntuple.FormatOptions{Read: ntuple}),
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

// openInput opens a location for reading; "-" is stdin. Without a name of a format, the extension or the first
// bytes determine it.
func (a *app) openInput(ctx context.Context, location, format string) (table.Input, table.Format, error) {
	in, name, err := files.Open(ctx, location, a.Stdin, a.formats)
	if err != nil {
		return in, table.Format{}, err
	}
	f, err := a.chooseFormat(&in, name, format)
	if err == nil && a.table != "" {
		if in.Table != "" && in.Table != a.table {
			err = usagef("leave out one of them", "%s names a table, and --table %s another one", location, a.table)
		}
		in.Table = a.table
	}
	if err != nil {
		err = errors.Join(err, in.Close())
	}
	return in, f, err
}

// chooseFormat finds the format of an input. It may read the first bytes, which are not consumed.
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

// describes opens a location if its format has some capability. Otherwise, and if the location cannot be
// opened, ok is false: it is to be treated as a shard.
func (a *app) describes(ctx context.Context, location string, has func(table.Format) bool) (in table.Input, f table.Format, ok bool) {
	if location == "-" {
		return in, f, false
	}
	file, _ := a.formats.SplitTable(location)
	if f, known := a.formats.ByPath(file); known && !has(f) {
		return in, f, false
	}
	in, f, err := a.openInput(ctx, location, "")
	if err != nil {
		return in, f, false
	}
	if !has(f) {
		in.Close()
		return in, f, false
	}
	return in, f, true
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
		o.BatchRows = 0 // small batches would slow down a filter that few rows meet
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

// wrongFormat adds the likely format of a file to an error about its content.
func wrongFormat(err error, location, format string) error {
	if location == "-" || files.IsURL(location) {
		return err
	}
	head, ferr := files.Head(location)
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

// notShard describes a file that cannot be opened as a shard.
func notShard(err error, location string, head []byte, looks table.Format, known bool) error {
	switch {
	case len(head) == 0:
		return fmt.Errorf("%s is empty", location)
	case !known:
		return fmt.Errorf("%s is not an Amudai shard: it starts with %q", location, head[:min(8, len(head))])
	case looks.Name != shardName:
		err = fmt.Errorf("%s is not an Amudai shard, it looks like %s", location, looks.Title)
		return withHint(err, "amudai convert %s OUT.amudai.shard makes a shard of it", location)
	}
	return err
}

// outputFormat finds the format of an output.
func outputFormat(location, name string) (table.Format, error) {
	if name != "" {
		return byName(formats, name)
	}
	if location == "-" {
		return table.Format{}, usagef("--to jsonl, for example", "output to stdout needs a format")
	}
	f, ok := formats.ByPath(location)
	if !ok {
		return f, usagef("--to parquet, for example; known extensions: "+strings.Join(formats.Extensions(), " "),
			"cannot tell the format of %s", location)
	}
	return f, nil
}

// createSink makes a sink of a format other than shards.
func (a *app) createSink(ctx context.Context, location string, f table.Format, schema *arrow.Schema, force bool, o table.WriteOptions) (table.Sink, error) {
	out, err := files.Create(ctx, location, force, a.Stdout)
	if err != nil {
		return nil, err
	}
	sink, err := f.Create(ctx, out, schema, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot write %s: %w", f.Title, err), out.Abort(context.WithoutCancel(ctx)))
	}
	return sink, nil
}
