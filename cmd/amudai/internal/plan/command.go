package plan

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command { return []func() *cobra.Command{group{a}.plan} }

func (a group) plan() *cobra.Command {
	var t formats.TableFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plan IN...",
		Short: "Print the parts of tables that can be read apart",
		Long: `plan prints the stripes of tables, and the rows and bytes that --where and --columns leave of each, so that an engine
can divide the work: amudai cat IN --stripes 3 reads one part. The clusters of ROOT files, the row groups of Parquet and the
blocks of Blockpack are stripes, too; other formats are one part. Only metadata and indexes are read. --json adds the
schema and what is recorded of the columns; docs/engines.md describes it.`,
		Example: `  amudai plan flights.amudai.shard --where "origin = 'SFO'"
  amudai plan 'logs/*.amudai.shard' --columns time,level --json`,
		Args: app.Wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runPlan(cmd, args, &t, asJSON) },
	}
	t.Read.Register(cmd, true)
	t.Rows.RegisterWhere(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print everything as JSON, for programs")
	return cmd
}

func (a group) runPlan(cmd *cobra.Command, args []string, t *formats.TableFlags, asJSON bool) (err error) {
	ctx := cmd.Context()
	u, err := a.Opener.Union(ctx, args, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.Close()) }()
	parts, err := u.Plan(ctx, u.Scan)
	if err != nil {
		return err
	}
	p, err := Of(parts)
	if err != nil {
		return err
	}
	if asJSON {
		return terminal.JSON(a.Stdout, p)
	}
	p.Text(a.Out)
	return nil
}
