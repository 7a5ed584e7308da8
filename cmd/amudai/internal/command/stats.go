package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/inspect"
	"github.com/amudai/amudai-go/cmd/amudai/internal/profile"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	engine "github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// statsFlags are the flags of stats.
type statsFlags struct {
	formats.TableFlags
	details, json, profile, force bool
	plot, html                    string
}

func (a *app) stats() *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "stats IN...",
		Short: "Show statistics of the columns, or describe their values",
		Long: `stats shows for each column of a table its type, nulls, distinct values, least and greatest value, and
bytes. Several inputs, folders and patterns are one table. ≈ marks estimates.

--profile describes the values: mean, deviation, quantiles, frequent values, lengths, a histogram in a line, and what is
odd about a column, with the flag or command that acts on it. --plot shows one column larger, and --html writes a page
for browsers. Rows are read once, in bounded memory.

Of one whole shard, stats shows what the shard records, without reading values: also bits per value, encodings, and the share of
the file; all of it with --details. Of one whole RNTuple or Blockpack file it shows the sizes of columns.`,
		Example: `  amudai stats flights.csv
  amudai stats flights.csv --profile --columns origin,delay
  amudai stats 'logs/*.parquet' --where "level = 'ERROR'" --plot time
  amudai stats flights.amudai.shard --html flights.html`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runStats(cmd.Context(), cmd.Flags(), args, &f) },
	}
	f.Register(cmd, -1)
	_ = cmd.Flags().MarkHidden("strings") // of no effect here
	cmd.Flags().BoolVarP(&f.profile, "profile", "p", false, "describe the values, and what is odd about them")
	cmd.Flags().StringVar(&f.plot, "plot", "", "plot the values of this column")
	cmd.Flags().StringVar(&f.html, "html", "", "write the profile as a page of HTML to this file")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the file of --html")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.details, "details", false, "shard: all statistics that it records, one per line")
	return cmd
}

// recordedOnly reports whether flags ask for what a file records, if it records that.
func recordedOnly(flags *pflag.FlagSet) bool {
	only := true
	flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "columns", "json", "details":
		default:
			only = false
		}
	})
	return only
}

func (a *app) runStats(ctx context.Context, flags *pflag.FlagSet, args []string, f *statsFlags) error {
	if len(args) == 1 && recordedOnly(flags) {
		done, err := a.recordedStats(ctx, args[0], f)
		if done || err != nil {
			return err
		}
	}
	switch {
	case f.details:
		return usage.Errorf("leave it out", "--details is only for one whole shard")
	case f.force && f.html == "":
		return usage.Errorf("", "--force is only for --html")
	case f.plot != "" && (f.profile || f.html != "" || f.json):
		return usage.Errorf("", "--plot shows a column instead of a profile: leave out --profile, --html and --json")
	}
	if f.html != "" {
		if err := files.CheckOutput(f.html, f.force); err != nil {
			return err
		}
	}
	return a.computeStats(ctx, args, f)
}

// recordedStats shows what a shard, or another file of a format that tells its structure, records. done is false for
// other formats.
func (a *app) recordedStats(ctx context.Context, location string, f *statsFlags) (done bool, err error) {
	if location == "-" {
		return false, nil
	}
	noShard := func(t provider.Format) bool { return t.Name != formats.Shard }
	other, err := a.opener.Describe(ctx, location, noShard, func(in provider.Input, format provider.Format) error {
		if done = canInspect(format); !done {
			return nil
		}
		return a.outline(ctx, in, format, f.json, provider.InspectOptions{Columns: f.Read.Columns, Stats: true})
	})
	if other || err != nil {
		return done, err
	}
	return true, a.withShard(ctx, location, func(s *shard.Shard) error {
		list, err := s.Summaries(ctx, shard.InspectOptions{Columns: f.Read.Columns})
		switch {
		case err != nil:
			return err
		case f.json:
			return terminal.JSON(a.out.Out, list)
		case f.details:
			return inspect.SummaryDetails(a.out, list)
		}
		info, err := s.Inspect(ctx, shard.InspectOptions{})
		if err != nil {
			return err
		}
		return inspect.Summaries(a.out, info.Rows, info.Bytes, list)
	})
}

// computeStats reads the rows, and shows what was asked for.
func (a *app) computeStats(ctx context.Context, args []string, f *statsFlags) error {
	var columns []string
	if f.plot != "" {
		if columns = []string{f.plot}; f.Read.Columns != nil {
			return usage.Errorf("", "--plot chooses the column: leave out --columns")
		}
	}
	p, csv, err := a.profileOf(ctx, args, f, columns)
	if err != nil {
		return err
	}
	r := &profile.Report{Name: redactAll(args), Profile: p, CSV: csv, Bytes: profile.Bytes{Estimated: true}}
	if p.Rows > 0 && !f.selects() {
		if r.Bytes, err = a.storedBytes(ctx, args, f.Read.From, p); err != nil {
			return err
		}
	}
	o := profile.Options{ASCII: a.Getenv("TERM") == "dumb"}
	if f.html != "" {
		if err := a.writePage(ctx, f, r); err != nil {
			return err
		}
	}
	switch {
	case f.json:
		return profile.JSON(a.out.Out, r)
	case f.plot != "":
		return profile.Plot(a.out, r, f.plot, o)
	case f.profile:
		return profile.Blocks(a.out, r, o)
	case f.html != "":
		return nil
	}
	return profile.Summary(a.out, r)
}

// selects reports whether the flags choose some of the rows.
func (f *statsFlags) selects() bool { return f.Rows.Selects() }

// profileOf reads all rows. csv reports whether the first input is CSV.
func (a *app) profileOf(ctx context.Context, args []string, f *statsFlags, columns []string) (p *engine.Profile, csv bool, err error) {
	src, err := a.opener.Tables(ctx, args, &f.TableFlags, table.ScanOptions{Columns: columns, Dictionaries: false, Reuse: true})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	n, known := src.Rows()
	progress := terminal.StartRows(a.bars(false), n, known)
	defer progress.End()
	profiler := engine.New(src.Schema(), engine.Options{})
	for {
		b, err := src.Next(ctx)
		if err != nil {
			return nil, false, err
		}
		if b == nil {
			break
		}
		err = profiler.Add(ctx, b)
		n, known := src.Rows()
		progress.Add(b.NumRows(), n, known)
		b.Release()
		if err != nil {
			return nil, false, err
		}
	}
	return profiler.Result(), a.isCSV(args[0], f.Read.From), nil
}

func (a *app) isCSV(location, from string) bool {
	if from == "" {
		format, _ := formats.All().ByPath(strings.TrimSuffix(strings.TrimSuffix(location, ".gz"), ".zst"))
		from = format.Name
	}
	return from == "csv" || from == "tsv"
}

// writePage writes the page of HTML.
func (a *app) writePage(ctx context.Context, f *statsFlags, r *profile.Report) error {
	page := profile.HTML(r)
	out, err := files.Create(ctx, f.html, f.force, a.Stdout)
	if err != nil {
		return err
	}
	if err := out.Write(ctx, page); err != nil {
		return errors.Join(err, out.Abort(context.WithoutCancel(ctx)))
	}
	if err := out.Publish(ctx); err != nil {
		return errors.Join(err, out.Abort(context.WithoutCancel(ctx)))
	}
	if f.html != "-" {
		a.notice(fmt.Sprintf("the profile of %s is in %s", terminal.Plural(r.Profile.Rows, "row"), f.html))
	}
	return nil
}
