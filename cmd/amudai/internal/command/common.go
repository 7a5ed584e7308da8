package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
)

// addCommonFlags adds the flags that mean the same everywhere to the commands below cmd: --force to those that create files, and --quiet to
// those that print notices or progress. A command may have a --quiet of its own, which prints still less.
func addCommonFlags(a *app.App, cmd *cobra.Command) {
	if creates(cmd) {
		cmd.Flags().BoolVarP(&a.Force, "force", "f", false, "replace an existing output")
	}
	if talks(cmd) && cmd.Flags().Lookup("quiet") == nil {
		cmd.Flags().BoolVarP(&a.Quiet, "quiet", "q", false, "no progress, no summary, and no notes except warnings that data may be misread")
	}
	for _, c := range cmd.Commands() {
		addCommonFlags(a, c)
	}
}

// creates reports whether a command creates files: an argument or the value of a flag is called OUT.
func creates(cmd *cobra.Command) bool {
	out := slices.Contains(strings.Fields(cmd.Use), "OUT")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, _ := pflag.UnquoteUsage(f)
		out = out || value == "OUT"
	})
	return out
}

// silent are commands that read files, but have nothing to tell beside their results.
var silent = []string{"amudai index list", "amudai pack", "amudai recover"}

// talks reports whether a command prints notices about its inputs, or progress: whether it has some.
func talks(cmd *cobra.Command) bool {
	inputs := slices.ContainsFunc(strings.Fields(cmd.Use), func(word string) bool {
		return slices.Contains([]string{"IN", "IN...", "FILE", "FILE...", "SHARD", "SHARD...", "OLD", "DIR", "[QUERY]"}, word)
	})
	return inputs && !slices.Contains(silent, cmd.CommandPath())
}
