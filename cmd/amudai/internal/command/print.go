package command

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// tableFormat is a format of cat and head for people. The other formats are those of convert.
const tableFormat = "table"

// PrintFlags are the flags of commands that print rows: the format, and the output.
type PrintFlags struct {
	Format string // "" for the default
	Output string // "" for stdout
	Force  bool   // replaces an existing output
}

// Register adds the flags. byDefault describes the default format.
func (f *PrintFlags) Register(cmd *cobra.Command, byDefault string) {
	cmd.Flags().StringVar(&f.Format, "format", "", "format of the output (default: "+byDefault+")")
	cmd.Flags().StringVar(&f.Output, "output", "", "write to this file instead of stdout, in the format of its name")
	cmd.Flags().BoolVarP(&f.Force, "force", "f", false, "replace an existing output")
	usage.Complete(cmd, "format", catFormats()...)
}

// defaultFormats describes the default format of commands that print many rows.
const defaultFormats = "table on a terminal, else csv"

type catFlags struct {
	formats.TableFlags
	print PrintFlags
}

// register adds the flags of commands that print rows.
func (f *catFlags) register(cmd *cobra.Command, limit int64, byDefault string) {
	f.TableFlags.Register(cmd, limit)
	f.print.Register(cmd, byDefault)
}

func (a *app) cat() *cobra.Command {
	var f catFlags
	cmd := &cobra.Command{
		Use:   "cat IN...",
		Short: "Print the rows of tables",
		Long: `cat prints the rows of tables in any format: as a table on a terminal, as CSV into a pipe, or as
--format says (table, md, csv, tsv, json, jsonl, parquet, arrow, arrows), to stdout or a file (--output).
Several inputs, folders and patterns are one table: columns are united by name, with types that hold the
values of all inputs, and are null where an input lacks them. In a table, null is shown as ` + nullText + `,
and long values are cut on a terminal.`,
		Example: `  amudai cat flights.amudai.shard --columns date,delay --limit 100
  amudai cat jan.csv feb.parquet more/ --where 'delay > 300' --output late.jsonl.gz
  amudai cat flights.amudai.shard --rows 1000:2000 --format jsonl | jq .delay`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runCat(cmd.Context(), args, f, "") },
	}
	f.register(cmd, -1, defaultFormats)
	return cmd
}

func (a *app) head() *cobra.Command {
	var f catFlags
	cmd := &cobra.Command{
		Use:   "head IN...",
		Short: "Print the first rows of tables",
		Long:  `head prints the first ten rows, or --limit rows, of tables in any format, as one table.`,
		Example: `  amudai head flights.amudai.shard
  amudai head data.csv.gz -n 3 --format md`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runCat(cmd.Context(), args, f, tableFormat)
		},
	}
	f.register(cmd, 10, "table")
	return cmd
}

// runCat prints rows. byDefault is the default format; "" chooses one that suits stdout.
func (a *app) runCat(ctx context.Context, locations []string, f catFlags, byDefault string) error {
	create, format, err := a.printer(&f.print, byDefault)
	if err != nil {
		return err
	}
	src, err := a.opener.Tables(ctx, locations, &f.TableFlags, table.ScanOptions{
		Reuse: format != formats.Parquet, // its writer keeps values of batches for statistics
	})
	if err != nil {
		return err
	}
	return errors.Join(printRows(ctx, src, create, f.Rows.Limit), src.Close())
}

// createSink makes a sink for rows of a schema.
type createSink func(context.Context, *arrow.Schema) (provider.Sink, error)

// printer returns a function that makes the sink for rows to print, and the name of its format. byDefault is the default
// format; "" chooses one that suits the output. To print batches that a command computed, make the sink, Write them, and
// Close it, or Abort it after an error.
func (a *app) printer(f *PrintFlags, byDefault string) (create createSink, format string, err error) {
	if f.Output != "" {
		if err := files.CheckOutput(f.Output, f.Force); err != nil {
			return nil, "", err
		}
	} else if f.Force {
		return nil, "", usage.Errorf("leave it out", "--force is about --output")
	}
	switch {
	case f.Format != "":
		format = f.Format
	case f.Output != "" && f.Output != "-":
		return a.fileSink(f)
	case byDefault != "":
		format = byDefault
	case a.Width > 0:
		format = tableFormat
	default:
		format = "csv"
	}
	if f.Output != "" {
		create, err = a.outputSink(format, f)
	} else {
		create, err = a.catSink(format)
	}
	return create, format, err
}

