package change

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/shard"
)

func (a group) split() *cobra.Command {
	var o shard.SplitOptions
	var pattern string
	cmd := &cobra.Command{
		Use:   "split SHARD (--rows N | --bytes SIZE | --by COLUMN) -o OUT",
		Short: "Divide a shard by rows, by size, or by the values of a column",
		Long: `split divides a shard into several: of so many rows each, or of the rows of each value of a column. OUT is the name of the parts, in which {} stands for the
number or the value of a part. The shard stays as it is.

Parts of so many rows refer to the stripes of the shard, and only stripes that are divided are written anew. With --bytes, stripes stay whole whose data fit into a part, and
larger ones are divided: a part has less data than that, or up to a quarter more if rows differ much in size. With --by, all rows are written, sorted by the values; there may
be 1,000 of these.`,
		Example: `  amudai split flights.amudai.shard --rows 1000000 -o "flights-{}.amudai.shard"
  amudai split flights.amudai.shard --by "year(date)" -o "years/{}.amudai.shard"`,
		Args: app.Wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if pattern == "" {
				return usage.Errorf(`-o "part-{}.amudai.shard"`, "split needs a name for the parts")
			}
			return a.runSplit(cmd.Context(), args[0], pattern, o)
		},
	}
	cmd.Flags().Int64Var(&o.Rows, "rows", 0, "rows of a part, deleted ones included")
	usage.Parsed(cmd, &o.Bytes, "bytes", "", "data of a part, such as 100MB", func(text string) (int64, error) { return formats.Size("bytes", text, "100MB") })
	cmd.Flags().StringVar(&o.By, "by", "", "`COLUMN` or expression, of whose values each part has one")
	cmd.Flags().StringVarP(&pattern, "output", "o", "", "name of the parts, with {} for the number or the value: `OUT`")
	formats.RegisterMemory(cmd, &o.MemoryBytes, "rows and encoded data")
	a.reports(cmd, &o.DryRun)
	return cmd
}

func (a group) runSplit(ctx context.Context, location, pattern string, o shard.SplitOptions) error {
	if err := files.CheckShard(location); err != nil {
		return err
	}
	p := a.rowsBar(o.DryRun)
	o.Overwrite, o.Open.Policy, o.Progress = a.Force, a.Policy, p.Set
	parts, err := shard.Split(ctx, location, pattern, o)
	if err = errors.Join(err, p.End()); err != nil {
		return files.CreateError(pattern, err)
	}
	if *a.json {
		facts := []map[string]any{}
		for _, part := range parts {
			facts = append(facts, map[string]any{"location": part.Location, "rows": part.Rows, "bytes": part.Bytes, "stripes_referred": part.Referred})
		}
		return a.report(o.DryRun, map[string]any{"parts": facts}, "")
	}
	t := terminal.NewTable().Text("part").Numbers("rows", "bytes", "stripes referred to")
	for _, part := range parts {
		t.Row(filepath.Base(part.Location), part.Rows, part.Bytes, part.Referred)
	}
	if o.DryRun || a.Summarizes() {
		a.Out.Table(t, "")
	}
	return nil
}
