package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/measure"
	"github.com/amudai/amudai-go/parquet"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/tabular"
)

const (
	benchTake    = 1000 // rows that are looked up
	benchProject = 2    // columns of a projection unless they are named
)

type benchFlags struct {
	read    readFlags
	write   writeFlags
	rounds  int
	limit   int64
	memory  string
	json    string
	columns []string
}

func (a *app) bench() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench FILE",
		Short: "Compare a shard of a table with Parquet",
		Long: `bench reads a table of any format into memory, writes it as Parquet (zstd) and as a shard into a
temporary folder, and compares size, writing, scanning, reading some columns, and looking up 1,000
random rows (opening the file included). Times are CPU time on one core, medians of --rounds.
--json FILE writes all rounds to a file, which "go run ./bench -compare OLD NEW" compares with another one.`,
		Example: `  amudai bench flights.parquet --project origin,delay
  amudai bench trips.csv --edition 2026 --profile high-compression`,
		Args: wants(1, 1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runBench(cmd.Context(), args[0], f) },
	}
	f.read.register(cmd, true)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.columns, "project", nil, "columns of the projection (default: the first two)")
	flags.IntVar(&f.rounds, "rounds", 5, "rounds to take the median of")
	flags.Int64VarP(&f.limit, "limit", "n", -1, "rows to use at most")
	flags.StringVar(&f.memory, "memory", "2GiB", "Arrow data to hold at most; what does not fit is left out")
	flags.StringVar(&f.json, "json", "", "write the figures to this file, too")
	f.write.registerCoding(cmd)
	return cmd
}

func (a *app) runBench(ctx context.Context, location string, f benchFlags) (err error) {
	o, err := f.read.options(a)
	if err != nil {
		return err
	}
	most, err := parseSize(f.memory)
	if err != nil {
		return usagef("", "--memory: %w", err)
	}
	if f.rounds < 1 {
		return usagef("", "--rounds %d: use a number above 0", f.rounds)
	}
	c := comparison{app: a, benchFlags: f, result: measure.Result{Set: filepath.Base(location)}}
	if c.options, err = f.write.coding(); err != nil {
		return err
	}
	c.options.Overwrite = true
	defer c.release()
	if err := c.load(ctx, location, o, most); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "amudai-bench-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c.paths = [2]string{filepath.Join(dir, "table.parquet"), filepath.Join(dir, "table.amudai.shard")}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	return c.run(ctx)
}

// comparison is a table in memory and how it fares as Parquet and as a shard.
type comparison struct {
	*app
	benchFlags
	options shard.WriterOptions
	schema  *arrow.Schema
	batches []arrow.RecordBatch
	rows    int64
	bytes   int64
	paths   [2]string // the Parquet file, the shard
	take    []int64
	result  measure.Result
}

func (c *comparison) release() {
	for _, b := range c.batches {
		b.Release()
	}
}

// load reads rows until there are enough.
func (c *comparison) load(ctx context.Context, location string, o tabular.ReadOptions, most int64) error {
	src, err := c.openSource(ctx, location, c.read.from, o)
	if err != nil {
		return err
	}
	defer src.Close()
	c.schema = src.Schema()
	for c.limit < 0 || c.rows < c.limit {
		b, err := src.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if c.limit >= 0 && b.NumRows() > c.limit-c.rows {
			whole := b
			b = whole.NewSlice(0, c.limit-c.rows)
			whole.Release()
		}
		c.batches = append(c.batches, b)
		c.rows += b.NumRows()
		for _, col := range b.Columns() {
			c.bytes += int64(col.Data().SizeInBytes())
		}
		if c.bytes > most {
			c.noticef("only the first %s are used, --memory holds no more", plural(c.rows, "row"))
			return nil
		}
	}
	return nil
}

// run measures, one format after the other in each round of each operation, and
// prints the table.
func (c *comparison) run(ctx context.Context) error {
	if c.rows == 0 {
		return errors.New("the table has no rows")
	}
	for _, name := range c.columns {
		if !c.schema.HasField(name) {
			return withHint(fmt.Errorf("there is no column %q", name), "amudai schema lists the columns")
		}
	}
	if c.columns == nil {
		for _, f := range c.schema.Fields()[:min(benchProject, c.schema.NumFields())] {
			c.columns = append(c.columns, f.Name)
		}
	}
	c.take = randomRows(c.rows)
	for _, name := range []string{"parquet zstd", fmt.Sprintf("amudai %s %s", c.options.Edition, c.options.Profile)} {
		c.result.Runs = append(c.result.Runs, &measure.Figures{Name: name, Values: map[string][]float64{}})
	}
	g := newGrid("", ">Parquet (zstd)", ">Amudai shard", ">ratio", ">from", ">to")
	ops := []struct {
		name string
		run  func(ctx context.Context, i int) error
	}{
		{"write", c.writeTo},
		{"scan", func(ctx context.Context, i int) error { return c.scan(ctx, i, nil) }},
		{"open, 1 column", func(ctx context.Context, i int) error { return c.scan(ctx, i, c.columns[:min(1, len(c.columns))]) }},
		{"project " + plural(len(c.columns), "column"), func(ctx context.Context, i int) error { return c.scan(ctx, i, c.columns) }},
		{"take " + plural(len(c.take), "row"), c.takeFrom},
	}
	for _, op := range ops {
		if err := c.measure(ctx, g, op.name, op.run); err != nil {
			return err
		}
	}
	return c.show(g)
}

