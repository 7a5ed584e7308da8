// Package rows has the commands that print rows of tables, or answers of rows to questions about them.
package rows

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command {
	g := group{a}
	return []func() *cobra.Command{g.cat, g.head, g.tail, g.sample, g.take, g.count, g.scan, g.agg, g.top, g.sort, g.distinct, g.sql}
}

// flags are the flags of commands that print rows.
type flags struct {
	formats.TableFlags
	app.PrintFlags
}

// ask makes a question about a table.
type ask func(u *formats.Union) (table.Query, error)

// prints makes cmd print the answer to a question about one or more tables. byDefault is the default format; "" is one that suits the
// output.
func (g group) prints(cmd *cobra.Command, f *flags, byDefault string, q ask) *cobra.Command {
	described := cmp.Or(byDefault, "table on a terminal, else csv")
	f.PrintFlags.Register(cmd, described)
	if cmd.Args == nil {
		cmd.Args = app.Wants(1, -1, "one or more tables")
	}
	if cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return g.print(cmd.Context(), args, f, byDefault, q) }
	}
	return cmd
}

func (g group) print(ctx context.Context, locations []string, f *flags, byDefault string, q ask) error {
	src, create, err := g.answer(ctx, locations, f, byDefault, q)
	if err != nil {
		return err
	}
	return app.PrintRows(ctx, src, create)
}

// answer is the answer to a question, and what makes the sink that its rows are printed to.
func (g group) answer(ctx context.Context, locations []string, f *flags, byDefault string, q ask) (provider.Source, app.CreateSink, error) {
	create, format, err := g.Printer(&f.PrintFlags, byDefault)
	if err != nil {
		return nil, nil, err
	}
	u, err := g.Opener.Union(ctx, locations, &f.TableFlags)
	if err != nil {
		return nil, nil, err
	}
	query, err := q(u)
	if err != nil {
		return nil, nil, errors.Join(err, u.Close())
	}
	if scan, ok := query.(table.ScanOptions); ok {
		scan.Reuse = !format.KeepsBatches
		query = scan
	}
	src, err := u.Source(ctx, query)
	if err != nil {
		return nil, nil, app.Flagged(err)
	}
	if f.Rows.Limit == 0 {
		src = none{src}
	}
	return src, create, nil
}

// none is a source without its rows: no rows have aggregates, too.
type none struct{ provider.Source }

// Next implements [provider.Source].
func (none) Next(context.Context) (arrow.RecordBatch, error) { return nil, nil }

// scan asks for the rows that the flags choose.
func scan(u *formats.Union) (table.Query, error) { return u.Scan, nil }

func (g group) cat() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "cat IN...",
		Short: "Print the rows of tables",
		Long: `cat prints the rows of tables in any format: as a table on a terminal, as CSV into a pipe, or as
--format says (table, md, csv, tsv, json, jsonl, parquet, arrow, arrows), to stdout or a file (--output).
Several inputs, folders and patterns are one table: columns are united by name, with types that hold the
values of all inputs, and are null where an input lacks them. In a table, null is shown as ` + app.NullText + `,
and long values are cut on a terminal.`,
		Example: `  amudai cat flights.amudai.shard --columns date,delay --limit 100
  amudai cat jan.csv feb.parquet more/ --where 'delay > 300' --output late.jsonl.gz
  amudai cat flights.amudai.shard --rows 1000:2000 --format jsonl | jq .delay`,
	}
	f.TableFlags.Register(cmd, -1)
	return g.prints(cmd, &f, "", scan)
}

func (g group) head() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "head IN...",
		Short: "Print the first rows of tables",
		Long:  `head prints the first ten rows, or --limit rows, of tables in any format, as one table.`,
		Example: `  amudai head flights.amudai.shard
  amudai head data.csv.gz -n 3 --format md`,
	}
	f.TableFlags.Register(cmd, 10)
	return g.prints(cmd, &f, app.TableFormat, scan)
}

func (g group) tail() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "tail IN...",
		Short: "Print the last rows of tables",
		Long: `tail prints the last ten rows, or --limit rows, of tables in any format, as one table. Formats that record
their number of rows, such as shards and Parquet, are read from there on; others are read from the beginning, and the
last rows are kept.`,
		Example: `  amudai tail flights.amudai.shard --columns date,delay
  amudai tail 'logs/*.jsonl' --where "level = 'ERROR'" -n 3`,
	}
	f.TableFlags.Register(cmd, 10)
	return g.prints(cmd, &f, app.TableFormat, func(u *formats.Union) (table.Query, error) {
		u.Scan.Limit = 0 // it is about the end
		if f.Rows.Limit < 0 {
			return u.Scan, nil
		}
		return table.TailOptions{Columns: u.Scan.Columns, Filter: u.Scan.Filter, Rows: u.Scan.Rows, N: f.Rows.Limit}, nil
	})
}

func (g group) sample() *cobra.Command {
	var f flags
	seed, n := uint64(0), int64(0)
	cmd := &cobra.Command{
		Use:   "sample N IN...",
		Short: "Print random rows of tables",
		Long: `sample prints N random rows of tables in any format, as one table, in their order. All rows have the same
chance. With --where they are chosen among the rows that match. Equal seeds draw equal rows of equal inputs; without
--seed, a notice tells the seed. Of formats that record their number of rows, such as shards and Parquet, only what
holds the chosen rows is read; others are read as a whole.`,
		Example: `  amudai sample 20 flights.amudai.shard --columns date,origin,delay
  amudai sample 1000 'logs/*.csv' --seed 7 --output some.parquet`,
		Args: app.WantsFirst("a number of rows, then one or more tables", "the number of rows comes first", "there is nothing to draw from"),
	}
	draw := func(u *formats.Union) (table.Query, error) {
		if !cmd.Flags().Changed("seed") {
			seed = rand.Uint64N(1_000_000)
			g.Noticef("--seed %d draws the same rows again", seed)
		}
		return table.SampleOptions{ScanOptions: u.Scan, N: n, Seed: seed}, nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if n, err = strconv.ParseInt(args[0], 10, 64); err != nil || n < 0 {
			return usage.Errorf("the number of rows comes first: amudai sample 20 "+args[0], "%q is not a number of rows", args[0])
		}
		return g.print(cmd.Context(), args[1:], &f, "", draw)
	}
	f.TableFlags.Register(cmd, -1)
	cmd.Flags().Uint64Var(&seed, "seed", 0, "draw the same rows as before with this seed (default: another one each time)")
	return g.prints(cmd, &f, "", draw)
}
