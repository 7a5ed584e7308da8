package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/amudai"
)

func (a *app) convert() *cobra.Command {
	var r formats.ReadFlags
	var w formats.WriteFlags
	cmd := &cobra.Command{
		Use:   "convert IN... OUT",
		Short: "Convert tables between formats",
		Long: `convert reads tables in any format and writes one in any other:

` + formats.Help() + `
Several inputs with the same columns follow one another; in a shard, each begins a stripe.
Types of CSV and JSON are inferred from a sample, and nothing is ever lost silently: text with
leading zeros or mixed types stays text, and a value that does not fit later is an error.
The output appears under its name only when it is complete.`,
		Example: `  amudai convert flights.parquet flights.amudai.shard
  amudai convert --schema zip:utf8 jan.csv feb.csv year.amudai.shard
  curl -s https://example.org/data.jsonl | amudai convert --from jsonl - data.amudai.shard
  amudai convert flights.amudai.shard --to csv --columns date,delay -`,
		Args: wants(2, -1, "inputs, then the output"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := converter{app: a, write: &w, inputs: args[:len(args)-1], output: args[len(args)-1], from: r.From}
			var err error
			if c.read, err = a.opener.Use(&r); err != nil {
				return err
			}
			if w.Quiet {
				c.read.Notice = nil
			}
			return c.run(cmd.Context())
		},
	}
	r.Register(cmd, true)
	w.Register(cmd)
	return cmd
}

// converter is one run of the command convert.
type converter struct {
	*app
	read   table.ReadOptions
	write  *formats.WriteFlags
	from   string
	inputs []string
	output string

	format table.Format // of the output
	shard  shard.WriterOptions
	schema *arrow.Schema
	total  int64 // rows of all inputs
	known  bool  // total is something
	first  table.Source

	keepGroups []bool // by input: its groups of rows become stripes, because it is of another format
	progress   *terminal.Progress
}

func (c *converter) run(ctx context.Context) (err error) {
	if c.format, err = formats.Output(c.output, c.write.To); err != nil {
		return err
	}
	if c.shard, err = c.write.ShardOptions(); err != nil {
		return err
	}
	c.shard.Program = program
	if err := c.check(); err != nil {
		return err
	}
	if err := c.look(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.closeFirst()) }()
	if c.format.Name == formats.Shard {
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
	c.progress = terminal.StartRows(c.bars(c.write.Quiet), c.total, c.known)
	err = c.copyAll(ctx, sink)
	if err == nil {
		err = sink.Close(ctx)
	}
	err = errors.Join(err, c.progress.End())
	if err == nil {
		c.summary()
	}
	return err
}

// check reports errors that are known before anything is read.
func (c *converter) check() error {
	if slices.Contains(c.inputs[1:], "-") {
		return usage.Errorf("", "stdin can only be the first input")
	}
	return files.CheckOutput(c.output, c.write.Force)
}

func (c *converter) createSink(ctx context.Context) (table.Sink, error) {
	f := c.write.WithOptions(c.format)
	if f.Name == formats.Shard {
		if c.output != "-" {
			sink, err := amudai.Create(ctx, c.output, c.schema, c.shard)
			if err != nil {
				return nil, files.CreateError(c.output, err)
			}
			return sink, nil
		}
		if c.shard.Layout != shard.SingleFile {
			return nil, usage.Errorf("--layout single", "a shard of several files cannot go to stdout")
		}
		f = amudai.New(amudai.Options{Write: c.shard})
	}
	return formats.Create(ctx, c.Stdout, c.output, f, c.schema, c.write.Force, table.WriteOptions{Notice: c.read.Notice})
}

// look opens every input for its schema, checks that the schemas are compatible, and leaves the first input open.
func (c *converter) look(ctx context.Context) error {
	c.known = true
	var found []table.Format
	sparse := true
	for i, location := range c.inputs {
		src, f, err := c.open(ctx, i, c.read)
		if err != nil {
			return err
		}
		found = append(found, f)
		sparse = sparse && f.Sparse
		c.keepGroups = append(c.keepGroups, f.Name != c.format.Name && !c.write.LimitsStripes())
		n, ok := src.Rows()
		c.total, c.known = c.total+n, c.known && ok
		if i == 0 {
			c.first, c.schema = src, src.Schema()
			c.indexKeys(f.Keys)
			continue
		}
		if sparse {
			err = c.addColumns(src.Schema(), location)
		} else {
			err = c.checkInput(src.Schema(), location)
		}
		if err = errors.Join(err, src.Close()); err != nil {
			return errors.Join(err, c.closeFirst())
		}
	}
	err := c.opener.Check(c.inputs[0], found...)
	if err == nil {
		err = c.write.Check(c.output, c.format)
	}
	if err != nil {
		return errors.Join(err, c.closeFirst())
	}
	return nil
}

