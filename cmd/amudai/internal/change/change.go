// Package change has the commands of the life of a shard: merge, delete, undelete, compact, split, column, relocate, gc, and those of its versions. Those that change
// one publish a new root, which refers to what is there: only compact, split and column write data anew.
package change

import (
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
)

type group struct{ *app.App }

// Commands are the commands of the package.
func Commands(a *app.App) []*cobra.Command {
	g := group{a}
	return []*cobra.Command{
		g.merge(), g.delete(), g.undelete(), g.compact(), g.split(), g.column(), g.relocate(), g.gc(), g.keep(), g.log(), g.restore(),
	}
}

// dryRun registers the flag of commands that can tell what they would do.
func dryRun(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "dry-run", false, "say what would be done, and do nothing")
}