// measure adds the line of an operation to the table.
func (c *comparison) measure(ctx context.Context, g *grid, op string, run func(ctx context.Context, i int) error) error {
	var values [2][]float64
	for range c.rounds {
		for i := range values {
			took, err := measure.Time(func() error { return run(ctx, i) })
			if err != nil {
				return fmt.Errorf("%s, %s: %w", op, filepath.Base(c.paths[i]), err)
			}
			values[i] = append(values[i], took)
		}
	}
	c.result.Ops = append(c.result.Ops, op)
	for i, f := range c.result.Runs {
		f.Values[op] = values[i]
	}
	line := []string{op, cpuTime(values[0]), cpuTime(values[1]), "", "", ""}
	if r := measure.Ratios(values[1], values[0]); len(r) > 0 { // none if the clock is too coarse
		line = append(line[:3], ratio(measure.Median(r), 1), ratio(slices.Min(r), 1), ratio(slices.Max(r), 1))
	}
	g.add(line...)
	return nil
}

// show prints the table, sizes first.
func (c *comparison) show(g *grid) error {
	var sizes [2]int64
	for i, path := range c.paths {
		var err error
		if sizes[i], err = fileSize(path); err != nil {
			return err
		}
		c.result.Runs[i].Size = sizes[i]
	}
	g.rows = append([][]string{{"size", size(sizes[0]), size(sizes[1]), ratio(float64(sizes[1]), float64(sizes[0])), "", ""}}, g.rows...)
	fmt.Fprintf(c.Stdout, "%s, %s, %s of Arrow data; edition %s, profile %s; CPU time on one core, %s\n\n", plural(c.rows, "row"),
		plural(c.schema.NumFields(), "column"), size(c.bytes), c.options.Edition, c.options.Profile, plural(c.rounds, "round"))
	if err := c.print(c.Stdout, g); err != nil || c.json == "" {
		return err
	}
	c.result.Rows = c.rows
	return measure.Save(c.json, []*measure.Result{&c.result})
}

func cpuTime(values []float64) string {
	return duration(time.Duration(measure.Median(values) * float64(time.Second)))
}

// randomRows are different rows in ascending order, the same in every run.
func randomRows(n int64) []int64 {
	rnd := rand.New(rand.NewPCG(1000, 7))
	var rows []int64
	for range min(benchTake, n) {
		rows = append(rows, rnd.Int64N(n))
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// writeTo writes the Parquet file (0) or the shard (1).
func (c *comparison) writeTo(ctx context.Context, i int) error {
	var sink tabular.Sink
	var err error
	if i == 0 {
		sink, err = c.createSink(ctx, c.paths[0], parquet.Format, c.schema, true, tabular.WriteOptions{})
	} else {
		sink, err = c.createShard(ctx, c.paths[1], c.schema, c.options)
	}
	return writeAll(ctx, sink, err, c.batches)
}

func (c *comparison) scan(ctx context.Context, i int, columns []string) error {
	return c.readAll(ctx, c.paths[i], columns, c.rows, nil)
}

// takeFrom looks up rows. arrow-go reads all of a Parquet file for that: seeking
// takes it longer.
func (c *comparison) takeFrom(ctx context.Context, i int) error {
	got := int64(0)
	if i == 1 {
		s, err := shard.Open(ctx, c.paths[1], shard.OpenOptions{})
		if err != nil {
			return err
		}
		defer s.Close()
		b, err := s.Take(ctx, c.take, shard.TakeOptions{})
		if err != nil {
			return err
		}
		got = b.NumRows()
		b.Release()
	} else {
		rest := c.take
		if err := c.readAll(ctx, c.paths[0], nil, c.rows, func(b arrow.RecordBatch, first int64) error {
			for ; len(rest) > 0 && rest[0] < first+b.NumRows(); rest = rest[1:] {
				row := b.NewSlice(rest[0]-first, rest[0]-first+1)
				got += row.NumRows()
				row.Release()
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if got != int64(len(c.take)) {
		return fmt.Errorf("%d rows were found of %d", got, len(c.take))
	}
	return nil
}