// closeFirst closes the first input, if it is open.
func (c *converter) closeFirst() error {
	if c.first == nil {
		return nil
	}
	src := c.first
	c.first = nil
	return src.Close()
}

// open opens input i. Inferred types of later inputs are those of the first.
func (c *converter) open(ctx context.Context, i int, o table.ReadOptions) (table.Source, table.Format, error) {
	in, f, err := c.opener.Input(ctx, c.inputs[i], c.from)
	if err != nil {
		return nil, f, err
	}
	if i > 0 {
		if o.Notice = nil; f.Casts && c.read.Columns == nil || f.Name == formats.Lines {
			o.Schema = c.schema.Fields()
		}
	}
	if f.Name == formats.Lines && o.Columns == nil {
		o.Columns = c.lineColumns()
	}
	src, err := c.opener.Open(ctx, in, f, c.inputs[i], o)
	return src, f, err
}

// lineColumns are the columns of lines of text, where others are recognized in the text: those of the first input, or
// only the lines if the output is lines, too. Nil means all.
func (c *converter) lineColumns() []string {
	switch {
	case c.format.Name == formats.Lines:
		return []string{"line"}
	case c.schema == nil:
		return nil
	}
	columns := make([]string, c.schema.NumFields())
	for i, f := range c.schema.Fields() {
		columns[i] = schema.Escape(f.Name)
	}
	return columns
}

// checkInput checks that an input has the columns of the first one, and makes columns nullable that are nullable
// in any input.
func (c *converter) checkInput(s *arrow.Schema, location string) error {
	fields := c.schema.Fields()
	if s.NumFields() != len(fields) {
		return fmt.Errorf("%s has %s, but %s has %d: inputs must have the same columns", location, terminal.Plural(s.NumFields(), "column"), c.inputs[0], len(fields))
	}
	changed := false
	for i, f := range fields {
		at := s.FieldIndices(f.Name)
		if len(at) == 0 {
			return fmt.Errorf("%s has no column %q, which %s has: inputs must have the same columns", location, f.Name, c.inputs[0])
		}
		g := s.Field(at[0])
		if !arrow.TypeEqual(f.Type, g.Type) {
			return usage.WithHint(fmt.Errorf("column %q is %s in %s, but %s in %s", f.Name, text.Type(g.Type), location, text.Type(f.Type), c.inputs[0]),
				"--schema %s:TYPE gives CSV and JSON columns one type", f.Name)
		}
		if g.Nullable && !f.Nullable {
			fields[i].Nullable, changed = true, true
		}
	}
	if changed {
		meta := c.schema.Metadata()
		c.schema = arrow.NewSchema(fields, &meta)
	}
	return nil
}

// addColumns adds the columns of an input to those of the inputs before. What an input lacks is null in its rows.
func (c *converter) addColumns(s *arrow.Schema, location string) error {
	fields := c.schema.Fields()
	for i, f := range fields {
		if !s.HasField(f.Name) {
			fields[i].Nullable = true
		}
	}
	for _, g := range s.Fields() {
		at := c.schema.FieldIndices(g.Name)
		if len(at) == 0 {
			g.Nullable = true
			fields = append(fields, g)
			continue
		}
		f := &fields[at[0]]
		if !arrow.TypeEqual(f.Type, g.Type) {
			return usage.WithHint(fmt.Errorf("column %q is %s in %s, but %s in %s", f.Name, text.Type(g.Type), location, text.Type(f.Type), c.inputs[0]),
				"amudai blockpack merge keeps values of several types")
		}
		f.Nullable = f.Nullable || g.Nullable
	}
	meta := c.schema.Metadata()
	c.schema = arrow.NewSchema(fields, &meta)
	return nil
}