// fileSink returns a function that makes the sink of --output, in the format of its name.
func (a *app) fileSink(f *PrintFlags) (createSink, string, error) {
	name, _ := inputs.Codec(f.Output)
	if strings.HasSuffix(strings.ToLower(name), "."+markdownFormat) {
		create, err := a.outputSink(markdownFormat, f)
		return create, markdownFormat, err
	}
	format, err := formats.Output(f.Output, "")
	if err != nil {
		return nil, "", usage.WithHint(errors.New("cannot tell the format of "+f.Output), "--format table, for example; known extensions: .md %s", strings.Join(formats.All().Extensions(), " "))
	}
	return func(ctx context.Context, s *arrow.Schema) (provider.Sink, error) {
		return formats.Create(ctx, a.Stdout, f.Output, format, s, f.Force, provider.WriteOptions{Notice: a.notice})
	}, format.Name, nil
}

// outputSink returns a function that makes a sink of a format for --output.
func (a *app) outputSink(format string, f *PrintFlags) (createSink, error) {
	if format == tableFormat || format == markdownFormat {
		return func(ctx context.Context, s *arrow.Schema) (provider.Sink, error) {
			out, err := files.Create(ctx, f.Output, f.Force, a.Stdout)
			if err != nil {
				return nil, err
			}
			w := &storage.IOWriter{Context: ctx, Writer: out}
			return &textFile{textSink(format, terminal.Screen{Out: w}, s), w, out}, nil
		}, nil
	}
	chosen, err := printedFormat(format)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, s *arrow.Schema) (provider.Sink, error) {
		return formats.Create(ctx, a.Stdout, f.Output, chosen, s, f.Force, provider.WriteOptions{Notice: a.notice})
	}, nil
}

// textFile is a file of a sink for people.
type textFile struct {
	provider.Sink
	w   *storage.IOWriter
	out provider.Output
}

// Write implements [provider.Sink].
func (f *textFile) Write(ctx context.Context, b arrow.RecordBatch) error {
	f.w.Context = ctx
	return f.Sink.Write(ctx, b)
}

// Close implements [provider.Sink].
func (f *textFile) Close(ctx context.Context) error {
	f.w.Context = ctx
	if err := f.Sink.Close(ctx); err != nil {
		return errors.Join(err, f.out.Abort(context.WithoutCancel(ctx)))
	}
	return f.out.Publish(ctx)
}

// Abort implements [provider.Sink].
func (f *textFile) Abort(ctx context.Context) error { return f.out.Abort(ctx) }

// textSink makes a sink of a format for people.
func textSink(format string, out terminal.Screen, s *arrow.Schema) provider.Sink {
	if format == markdownFormat {
		return &markdownSink{w: out.Out, schema: s}
	}
	return &tableSink{out: out, schema: s}
}

// printRows prints limit rows, or all rows if limit is negative.
func printRows(ctx context.Context, src provider.Source, create createSink, limit int64) error {
	sink, err := create(ctx, src.Schema())
	if err != nil {
		return err
	}
	if err := copyRows(ctx, src, sink, limit); err != nil {
		return errors.Join(err, sink.Abort(context.WithoutCancel(ctx)))
	}
	return sink.Close(ctx)
}

// isPrinted reports whether cat can write a format. Only convert writes shards.
func isPrinted(f provider.Format) bool { return f.Writer != nil && f.Name != formats.Shard }

