package command

import (
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/compare"
)

func (a *app) demo() *cobra.Command {
	keep := ""
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Write a real table as shards and compare them with Parquet",
		Long: `demo writes 100,000 US flights as Parquet (zstd) and as shards of both editions into a temporary
folder, reads them in common ways, and shows sizes and times side by side.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return compare.Demo(cmd.Context(), a.out, a.Program, keep)
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "", "write the files into this folder and keep them")
	return cmd
}
