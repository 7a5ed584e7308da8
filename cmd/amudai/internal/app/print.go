package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/table/provider"
)

// TableFormat is the name of a format for people.
const TableFormat = "table"

// PrintFlags are the flags of commands that print rows: the format, and the output.
type PrintFlags struct {
	Format string // "" for the default
	Output string // "" for stdout
}

// Register adds the flags. byDefault describes the default format.
func (f *PrintFlags) Register(cmd *cobra.Command, byDefault string) {
	cmd.Flags().StringVar(&f.Format, "format", "", "format of the output (default: "+byDefault+")")
	cmd.Flags().StringVarP(&f.Output, "output", "o", "", "write to `OUT` instead of stdout, in the format of its name")
	usage.Complete(cmd, "format", printed(terminal.Screen{}).Names()...)
}

// CreateSink makes a sink for rows of a schema.
type CreateSink func(context.Context, *arrow.Schema) (provider.Sink, error)

// Printer returns a function that makes the sink for rows to print, and their format. byDefault is the name of the default format; ""
// chooses one that suits the output.
func (a *App) Printer(f *PrintFlags, byDefault string) (create CreateSink, format provider.Format, err error) {
	if f.Output != "" {
		if err := files.CheckOutput(f.Output, a.Force); err != nil {
			return nil, format, err
		}
	} else if a.Force {
		return nil, format, usage.Errorf("leave it out", "--force is about --output")
	}
	if format, err = a.printedFormat(f, byDefault); err != nil {
		return nil, format, err
	}
	if a.Memory != nil && format.Name == "arrows" && f.Output == "" {
		a.Opener.Allocator = a.Memory.Allocator()
		return a.Memory.Create, format, nil
	}
	return func(ctx context.Context, s *arrow.Schema) (provider.Sink, error) {
		return formats.Create(ctx, a.Stdout, cmp.Or(f.Output, "-"), format, s, a.Force, provider.WriteOptions{Notice: a.Notice})
	}, format, nil
}

// printedFormat is the format that flags choose, or the default.
func (a *App) printedFormat(f *PrintFlags, byDefault string) (provider.Format, error) {
	screen := a.Out
	if f.Output != "" {
		screen = terminal.Screen{}
	}
	all := printed(screen)
	if f.Format == "" && f.Output != "" && f.Output != "-" {
		name, _ := inputs.Codec(f.Output)
		format, ok := all.ByPath(name)
		if !ok {
			return format, usage.WithHint(errors.New("cannot tell the format of "+f.Output), "--format table, for example; known extensions: %s", strings.Join(all.Extensions(), " "))
		}
		return format, nil
	}
	name := cmp.Or(f.Format, byDefault)
	if name == "" {
		if name = "csv"; a.Width > 0 {
			name = TableFormat
		}
	}
	format, err := all.ByName(name)
	if err != nil {
		return format, usage.Errorf("", "--format %q: use one of %s", name, strings.Join(all.Names(), ", "))
	}
	return format, nil
}

// printed are the formats in which rows are printed: two for people, which suit a screen, and those that can be written.
func printed(screen terminal.Screen) provider.Formats {
	return append(provider.Formats{
		{Name: TableFormat, Title: "a table for people", Writer: func(_ context.Context, out provider.Output, s *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
			return newTable(out, s, screen), nil
		}},
		{Name: "md", Title: "Markdown", Extensions: []string{".md"}, Writer: func(_ context.Context, out provider.Output, s *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
			return newMarkdown(out, s), nil
		}},
	}, slices.DeleteFunc(formats.All(), func(f provider.Format) bool { return f.Writer == nil })...)
}

// PrintRows prints all rows of a source, and closes it.
func PrintRows(ctx context.Context, src provider.Source, create CreateSink) (err error) {
	defer func() { err = errors.Join(err, src.Close()) }()
	sink, err := create(ctx, src.Schema())
	if err != nil {
		return err
	}
	if err := seq.Each(provider.Batches(ctx, src), func(b arrow.RecordBatch) error { return sink.Write(ctx, b) }); err != nil {
		return errors.Join(err, sink.Abort(context.WithoutCancel(ctx)))
	}
	return sink.Close(ctx)
}
