package change

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
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
		Short: "Copy or move a shard to another folder, store or layout",
		Long: `relocate copies a shard with all of its files. OUT is the name of the new shard, or a folder. Files that are
there already are not copied again, so that relocate goes on with what was interrupted. Within a store of a cloud, the store
copies by itself. With --layout, the data are written to one file, or to a file per stripe beside the root.

With --move, the old root is removed when the new shard is complete, and its files that no other shard in the folder refers to.
Parquet files that a shard refers to are copied if they are beside it, and are never removed.

What is copied is compared with the original: its bytes or, if the store has copied it, its size, unless --verify is given.`,
		Example: `  amudai relocate flights.amudai.shard -o archive/
  amudai relocate s3://hot/flights.amudai.shard -o s3://cold/2026/ --move
  amudai relocate flights.amudai.shard -o one.amudai.shard --layout single --dry-run`,
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
	cmd.Flags().BoolVar(&f.Move, "move", false, "remove the old shard when the new one is complete")
	cmd.Flags().BoolVar(&f.Verify, "verify", false, "read what the store has copied, and compare it")
	a.reports(cmd, &f.DryRun)
	cmd.Flags().IntVar(&f.Parallelism, "parallel", 0, "files copied at a time (default: 4)")
	return cmd
}

func (a group) runRelocate(ctx context.Context, in string, f relocateFlags) error {
	if err := files.CheckShard(in); err != nil {
		return err
	}
	out := inFolder(f.output, in)
	a.Quiet = a.Quiet || *a.json
	p := terminal.StartBytes(a.Bars())
	f.Progress = p.Set
	f.Overwrite = a.Force
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
		relocateTable(a.Out, all)
	}
	if a.Quiet {
		return nil
	}
	return relocateSummary(a.Out, all, out, f.DryRun)
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
func relocateTable(out terminal.Screen, all []shard.RelocatedFile) {
	t := terminal.NewTable().Text("file").Numbers("bytes", "referred").Text("becomes", "removed")
	for _, f := range all {
		removed := ""
		if f.Removed {
			removed = "yes"
		}
		t.Row(path.Base(f.From), f.Size, f.Referred, string(f.How), removed)
	}
	out.Table(t, "")
}

// relocateSummary is one line: what was done with how many bytes.
func relocateSummary(out terminal.Screen, all []shard.RelocatedFile, to string, dry bool) error {
	var parts []string
	for _, how := range []shard.RelocatedHow{shard.RelocatedByStore, shard.RelocatedHere, shard.RelocatedPresent, shard.RelocatedRewritten, shard.RelocatedStays} {
		if n, size := sum(all, func(f shard.RelocatedFile) bool { return f.How == how }); n > 0 {
			parts = append(parts, terminal.Count(n)+" "+string(how)+" ("+terminal.Size(size)+")")
		}
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
			"from": f.From, "to": f.To, "bytes": f.Size, "referred_bytes": f.Referred, "becomes": string(f.How), "removed": f.Removed,
		})
	}
	return a.report(dry, map[string]any{"files": list}, "")
}
