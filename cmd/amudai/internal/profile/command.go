package profile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/inspect"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	engine "github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// statsFlags are the flags of stats.
type statsFlags struct {
	formats.TableFlags
	details, json, profile bool
	plot, html             string
}

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command { return []func() *cobra.Command{group{a}.stats} }

func (a group) stats() *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "stats IN...",
		Short: "Show statistics of the columns, or describe their values",
		Long: `stats shows for each column of a table its type, nulls, distinct values, least and greatest value, and
bytes. Several inputs, folders and patterns are one table. ≈ marks estimates.

--profile describes the values: mean, deviation, quantiles, frequent values, lengths, a histogram in a line, and what is
odd about a column, with the flag or command that acts on it. --plot shows one column larger, and --html writes a page
for browsers. Rows are read once, in bounded memory.

Of one whole shard without deleted rows, stats shows what the shard records, without reading values: also bits per value, encodings,
and the share of the file. Of one whole RNTuple or Blockpack file it shows the sizes of columns. --details shows all that is recorded.`,
		Example: `  amudai stats flights.csv
  amudai stats flights.csv --profile --columns origin,delay
  amudai stats 'logs/*.parquet' --where "level = 'ERROR'" --plot time
  amudai stats flights.amudai.shard --html flights.html`,
		Args: app.Wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runStats(cmd.Context(), cmd.Flags(), args, &f) },
	}
	f.Register(cmd, -1)
	_ = cmd.Flags().MarkHidden("strings") // of no effect here
	cmd.Flags().BoolVarP(&f.profile, "profile", "p", false, "describe the values, and what is odd about them")
	cmd.Flags().StringVar(&f.plot, "plot", "", "plot the values of this column")
	cmd.Flags().StringVar(&f.html, "html", "", "write the profile as a page of HTML to `OUT`")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.details, "details", false, "all that a file records of each column, one per line")
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

func (a group) runStats(ctx context.Context, flags *pflag.FlagSet, args []string, f *statsFlags) error {
	if len(args) == 1 && recordedOnly(flags) {
		done, err := a.recordedStats(ctx, args[0], f)
		if done || err != nil {
			return err
		}
	}
	switch {
	case f.details:
		return usage.Errorf("leave it out", "--details is only for one whole file that records sizes")
	case a.Force && f.html == "":
		return usage.Errorf("", "--force is only for --html")
	case f.plot != "" && (f.profile || f.html != "" || f.json):
		return usage.Errorf("", "--plot shows a column instead of a profile: leave out --profile, --html and --json")
	}
	if f.html != "" {
		if err := files.CheckOutput(f.html, a.Force); err != nil {
			return err
		}
	}
	return a.computeStats(ctx, args, f)
}

// recordedStats shows what a file of a format that tells its structure records. done is false for other formats.
func (a group) recordedStats(ctx context.Context, location string, f *statsFlags) (done bool, err error) {
	if format, known := formats.All().ByPath(location); known && format.Inspect == nil {
		return false, nil // without a request to a store
	}
	o := provider.InspectOptions{Columns: f.Read.Columns, Stats: true}
	if f.details || f.json {
		o.Detail = 1
	}
	err = inspect.Tell(ctx, a.Opener, location, o, func(out *provider.Outline) error {
		switch {
		case !f.details && out.Fact("deleted rows") != nil: // whose values count in what is recorded
			return inspect.ErrUntold
		case f.json:
			return inspect.OutlineJSON(a.Out, storage.Redact(location), out)
		case f.details:
			inspect.Details(a.Out, out)
			return nil
		}
		return inspect.Outline(ctx, a.Out, out, "--details shows all")
	})
	if errors.Is(err, inspect.ErrUntold) {
		return false, nil
	}
	return true, err
}

// computeStats reads the rows, and shows what was asked for.
func (a group) computeStats(ctx context.Context, args []string, f *statsFlags) error {
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
	r := &Report{Name: app.RedactAll(args), Profile: p, CSV: csv, Bytes: Bytes{Estimated: true}}
	if p.Rows > 0 && !f.Rows.Selects() {
		if r.Bytes, err = a.storedBytes(ctx, args, f.Read.From, p); err != nil {
			return err
		}
	}
	ascii := a.Getenv("TERM") == "dumb"
	if f.html != "" {
		if err := a.writePage(ctx, f, r); err != nil {
			return err
		}
	}
	switch {
	case f.json:
		return JSON(a.Out.Out, r)
	case f.plot != "":
		return Plot(a.Out, r, f.plot, ascii)
	case f.profile:
		printBlocks(a.Out, r, ascii)
	case f.html == "":
		printSummary(a.Out, r)
	}
	return nil
}

// profileOf reads all rows. csv reports whether the first input is CSV.
func (a group) profileOf(ctx context.Context, args []string, f *statsFlags, columns []string) (p *engine.Profile, csv bool, err error) {
	src, err := a.Opener.Tables(ctx, args, &f.TableFlags, table.ScanOptions{Columns: columns, Dictionaries: false, Reuse: true})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	progress := terminal.Start(a.Bars(), "rows")
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

func (a group) isCSV(location, from string) bool {
	if from == "" {
		format, _ := formats.All().ByPath(strings.TrimSuffix(strings.TrimSuffix(location, ".gz"), ".zst"))
		from = format.Name
	}
	return from == "csv" || from == "tsv"
}

// writePage writes the page of HTML.
func (a group) writePage(ctx context.Context, f *statsFlags, r *Report) error {
	page := HTML(r)
	out, err := files.Create(ctx, f.html, a.Force, a.Stdout)
	if err != nil {
		return err
	}
	if err = out.Write(ctx, page); err == nil {
		err = out.Publish(ctx)
	}
	if err != nil {
		return errors.Join(err, out.Abort(context.WithoutCancel(ctx)))
	}
	if f.html != "-" {
		a.Notice(fmt.Sprintf("the profile of %s is in %s", terminal.Plural(r.Profile.Rows, "row"), f.html))
	}
	return nil
}
