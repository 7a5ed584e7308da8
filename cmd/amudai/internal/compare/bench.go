package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command {
	g := group{a}
	return []func() *cobra.Command{g.demo, g.bench, g.benchPeak}
}

const (
	benchProject = 2 // columns of a projection unless they are named
	benchChild   = "bench-peak"
)

type benchFlags struct {
	read    formats.ReadFlags
	write   formats.WriteFlags
	rounds  int
	limit   int64
	memory  int64
	json    string
	where   string
	columns []string
}

func (a group) bench() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench FILE",
		Short: "Compare a shard of a table with Parquet and Arrow",
		Long: `bench writes a table of any format as Parquet (zstd and snappy), as Arrow IPC (zstd) and as a shard into
a temporary folder. It compares size, writing, scanning, reading some columns, opening and reading one column,
taking 1,000 random rows (opening included), finding and counting the rows that match a condition (--where,
by default one that few rows match), and peak memory. Times are CPU time on one core; those of two threads are
wall-clock time. The formats take turns in each round. Results are medians over --rounds, as ratios to Parquet with
zstd (smaller is better), with the minimum and maximum of the rounds in brackets.
--json FILE writes all rounds to a file, for "go run ./bench -compare OLD NEW".`,
		Example: `  amudai bench flights.parquet --project origin,delay --where "origin = 'SFO'"
  amudai bench trips.csv --edition 2026 --profile high-compression`,
		Args: app.Wants(1, 1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runBench(cmd.Context(), args[0], f) },
	}
	f.read.Register(cmd, true)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.columns, "project", nil, "columns of the projection (default: the first two)")
	flags.StringVar(&f.where, "where", "", "the condition of filter and count, such as \"origin = 'SFO' and delay > 300\"")
	flags.IntVar(&f.rounds, "rounds", 5, "number of rounds")
	flags.Int64VarP(&f.limit, "limit", "n", -1, "maximum number of rows to use")
	formats.RegisterSize(cmd, &f.memory, "memory", "2GiB", "maximum Arrow data to use, in a temporary file; further rows are left out")
	flags.StringVar(&f.json, "json", "", "also write the results to `OUT`")
	f.write.RegisterCoding(cmd)
	return cmd
}

// benchPeak is the hidden command that bench runs to measure memory in a separate process.
func (a group) benchPeak() *cobra.Command {
	return &cobra.Command{
		Use: benchChild + " TASK", Hidden: true, Args: app.Wants(1, 1, "one task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return suite.Child(cmd.Context(), args[0], Contender, a.Stdout)
		},
	}
}

func (a group) runBench(ctx context.Context, location string, f benchFlags) (err error) {
	o, err := a.Opener.Use(ctx, &f.read)
	if err != nil {
		return err
	}
	if f.json != "" {
		if err := files.CheckOutput(f.json, a.Force); err != nil {
			return err
		}
	}
	if f.rounds < 1 {
		return usage.Errorf("", "--rounds %d: use a number above 0", f.rounds)
	}
	c := comparison{group: a, benchFlags: f, data: &suite.Dataset{Name: filepath.Base(location)}}
	c.options = f.write.Shard
	c.options.Program = app.Writer
	if _, err := formats.Condition(f.where); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "amudai-bench-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := c.load(ctx, location, filepath.Join(dir, "table.arrow"), o, f.memory); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	result, err := suite.Run(ctx, c.data, append(Rivals(), suite.Shard{Options: c.options}), suite.Options{
		Dir: dir, Rounds: f.rounds, Cores: 1, Report: a.benchProgress(), Child: []string{benchChild}})
	if err != nil {
		return err
	}
	return c.show(result)
}

// benchProgress prints each operation on a terminal as it is measured.
func (a group) benchProgress() func(contender, op string, value float64) {
	if !a.Summarizes() {
		return nil
	}
	return func(contender, op string, _ float64) { a.Errs.Printf("\r\x1b[K%s: %s\r", op, contender) }
}

// comparison is a table with its results in several formats.
type comparison struct {
	group
	benchFlags
	options shard.WriterOptions
	data    *suite.Dataset
	bytes   int64
}

