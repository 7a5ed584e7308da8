// Package convert has the command convert.
package convert

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command {
	return []func() *cobra.Command{group{a}.convert, group{a}.importFiles}
}

func (a group) convert() *cobra.Command {
	var t formats.TableFlags
	var w formats.WriteFlags
	cmd := &cobra.Command{
		Use:   "convert IN... OUT",
		Short: "Convert tables between formats",
		Long: `convert reads tables in any format and writes one in any other:

` + formats.Help() + `
Several inputs, folders and patterns are one table: columns are united by name, with types that hold
the values of all inputs, and are null where an input lacks them. In a shard, each input begins a
stripe. --where, --columns, --rows and --limit choose rows and columns. Types of CSV and JSON are
inferred from a sample, and nothing is ever lost silently: text with leading zeros or mixed types
stays text, and a value that does not fit later is an error. The output appears under its name only
when it is complete; with .gz or .zst behind its name it is compressed.`,
		Example: `  amudai convert flights.parquet flights.amudai.shard
  amudai convert --schema zip:utf8 jan.csv feb.csv year.amudai.shard
  curl -s https://example.org/data.jsonl | amudai convert --from jsonl - data.amudai.shard
  amudai convert logs/ 'more/*.csv.gz' all.parquet --where "level = 'ERROR'"
  amudai convert flights.amudai.shard --to csv --columns date,delay -`,
		Args: app.Wants(2, -1, "inputs, then the output"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := converter{group: a, flags: &t, write: &w, inputs: args[:len(args)-1], output: args[len(args)-1]}
			return c.run(cmd.Context())
		},
	}
	t.Register(cmd, -1)
	w.Register(cmd)
	return cmd
}

// converter is one run of the command convert.
type converter struct {
	group
	flags  *formats.TableFlags
	write  *formats.WriteFlags
	inputs []string
	output string

	format provider.Format // of the output
	shard  shard.WriterOptions
	union  *formats.Union
	schema *arrow.Schema

	keepGroups bool // groups of rows of the source become stripes
	progress   *terminal.Progress
	messages   func(context.Context) ([]byte, error) // of an input of OTLP, for an output that takes them; otherwise nil
}

func (c *converter) run(ctx context.Context) (err error) {
	if c.format, err = formats.Output(c.output, c.write.To); err != nil {
		return err
	}
	if c.shard, err = c.write.ShardOptions(); err != nil {
		return err
	}
	c.shard.Program, c.shard.Overwrite = app.Writer, c.Force
	if err := files.CheckOutput(c.output, c.Force); err != nil {
		return err
	}
	if err := c.write.Check(c.output, c.format); err != nil {
		return err
	}
	src, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close(), c.union.Close()) }()
	if c.format.Name == formats.Shard {
		c.indexKeys(c.union.Formats()[0].Keys)
		if err := c.chooseNanos(ctx); err != nil {
			return err
		}
	}
	sink, err := c.createSink(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, sink.Abort(context.WithoutCancel(ctx)))
		}
	}()
	c.progress = terminal.Start(c.Bars(), "rows")
	err = c.copy(ctx, src, sink)
	if err == nil {
		err = sink.Close(ctx)
	}
	err = errors.Join(err, c.progress.End())
	if err == nil {
		c.summary()
	}
	return err
}

// open opens the inputs as one table.
func (c *converter) open(ctx context.Context) (src provider.Source, err error) {
	c.Opener.Lines.Whole = c.format.Name == formats.Lines
	if c.union, err = c.Opener.Union(ctx, c.inputs, c.flags); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.union.Close())
		}
	}()
	for _, location := range c.union.Locations() {
		if location != "-" && inputs.Same(location, c.output) {
			return nil, usage.Errorf("write it elsewhere, or name the inputs", "%s is both an input and the output", location)
		}
	}
	keeps := func(f provider.Format) bool { return f.Name != c.format.Name && !c.write.LimitsStripes() }
	c.union.KeepGroups(keeps)
	scan := c.union.Scan
	if c.format.Messages && c.takesAll() {
		scan.Messages = func(next func(context.Context) ([]byte, error)) { c.messages = next }
	}
	if src, err = c.union.Reader(ctx, scan); err != nil {
		return nil, err
	}
	c.keepGroups = len(c.union.Locations()) > 1 || keeps(c.union.Formats()[0])
	c.schema = src.Schema()
	return src, nil
}

// takesAll reports whether the rows of one input are copied as they are.
func (c *converter) takesAll() bool {
	scan := c.union.Scan
	return len(c.union.Locations()) == 1 && scan.Columns == nil && scan.Filter.IsZero() && scan.Rows == nil && scan.Limit == 0 && !c.union.Casts
}