// catFormats are the formats of cat and head.
func catFormats() []string {
	names := []string{tableFormat, markdownFormat}
	for _, f := range formats.All() {
		if isPrinted(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// printedFormat finds a format of programs by its name.
func printedFormat(name string) (provider.Format, error) {
	i := slices.IndexFunc(formats.All(), func(f provider.Format) bool { return f.Name == name && isPrinted(f) })
	if i < 0 {
		return provider.Format{}, usage.Errorf("", "--format %q: use one of %s", name, strings.Join(catFormats(), ", "))
	}
	return formats.All()[i], nil
}

// catSink returns a function that makes a sink of a format on stdout.
func (a *app) catSink(format string) (createSink, error) {
	if format == tableFormat || format == markdownFormat {
		return func(_ context.Context, s *arrow.Schema) (provider.Sink, error) {
			return textSink(format, a.out, s), nil
		}, nil
	}
	f, err := printedFormat(format)
	if err != nil {
		return nil, err
	}
	o := provider.WriteOptions{Notice: a.notice}
	if a.memory != nil && f.Name == "arrows" {
		a.opener.Allocator = a.memory.Allocator()
		return a.memory.Create, nil
	}
	return func(ctx context.Context, s *arrow.Schema) (provider.Sink, error) {
		return formats.Create(ctx, a.Stdout, "-", f, s, false, o)
	}, nil
}

// copyRows copies limit rows, or all rows if limit is negative.
func copyRows(ctx context.Context, src provider.Source, sink provider.Sink, limit int64) error {
	for left := limit; left != 0; {
		b, err := src.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		if left > 0 && b.NumRows() > left {
			part := b.NewSlice(0, left)
			b.Release()
			b = part
		}
		if left > 0 {
			left -= b.NumRows()
		}
		err = sink.Write(ctx, b)
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	nullText  = "·"
	tableRows = 1000 // rows of one table: widths are theirs
	cellWidth = 40   // most of a cell on a terminal
)

// tableSink prints tables of up to tableRows rows.
type tableSink struct {
	out    terminal.Screen
	schema *arrow.Schema
	table  *terminal.Table // nil until it has rows
	rows   int64
}

// Write implements [provider.Sink].
func (s *tableSink) Write(ctx context.Context, b arrow.RecordBatch) error {
	columns := cellsOf(b)
	for row := range int(b.NumRows()) {
		if s.table == nil {
			s.start()
		}
		cells := make([]any, len(columns))
		for i, cell := range columns {
			cells[i] = cell(row)
		}
		s.table.Row(cells...)
		s.rows++
		if s.table.Len() == tableRows {
			if err := s.flush(); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// cellsOf are functions that return the texts of the columns of a row, for people.
func cellsOf(b arrow.RecordBatch) []func(row int) string {
	cells := make([]func(int) string, b.NumCols())
	for i, c := range b.Columns() {
		appendText := values.Text(c)
		if ids, ok := c.(*array.FixedSizeBinary); ok { // ids and hashes, as people know them
			appendText = func(dst []byte, row int) []byte { return hex.AppendEncode(dst, ids.Value(row)) }
		}
		var buf []byte
		cells[i] = func(row int) string {
			if values.IsNull(c, row) {
				return nullText
			}
			buf = appendText(buf[:0], row)
			return string(buf)
		}
	}
	return cells
}

func (s *tableSink) start() {
	s.table = terminal.NewTable()
	s.table.Widest = cellWidth
	for _, f := range s.schema.Fields() {
		if isNumber(f.Type) {
			s.table.Numbers(f.Name)
		} else {
			s.table.Text(f.Name)
		}
	}
}

func isNumber(t arrow.DataType) bool {
	id := t.ID()
	return arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id)
}

func (s *tableSink) flush() error {
	if s.table == nil {
		return nil
	}
	hidden, err := s.out.Table(s.table, "")
	s.table = nil
	if err == nil && hidden > 0 {
		err = s.out.Printf("%s\n", s.out.Paint(terminal.Dim, "… and "+terminal.Plural(hidden, "more column")+": --columns chooses"))
	}
	return err
}

// Close implements [provider.Sink].
func (s *tableSink) Close(context.Context) error {
	if s.rows == 0 && s.schema.NumFields() > 0 {
		s.start()
	}
	return s.flush()
}

// Abort implements [provider.Sink]. Printed rows stay.
func (s *tableSink) Abort(context.Context) error { return nil }

func (a *app) inferSchema() *cobra.Command {
	var r formats.ReadFlags
	cmd := &cobra.Command{
		Use:   "infer-schema FILE",
		Short: "Print the types inferred for CSV or JSON",
		Long: `infer-schema prints a line "name: type" for each column, with the type that convert would infer. Save the output,
edit it, and pass it to convert with --schema @FILE.`,
		Example: `  amudai infer-schema zipcodes.csv > zipcodes.schema
  amudai convert --schema @zipcodes.schema zipcodes.csv zipcodes.amudai.shard`,
		Args: wants(1, 1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.printSchema(cmd.Context(), args[0], r) },
	}
	r.Register(cmd, false)
	return cmd
}
