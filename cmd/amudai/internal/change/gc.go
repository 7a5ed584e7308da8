package change

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

type gcFlags struct {
	shard.CollectOptions
	dry bool
}

func (a group) gc() *cobra.Command {
	var f gcFlags
	cmd := &cobra.Command{
		Use:   "gc DIR",
		Short: "Remove files of shards that no root refers to",
		Long: `gc finds the files in a folder, and in the folders in it, that writers of shards have made and no root there refers to:
those of shards that were changed, replaced or removed, and of writers that failed or were killed. It only lists them, unless
--yes is given.

All roots are read completely. If one cannot be read, or a writer is at work, nothing is removed. Files that are younger than
--older-than stay, because a writer publishes its root last: it must be longer than any writer takes. Name with --roots all other
folders whose shards refer to files in the folder. Readers that opened a shard before it was changed may still need its old files.`,
		Example: `  amudai gc shards/
  amudai gc s3://bucket/shards/ --older-than 72h --yes`,
		Args: app.Wants(1, 1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.dry && f.Remove:
				return usage.Errorf("leave one of them out", "--dry-run removes nothing, --yes does")
			case f.OlderThan < 0:
				return usage.Errorf("", "--older-than needs an age, such as 24h")
			}
			return a.runGC(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().StringArrayVar(&f.Roots, "roots", nil, "another `DIR` whose shards may refer to the files")
	cmd.Flags().DurationVar(&f.OlderThan, "older-than", 24*time.Hour, "keep younger files")
	cmd.Flags().BoolVar(&f.Remove, "yes", false, "remove the files")
	a.reports(cmd, &f.dry)
	return cmd
}

func (a group) runGC(ctx context.Context, folder string, f gcFlags) error {
	if info, err := os.Stat(folder); !inputs.IsURL(folder) && (err != nil || !info.IsDir()) {
		return inputs.Missing(folder, cmp.Or(err, errors.New(folder+" is not a folder")))
	}
	a.Quiet = a.Quiet || *a.json
	p := terminal.Start(a.Bars(), "files")
	f.Progress, f.Policy = p.Set, a.Policy
	f.OlderThan = max(f.OlderThan, 1) // 0 stands for the default
	c, err := shard.Collect(ctx, folder, f.CollectOptions)
	if err = errors.Join(err, p.End()); err != nil {
		return inputs.Missing(folder, err)
	}
	if *a.json {
		return a.report(!f.Remove, map[string]any{
			"roots": list(c.Roots), "needed": gcFiles(c.Needed), "young": gcFiles(c.Young), "unreferenced": gcFiles(c.Unreferenced), "removed": c.Removed,
		}, "")
	}
	if !a.Quiet && len(c.Unreferenced) > 0 {
		t := terminal.NewTable().Text("unreferenced").Numbers("bytes")
		for _, info := range c.Unreferenced {
			t.Row(path.Base(filepath.ToSlash(info.Location)), info.Size)
		}
		a.Out.Table(t, "")
	}
	if a.Quiet {
		return nil
	}
	return gcSummary(a.Out, c, f)
}

func gcSummary(out terminal.Screen, c shard.Collected, f gcFlags) error {
	count := func(infos []storage.Info) string {
		var size int64
		for _, info := range infos {
			size += info.Size
		}
		return terminal.Plural(len(infos), "file") + " (" + terminal.Size(size) + ")"
	}
	parts := []string{terminal.Plural(len(c.Roots), "root"), "needed: " + count(c.Needed)}
	if len(c.Young) > 0 {
		parts = append(parts, "younger than "+age(f.OlderThan)+": "+count(c.Young))
	}
	last := "unreferenced: " + count(c.Unreferenced)
	switch {
	case f.Remove:
		last = "removed: " + count(c.Unreferenced[:c.Removed])
	case len(c.Unreferenced) > 0:
		last += ", which --yes removes"
	}
	return out.Printf("%s\n", strings.Join(append(parts, last), "; "))
}

// age is a duration without zeros at its end: 24h.
func age(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

func gcFiles(infos []storage.Info) []map[string]any {
	list := []map[string]any{}
	for _, info := range infos {
		list = append(list, map[string]any{"location": info.Location, "bytes": info.Size, "modified": info.Modified})
	}
	return list
}
