package convert

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/shard"
)

func (a group) importFiles() *cobra.Command {
	var byReference bool
	var output string
	cmd := &cobra.Command{
		Use:   "import --by-reference IN... -o OUT",
		Short: "Make a shard that refers to Parquet files",
		Long: `import --by-reference makes a shard of Parquet files, folders and patterns of them without a copy of their values: the stripes of the shard refer to the
row groups, in the order of the files. It reads only footers, so that it takes milliseconds. All files must have the same columns.

The shard is read as any other: by the pages, statistics and Bloom filters of the files. amudai index add gives it indexes. The files must stay where
they are; one that was changed is an error of every command that needs it. They must lie in the folder of the shard or below: by default, readers
refuse references to other places. amudai convert makes a shard with a copy of the values.`,
		Example: `  amudai import --by-reference flights.parquet -o flights.amudai.shard
  amudai import --by-reference data/ -o year.amudai.shard`,
		Args: app.Wants(1, -1, "Parquet files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !byReference:
				return usage.Errorf("amudai convert copies values", "import only makes references: --by-reference says so")
			case output == "":
				return usage.Errorf("-o OUT.amudai.shard", "import needs the name of the shard")
			}
			return a.importByReference(cmd.Context(), args, output)
		},
	}
	cmd.Flags().BoolVar(&byReference, "by-reference", false, "refer to the files, instead of a copy of their values")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the shard to `OUT`")
	return cmd
}

func (a group) importByReference(ctx context.Context, locations []string, output string) error {
	if err := files.CheckOutput(output, a.Force); err != nil {
		return err
	}
	all, err := a.Opener.Inputs(ctx, locations, &formats.ReadFlags{From: "parquet"})
	if err != nil {
		return err
	}
	if slices.Contains(all, "-") {
		return usage.Errorf("name a file", "a shard cannot refer to stdin")
	}
	if err := shard.Import(ctx, output, all, shard.ImportOptions{Overwrite: a.Force, Program: app.Writer}); err != nil {
		return err
	}
	if !a.Summarizes() {
		return nil
	}
	s, err := shard.Open(ctx, output, shard.OpenOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	return a.Errs.Printf("%s of %s → %s, %s\n", terminal.Plural(int(s.NumRows()), "row"), terminal.Plural(len(all), "file"), output, terminal.Size(s.Size()))
}
