package app

import (
	"iter"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/text"
)

// Wants checks the number of arguments. A negative most means any number.
func Wants(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return usage.Errorf("", "usage: %s (%s)", cmd.UseLine(), what)
	}
}

// WantsFirst checks that inputs follow a first argument, a query for example. missing tells what is missing without them.
func WantsFirst(what, hint, missing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return usage.Errorf(hint, "usage: %s: %s", cmd.UseLine(), missing)
		}
		return Wants(2, -1, what)(cmd, args)
	}
}

// NoArgs accepts no arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.HasSubCommands() {
		return usage.Errorf(cmd.CommandPath()+" --help lists the commands", "unknown command %q%s", args[0], text.Suggest(args[0], commandNames(cmd)))
	}
	return Wants(0, 0, "no arguments")(cmd, args)
}

// commandNames are the listed commands below cmd.
func commandNames(cmd *cobra.Command) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && !yield(c.Name()) {
				return
			}
		}
	}
}

// Group is a command that only has others below it.
func Group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(commands...)
	return cmd
}