// load copies rows into an Arrow file, up to the limits. Rows in Go's heap would make the garbage collector run
// less often, and all formats look faster.
func (c *comparison) load(ctx context.Context, location, path string, o provider.ReadOptions, most int64) (err error) {
	if o.BatchRows = suite.BatchRows; c.limit >= 0 {
		o.Rows = []provider.RowRange{{To: c.limit}}
	}
	src, err := c.Opener.Source(ctx, location, c.read.From, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	arrows, err := provider.Registered().ByName("arrow")
	if err != nil {
		return err
	}
	sink, err := formats.Create(ctx, c.Stdout, path, arrows, src.Schema(), true, provider.WriteOptions{TempDir: filepath.Dir(path)})
	if err != nil {
		return err
	}
	defer sink.Abort(context.WithoutCancel(ctx))
	for b, err := range provider.Batches(ctx, src) {
		if err != nil {
			return err
		}
		for _, col := range b.Columns() {
			c.bytes += int64(col.Data().SizeInBytes())
		}
		if err := sink.Write(ctx, b); err != nil {
			return err
		}
		if c.bytes > most {
			break
		}
	}
	if err := sink.Close(ctx); err != nil {
		return err
	}
	if err := c.data.Map(path); err != nil {
		return err
	}
	if c.bytes > most {
		c.Noticef("only the first %s are used, because of --memory", terminal.Plural(c.data.Rows, "row"))
	}
	return nil
}

// prepare chooses the columns and the condition.
func (c *comparison) prepare() error {
	if c.data.Rows == 0 {
		return errors.New("the table has no rows")
	}
	schema := c.data.Schema
	for _, name := range c.columns {
		if !schema.HasField(name) {
			return usage.WithHint(fmt.Errorf("there is no column %q%s", name, text.Suggest(name, text.Names(schema))), "amudai schema lists the columns")
		}
	}
	c.data.Project = c.columns
	if c.columns == nil {
		for _, f := range schema.Fields()[:min(benchProject, schema.NumFields())] {
			c.data.Project = append(c.data.Project, f.Name)
		}
	}
	q, err := QuestionOf(c.data, c.where)
	var wrong *filter.Error
	if errors.As(err, &wrong) {
		err = usage.Errorf("amudai schema lists the columns", "--where: %w", err)
	}
	if err != nil {
		return err
	}
	if q.Where == "" {
		c.Notice("no column is suitable for a condition; --where gives one")
		return nil
	}
	c.data.Questions = []suite.Question{q}
	return nil
}

// show prints the table: a line per operation, with the baseline in its own unit.
func (c *comparison) show(r *measure.Result) error {
	if c.Summarizes() {
		c.Errs.Printf("\r\x1b[K")
	}
	t := terminal.NewTable().Text("")
	for _, f := range r.Runs {
		t.Numbers(f.Name)
	}
	for _, op := range append([]string{measure.OpSize}, r.Ops...) {
		line := []any{c.label(op)}
		for i, f := range r.Runs {
			cell := r.Cell(f.Name, op)
			switch {
			case i == 0 && op == measure.OpSize:
				cell = terminal.Size(f.Size)
			case i == 0 && !measure.IsShare(op) && !measure.IsPeak(op):
				cell = terminal.Duration(time.Duration(f.Median(op) * float64(time.Second)))
			}
			line = append(line, cell)
		}
		t.Row(line...)
	}
	c.Out.Printf("%s, %s, %s of Arrow data; CPU time on one core, wall-clock time of two threads; %s\n\n", terminal.Plural(r.Rows, "row"),
		terminal.Plural(c.data.Schema.NumFields(), "column"), terminal.Size(c.bytes), terminal.Plural(c.rounds, "round"))
	c.Out.Table(t, "")
	c.Out.Printf("\n%s\nproject reads %s.\n", measure.HandNote, strings.Join(c.data.Project, ", "))
	for _, q := range c.data.Questions {
		c.Out.Printf("filter and count use the condition %s: %s.\n", q.Where, terminal.Plural(q.Rows, "row"))
	}
	if c.json == "" {
		return nil
	}
	return measure.Save(c.json, []*measure.Result{r})
}

// label is the name of an operation for people.
func (c *comparison) label(op string) string {
	what := map[string]string{
		measure.OpReuse: "scan, memory reused", measure.OpProjectReuse: "project, memory reused", measure.OpOpen: "open, 1 column", measure.OpProject: "project " + terminal.Plural(len(c.data.Project), "column"),
		measure.OpFilter + QuestionName: "filter", measure.OpCount + QuestionName: "count",
	}[op]
	if op == measure.OpTake {
		q, _ := c.data.Query(op) // it is known: it was measured
		what = "take " + terminal.Plural(len(q.Take), "row")
	}
	if what == "" {
		return measure.Title(op)
	}
	return strings.Replace(measure.Title(op), op, what, 1)
}
