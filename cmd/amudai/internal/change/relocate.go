package change

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

type relocateFlags struct {
	shard.RelocateOptions
	layout shard.Layout
	output string
}

func (a group) relocate() *cobra.Command {
	var f relocateFlags
	cmd := &cobra.Command{
		Use:   "relocate SHARD -o OUT",
		Short: "Copy or move a shard, or some of its columns or stripes, to another folder or store",
		Long: `relocate copies a shard with all of its files. OUT is the name of the new shard, or a folder. Files that are
there already are not copied again, so that relocate goes on with what was interrupted. Within a store of a cloud, the store
copies by itself. With --layout, the data are written to one file, or to a file per stripe beside the root.

With --move, the old root is removed when the new shard is complete, and its files that no other shard in the folder refers to.
Parquet files that a shard refers to are copied if they are beside it, and are never removed.

With --columns, --stripes or --where, the shard stays, and the data of these go to the folder OUT, to which the new root refers: cold stripes or wide columns to cheaper
disks or stores, and back. --where means stripes all of whose rows meet a condition. Metadata and indexes stay with the root. Unless OUT is in the
folder of the shard, commands read what is there only if AMUDAI_ALLOW names OUT.

What is copied is compared with the original: its bytes or, if the store has copied it, its size, unless --verify is given.`,
		Example: `  amudai relocate flights.amudai.shard -o archive/
  amudai relocate s3://hot/flights.amudai.shard -o s3://cold/2026/ --move
  amudai relocate flights.amudai.shard -o one.amudai.shard --layout single --dry-run
  amudai relocate logs.amudai.shard --columns message -o s3://cold/logs/ --move
  amudai relocate logs.amudai.shard --where "time < '2025-01-01'" -o cold --dry-run`,
		Args: app.Wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.output == "" {
				return usage.Errorf("-o OUT.amudai.shard", "relocate needs the name of the new shard, or a folder")
			}
			if cmd.Flags().Changed("layout") {
				f.Layout = &f.layout
			}
			return a.runRelocate(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "the new shard, or a folder: `OUT`")
	usage.Parsed(cmd, &f.layout, "layout", "", "single (one file) or two-level (one file per stripe beside the root); by default that of the shard", formats.Layout)
	usage.Complete(cmd, "layout", "single", "two-level")
	cmd.Flags().StringSliceVar(&f.Columns, "columns", nil, "`COLUMNS` whose data go to the folder OUT, separated by commas")
	usage.Parsed(cmd, &f.Stripes, "stripes", "", "numbers of the stripes whose data go to the folder OUT, from 0: 3,7 or 0-3", stripesOf)
	usage.Parsed(cmd, &f.Where, "where", "", "stripes, all of whose rows match a condition, go to the folder OUT", formats.Condition)
	cmd.Flags().BoolVar(&f.Move, "move", false, "remove the old shard, or the old files, when the new ones are complete")
	cmd.Flags().BoolVar(&f.Verify, "verify", false, "read what the store has copied, and compare it")
	a.reports(cmd, &f.DryRun)
	cmd.Flags().IntVar(&f.Parallelism, "parallel", 0, "files copied at a time (default: 4)")
	return cmd
}

func (a group) runRelocate(ctx context.Context, in string, f relocateFlags) error {
	if err := files.CheckShard(in); err != nil {
		return err
	}
	out, parts := f.output, f.Columns != nil || f.Stripes != nil || !f.Where.IsZero()
	if !parts {
		out = inFolder(out, in)
	}
	a.Quiet = a.Quiet || *a.json
	p := terminal.Start(a.Bars(), "bytes")
	f.Progress = p.Set
	f.Overwrite, f.Open.Policy = a.Force, a.Policy
	all, err := shard.Relocate(ctx, in, out, f.RelocateOptions)
	if err = errors.Join(err, p.End()); err != nil {
		if len(all) == 0 {
			return inputs.Missing(in, err)
		}
		return files.CreateError(out, err)
	}
	if *a.json {
		return relocateJSON(a, all, f.DryRun)
	}
	if f.DryRun {
		relocateTable(a.Out, all, parts)
	}
	if a.Quiet {
		return nil
	}
	if err := relocateSummary(a.Out, all, out, f.DryRun); err != nil || !parts {
		return err
	}
	return a.needs(in, all)
}

// inFolder is the location of a shard in a folder, if the output is one.
func inFolder(output, in string) string {
	if strings.HasSuffix(output, "/") {
		return output + path.Base(filepath.ToSlash(in))
	}
	if info, err := os.Stat(output); err == nil && info.IsDir() && !inputs.IsURL(output) {
		return filepath.Join(output, path.Base(filepath.ToSlash(in)))
	}
	return output
}

// relocateTable lists files by their names, the root first.
func relocateTable(out terminal.Screen, all []shard.RelocatedFile, parts bool) {
	t := terminal.NewTable().Text("file").Numbers("bytes", "referred")
	if parts {
		t.Numbers("moved")
	}
	t.Text("becomes", "removed")
	for _, f := range all {
		row := []any{path.Base(f.From), f.Size, f.Referred}
		if parts {
			row = append(row, f.Moved)
		}
		removed := ""
		if f.Removed {
			removed = "yes"
		}
		t.Row(append(row, string(f.How), removed)...)
	}
	out.Table(t, "")
}

// relocateSummary is one line: what was done with how many bytes.
func relocateSummary(out terminal.Screen, all []shard.RelocatedFile, to string, dry bool) error {
	var parts []string
	for _, how := range []shard.RelocatedHow{shard.RelocatedByStore, shard.RelocatedHere, shard.RelocatedPresent, shard.RelocatedRewritten, shard.RelocatedStays, shard.RelocatedLeftOut} {
		if n, size := sum(all, func(f shard.RelocatedFile) bool { return f.How == how }); n > 0 {
			parts = append(parts, terminal.Count(n)+" "+string(how)+" ("+terminal.Size(size)+")")
		}
	}
	moved := int64(0)
	for _, f := range all {
		moved += f.Moved
	}
	if moved > 0 {
		parts = append(parts, terminal.Size(moved)+" of data moved")
	}
	if n, size := sum(all, func(f shard.RelocatedFile) bool { return f.Removed }); n > 0 {
		parts = append(parts, terminal.Count(n)+" removed ("+terminal.Size(size)+")")
	}
	would := ""
	if dry {
		would = "; nothing is done yet"
	}
	return out.Printf("%s → %s: %s%s\n", terminal.Plural(len(all), "file"), storage.Redact(to), strings.Join(parts, ", "), would)
}

// needs says what readers of a shard with files in other folders have to allow.
func (a group) needs(in string, all []shard.RelocatedFile) error {
	own, err := storage.URL(in)
	if err != nil {
		return err
	}
	folders := map[string]bool{}
	for _, f := range all {
		if folder := f.To[:strings.LastIndexByte(f.To, '/')+1]; !strings.HasPrefix(folder, own[:strings.LastIndexByte(own, '/')+1]) {
			folders[folder] = true
		}
	}
	if len(folders) == 0 {
		return nil
	}
	return a.Out.Printf("readers have to allow %s: AMUDAI_ALLOW=%[1]s, or OpenOptions.Policy\n", strings.Join(slices.Sorted(maps.Keys(folders)), ","))
}

func sum(all []shard.RelocatedFile, is func(shard.RelocatedFile) bool) (n int, size int64) {
	for _, f := range all {
		if is(f) {
			n, size = n+1, size+f.Size
		}
	}
	return n, size
}

func relocateJSON(a group, all []shard.RelocatedFile, dry bool) error {
	list := []map[string]any{}
	for _, f := range all {
		list = append(list, map[string]any{
			"from": f.From, "to": f.To, "bytes": f.Size, "referred_bytes": f.Referred, "moved_bytes": f.Moved, "becomes": string(f.How), "removed": f.Removed,
		})
	}
	return a.report(dry, map[string]any{"files": list}, "")
}
