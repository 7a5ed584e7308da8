// Package change has the commands of the life of a shard: merge, delete, undelete, compact, split, column, relocate, gc, and those of its versions. Those that change
// one publish a new root, which refers to what is there: only compact, split and column write data anew.
package change

import (
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

type group struct {
	*app.App
	json *bool // the flag --json
}

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command {
	g := group{a, new(bool)}
	return []func() *cobra.Command{
		g.merge, g.delete, g.undelete, g.compact, g.split, g.column, g.relocate, g.gc, g.keep, g.log, g.restore,
	}
}

// reports registers the flags of commands that say what they do, or would do.
func (a group) reports(cmd *cobra.Command, dryRun *bool) {
	cmd.Flags().BoolVar(dryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(a.json, "json", false, "print what is done as JSON, for programs")
}

// report prints what a command did, or would do: facts for programs, or a line for people.
func (a group) report(dryRun bool, facts map[string]any, line string) error {
	switch {
	case *a.json:
		facts["dry_run"] = dryRun
		return terminal.JSON(a.Stdout, facts)
	case dryRun:
		return a.Out.Printf("%s\n", line)
	case a.Summarizes():
		return a.Errs.Printf("%s\n", line)
	}
	return nil
}

// rowsBar begins to count rows, with a bar unless nothing is done.
func (a group) rowsBar(dryRun bool) *terminal.Progress {
	if dryRun {
		return terminal.Start(nil, "rows")
	}
	return terminal.Start(a.Bars(), "rows")
}

// list is a list in JSON, which is no null if it is empty.
func list[T any](items []T) []T { return append([]T{}, items...) }