// copyMessages copies the rows of OTLP files, which a sink for spans takes as messages.
func (c *converter) copyMessages(ctx context.Context, sink provider.MessageSink) error {
	for {
		message, err := c.messages(ctx)
		if err != nil || message == nil {
			return err
		}
		n, err := sink.WriteMessage(ctx, message)
		if err != nil {
			return err
		}
		c.progress.Add(n, 0, false)
	}
}

func (c *converter) createSink(ctx context.Context) (provider.Sink, error) {
	f := c.write.WithOptions(c.format)
	if f.Name == formats.Shard {
		_, codec := inputs.Codec(c.output)
		if c.output != "-" && codec == "" {
			sink, err := shard.Create(ctx, c.output, c.schema, c.shard)
			if err != nil {
				return nil, files.CreateError(c.output, err)
			}
			return sink, nil
		}
		if c.shard.Layout != shard.SingleFile {
			return nil, usage.Errorf("--layout single", "a shard of several files cannot be compressed, nor go to stdout")
		}
		f = shard.New(shard.FormatOptions{Write: c.shard})
	}
	return formats.Create(ctx, c.Stdout, c.output, f, c.schema, c.Force, provider.WriteOptions{Notice: c.Notice})
}

// indexKeys has a shard index the keys of its input.
func (c *converter) indexKeys(keys []string) {
	for _, key := range keys {
		if c.schema.HasField(key) {
			c.shard.Indexes = append(c.shard.Indexes, shard.IndexDefinition{Type: shard.HashIndex, Columns: []string{schema.Escape(key)}})
		}
	}
}

// copy copies the rows of a source, and reads one batch ahead. Groups of rows become stripes if they are to be
// kept.
func (c *converter) copy(ctx context.Context, src provider.Source, sink provider.Sink) error {
	if c.messages != nil {
		return c.copyMessages(ctx, sink.(provider.MessageSink))
	}
	ctx, stop := context.WithCancel(ctx)
	batches := readAhead(ctx, src)
	defer func() {
		stop()
		for b := range batches { // until the reader has ended
			b.release()
		}
	}()
	group := -1
	for b := range batches {
		if b.err != nil || b.batch == nil {
			return b.err
		}
		if s, cuts := sink.(provider.StripeCutter); cuts && c.keepGroups && b.group != group && group >= 0 {
			if err := s.CutStripe(ctx); err != nil {
				b.release()
				return err
			}
		}
		group = b.group
		n := b.batch.NumRows()
		err := sink.Write(ctx, b.batch)
		b.release()
		if err != nil {
			return err
		}
		c.progress.Add(n, b.total, b.known) // estimates get better
	}
	return ctx.Err()
}

// readBatch is a batch, an error, or the end of readAhead.
type readBatch struct {
	batch arrow.RecordBatch
	err   error
	total int64
	known bool
	group int // of rows that the source stores together, or -1
}

func (b readBatch) release() {
	if b.batch != nil {
		b.batch.Release()
	}
}

// readAhead reads the source in a goroutine. After the end or an error, or when ctx is cancelled, the
// goroutine closes the channel and ends.
func readAhead(ctx context.Context, src provider.Source) <-chan readBatch {
	out := make(chan readBatch)
	go func() {
		defer close(out)
		for {
			b := nextBatch(ctx, src)
			select {
			case out <- b:
			case <-ctx.Done():
				b.release()
				return
			}
			if b.batch == nil {
				return
			}
		}
	}()
	return out
}

// nextBatch turns a panic into an error, so that it does not end the process.
func nextBatch(ctx context.Context, src provider.Source) (b readBatch) {
	defer func() {
		if r := recover(); r != nil {
			b = readBatch{err: fmt.Errorf("reading failed: %v", r)}
		}
	}()
	b.batch, b.err = src.Next(ctx)
	b.total, b.known = src.Rows()
	b.group = -1
	if g, ok := src.(provider.Grouped); ok {
		b.group = g.Group()
	}
	return b
}

// summary prints the result for people.
func (c *converter) summary() {
	if !c.Summarizes() {
		return
	}
	line := c.progress.Rate()
	if c.output == "-" {
		c.Errs.Printf("%s\n", line)
		return
	}
	line += " → " + c.output
	if c.format.Name == formats.Shard {
		line += ", edition " + c.shard.Edition.String()
	}
	if info, err := os.Stat(c.output); err == nil && c.shard.Layout == shard.SingleFile {
		line += ", " + terminal.Size(info.Size())
		if from := c.inputBytes(); from > 0 {
			line += " (from " + terminal.Size(from) + ")"
		}
	}
	c.Errs.Printf("%s\n", line)
}

func (c *converter) inputBytes() (n int64) {
	for _, location := range c.union.Locations() {
		info, err := os.Stat(location)
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		n += info.Size()
	}
	return n
}
