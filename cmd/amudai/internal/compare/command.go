package compare

import (
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
)

type group struct{ *app.App }

// Commands are the commands of the package.
func Commands(a *app.App) []*cobra.Command {
	g := group{a}
	return []*cobra.Command{g.demo(), g.bench(), g.benchPeak()}
}

func (a group) demo() *cobra.Command {
	keep := ""
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Write a real table as shards and compare them with Parquet",
		Long: `demo writes 100,000 US flights as Parquet (zstd) and as shards of both editions into a temporary
folder, reads them in common ways, and shows sizes and times side by side.`,
		Args: app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return Demo(cmd.Context(), a.Out, a.Program, keep)
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "", "write the files into this folder and keep them")
	return cmd
}
