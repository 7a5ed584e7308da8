package change

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/shard"
)

func (a group) merge() *cobra.Command {
	var o shard.MergeOptions
	var ntuples rntuple.MergeOptions
	var output string
	cmd := &cobra.Command{
		Use:   "merge IN... -o OUT",
		Short: "Make one shard of several, without a copy of their data, or one ROOT file",
		Long: `merge makes a shard whose stripes are those of others, folders and patterns of them, in their order. They stay in the files where they are; only
metadata is read and written. Columns are matched by name, and are null where a shard lacks them. Deleted rows stay deleted.

A column of several types gets the smallest one that holds the values of all: int64 for int32 and int64, float64 for float32 and int32. It is written anew where that type is
stored in another way, which --dry-run tells, and loses its indexes there. Types without such a one, as int64 and float64 or numbers and text, are an error: amudai column cast
changes them.

The files must stay where they are. They lie in the folder of the new shard or below: other folders have to be allowed by AMUDAI_ALLOW, to all readers too.
amudai convert makes a shard with a copy of the values, and amudai compact writes small stripes of the merged one anew.

If OUT ends in .root, merge copies the RNTuples of ROOT files, as hadd does: those of one path become one. Pages are copied as they are, and packed anew where a field is
encoded in another way than in the first file, or if --compression says so. Fields are matched by name and have to be of the same type; one that a file lacks has zeros in its entries.
Objects that are no RNTuples are named, and left out. With --append their entries are added to those of OUT, whose objects and pages stay where they are: it is replaced once all is
written. Tables of other formats become entries by amudai convert first.`,
		Example: `  amudai merge 2026-*.amudai.shard -o 2026.amudai.shard
  amudai merge days/ -o all.amudai.shard --dry-run
  amudai merge run*.root -o runs.root
  amudai merge run8.root -o runs.root --append`,
		Args: app.Wants(1, -1, "shards, or ROOT files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usage.Errorf("-o OUT.amudai.shard", "merge needs the name of the new shard")
			}
			f, _ := formats.All().ByPath(output)
			switch f.Name {
			case formats.Blockpack:
				return usage.Errorf("amudai blockpack merge IN... OUT makes a new file of several", "merge makes shards and ROOT files, and nothing is appended to Blockpack files")
			case formats.NTuple:
				if o.Own {
					return usage.Errorf("", "--own is for shards, whose data a merge does not copy")
				}
				ntuples.DryRun = o.DryRun
				return a.mergeNTuples(cmd.Context(), args, output, ntuples)
			}
			if cmd.Flags().Changed("table") || cmd.Flags().Changed("compression") || ntuples.Append {
				return usage.Errorf("-o OUT.root", "--table, --compression and --append are for ROOT files")
			}
			return a.runMerge(cmd.Context(), args, output, o)
		},
	}
	cmd.Flags().BoolVar(&o.Own, "own", false, "in stores of clouds, have the server copy single-file shards beside themselves, so that they may be changed")
	cmd.Flags().StringVar(&ntuples.Name, "table", "", "ROOT files: merge only the RNTuple at this `path`")
	cmd.Flags().IntVar(&ntuples.Compression, "compression", 0, "ROOT files: pack pages anew that are not compressed so, by ROOT's `number`, such as 505")
	cmd.Flags().BoolVar(&ntuples.Append, "append", false, "ROOT files: add the entries to those of OUT")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the new shard to `OUT`")
	a.reports(cmd, &o.DryRun)
	return cmd
}