// indexKeys has a shard index the keys of its input.
func (c *converter) indexKeys(keys []string) {
	if c.format.Name != formats.Shard {
		return
	}
	for _, key := range keys {
		if c.schema.HasField(key) {
			c.shard.Indexes = append(c.shard.Indexes, shard.IndexDefinition{Type: shard.HashIndex, Columns: []string{schema.Escape(key)}})
		}
	}
}

// copyAll copies the rows of all inputs.
func (c *converter) copyAll(ctx context.Context, sink table.Sink) error {
	for i := range c.inputs {
		src := c.first
		c.first = nil
		if i > 0 {
			var err error
			again := c.read
			again.Warning = nil // look has given it
			if src, _, err = c.open(ctx, i, again); err != nil {
				return err
			}
			if err := cutStripe(ctx, sink); err != nil {
				return errors.Join(err, src.Close())
			}
		}
		if err := errors.Join(c.copy(ctx, src, sink, c.keepGroups[i]), src.Close()); err != nil {
			return err
		}
	}
	return nil
}

// cutStripe ends a stripe of a sink that has some.
func cutStripe(ctx context.Context, sink table.Sink) error {
	if s, ok := sink.(table.StripeCutter); ok {
		return s.CutStripe(ctx)
	}
	return nil
}

// copy copies the rows of a source, and reads one batch ahead. Groups of rows become stripes if they are to be
// kept.
func (c *converter) copy(ctx context.Context, src table.Source, sink table.Sink, keepGroups bool) error {
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
		if b.err == io.EOF {
			return nil
		}
		if b.err != nil {
			return b.err
		}
		if keepGroups && b.group != group && group >= 0 {
			if err := cutStripe(ctx, sink); err != nil {
				b.release()
				return err
			}
		}
		group = b.group
		n := b.batch.NumRows()
		err := c.writeBatch(ctx, sink, b.batch)
		b.release()
		if err != nil {
			return err
		}
		total, known := c.total, c.known
		if len(c.inputs) == 1 {
			total, known = b.total, b.known // estimates get better
		}
		c.progress.Add(n, total, known)
	}
	return ctx.Err()
}

// writeBatch writes a batch with its columns in the order of the output.
func (c *converter) writeBatch(ctx context.Context, sink table.Sink, b arrow.RecordBatch) error {
	if b.Schema().Equal(c.schema) {
		return sink.Write(ctx, b)
	}
	columns := make([]arrow.Array, c.schema.NumFields())
	for i, f := range c.schema.Fields() {
		switch at := b.Schema().FieldIndices(f.Name); {
		case i < int(b.NumCols()) && b.Schema().Field(i).Name == f.Name: // also of several columns with one name
			columns[i] = b.Column(i)
		case len(at) > 0:
			columns[i] = b.Column(at[0])
		default: // of a sparse format
			nulls := array.MakeArrayOfNull(memory.DefaultAllocator, f.Type, int(b.NumRows()))
			defer nulls.Release()
			columns[i] = nulls
		}
	}
	same := array.NewRecordBatch(c.schema, columns, b.NumRows())
	defer same.Release()
	return sink.Write(ctx, same)
}

// readBatch is a batch, or an error, of readAhead.
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

// readAhead reads the source in a goroutine. After an error, including io.EOF, or when ctx is cancelled, the
// goroutine closes the channel and ends.
func readAhead(ctx context.Context, src table.Source) <-chan readBatch {
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
			if b.err != nil {
				return
			}
		}
	}()
	return out
}

// nextBatch turns a panic into an error, so that it does not end the process.
func nextBatch(ctx context.Context, src table.Source) (b readBatch) {
	defer func() {
		if r := recover(); r != nil {
			b = readBatch{err: fmt.Errorf("reading failed: %v", r)}
		}
	}()
	b.batch, b.err = src.Next(ctx)
	b.total, b.known = src.Rows()
	b.group = -1
	if g, ok := src.(table.Grouped); ok {
		b.group = g.Group()
	}
	return b
}

// summary prints the result for people.
func (c *converter) summary() {
	if !c.Progress || c.write.Quiet {
		return
	}
	line := c.progress.Rate()
	if c.output == "-" {
		c.errs.Printf("%s\n", line)
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
	c.errs.Printf("%s\n", line)
}

func (c *converter) inputBytes() (n int64) {
	for _, location := range c.inputs {
		info, err := os.Stat(location)
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		n += info.Size()
	}
	return n
}