func (a group) runMerge(ctx context.Context, locations []string, output string, o shard.MergeOptions) error {
	if err := files.CheckOutput(output, a.Force); err != nil {
		return err
	}
	all, err := a.Opener.Inputs(ctx, locations, &formats.ReadFlags{From: "shard"})
	if err != nil {
		return err
	}
	p := terminal.Start(a.Bars(), "rows")
	o.Overwrite, o.Open.Policy, o.Progress = a.Force, a.Policy, p.Set
	for _, location := range all {
		if err := files.CheckShard(location); err != nil {
			return err
		}
	}
	r, err := shard.Merge(ctx, output, all, o)
	if err = errors.Join(err, p.End()); err != nil {
		return err
	}
	if len(r.Dropped) > 0 {
		a.Noticef("%s has no index of all of its rows: %s stays with its shard only, or goes with a column that is written anew; amudai index add makes one", output, strings.Join(r.Dropped, ", "))
	}
	if len(r.Outside) > 0 {
		a.Noticef("readers of %s have to allow %s: AMUDAI_ALLOW=%[2]s, or OpenOptions.Policy", output, strings.Join(r.Outside, ","))
	}
	did := terminal.Plural(len(all), "shard") + " → " + output + ": " + terminal.Plural(r.Stripes, "stripe") + ", " + terminal.Plural(int(r.Rows), "row")
	if len(r.Widened) > 0 {
		did += "; " + strings.Join(r.Widened, ", ") + " of several types"
	}
	switch {
	case o.DryRun && r.Read > 0:
		did += ": " + terminal.Size(r.Read) + " of data would be written anew"
	case o.DryRun:
		did += "; no data would be copied"
	case r.Read > 0:
		did += ": " + terminal.Size(r.Read) + " of data written anew, " + terminal.Size(r.Written) + " in all"
	default:
		did += ", " + terminal.Size(r.Written) + " of metadata"
	}
	return a.report(o.DryRun, map[string]any{
		"location": output, "shards": len(all), "stripes": r.Stripes, "rows": r.Rows, "written_bytes": r.Written, "dropped_indexes": list(r.Dropped),
		"widened": list(r.Widened), "read_bytes": r.Read, "outside": list(r.Outside),
	}, did)
}

// mergeNTuples merges the ntuples of ROOT files.
func (a group) mergeNTuples(ctx context.Context, locations []string, output string, o rntuple.MergeOptions) error {
	if err := files.CheckOutput(output, a.Force || o.Append); err != nil {
		return err
	}
	all, err := a.Opener.Inputs(ctx, locations, &formats.ReadFlags{From: formats.NTuple})
	if err != nil {
		return err
	}
	for _, location := range all {
		if file, name, ok := strings.Cut(location, ".root:"); ok {
			return usage.Errorf("--table "+name, "merge takes files as a whole: %s.root", file)
		}
		if location == "-" {
			return usage.Errorf("save it to a file first", "merge reads no standard input")
		}
	}
	p := terminal.Start(a.Bars(), "rows")
	o.Overwrite, o.Progress = a.Force, p.Set
	r, err := rntuple.Merge(ctx, output, all, o)
	if err = errors.Join(err, p.End()); err != nil {
		return err
	}
	if len(r.Missing) > 0 {
		a.Noticef("some files lack %s: their entries have zeros there", strings.Join(r.Missing, ", "))
	}
	if len(r.LeftOut) > 0 {
		a.Noticef("left out, as only ntuples are merged: %s", strings.Join(r.LeftOut, ", "))
	}
	to := " → "
	if o.Append {
		to = " behind "
	}
	did := terminal.Plural(len(all), "file") + to + output + ": " + terminal.Plural(len(r.NTuples), "ntuple") + ", " + terminal.Plural(int(r.Entries), "row")
	if !o.DryRun {
		did += "; " + terminal.Plural(int(r.Copied), "page") + " copied, " + terminal.Count(r.Encoded) + " packed anew"
	}
	return a.report(o.DryRun, map[string]any{
		"location": output, "files": len(all), "ntuples": list(r.NTuples), "rows": r.Entries, "copied_pages": r.Copied, "encoded_pages": r.Encoded,
		"missing": list(r.Missing), "left_out": list(r.LeftOut),
	}, did)
}
