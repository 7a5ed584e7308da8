package command

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/complete"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// columnFlags are the flags that take paths of columns of the inputs, and whether a path may have a minus before it.
var columnFlags = map[string]bool{
	"columns": false, "column": false, "in": false, "by": true, "key": false, "time": false, "index": false, "plot": false,
}

// Limits of reading an input while a user waits for proposals.
const (
	completionTime = 2 * time.Second
	completionRows = 100_000
)

// completeFlags has shells propose values and columns of the inputs for flags of cmd and the commands below it.
func (a run) completeFlags(cmd *cobra.Command) {
	usage.RegisterCompletions(cmd)
	for name, signed := range columnFlags {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
				return a.completeColumns(cmd.Context(), args).List(typed, signed), completed
			})
		}
	}
	if cmd.Flags().Lookup("where") != nil {
		_ = cmd.RegisterFlagCompletionFunc("where", func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return a.completeCondition(cmd.Context(), args, typed), completed
		})
	}
	if parent := cmd.Parent(); parent != nil && parent.Name() == "column" && cmd.Name() != "add" {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return a.completeColumns(cmd.Context(), args[:1]).List(typed, false), completed
		}
	}
	for _, c := range cmd.Commands() {
		a.completeFlags(c)
	}
}

// completed says that the proposals are not files, and may go on.
const completed = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace

// completeColumns lists the columns of the first argument that is a table.
func (a run) completeColumns(ctx context.Context, args []string) *complete.Columns {
	ctx, stop := context.WithTimeout(ctx, completionTime)
	defer stop()
	if src := a.completeInput(ctx, args, nil); src != nil {
		defer src.Close()
		return complete.Of(src.Schema())
	}
	return complete.Of(arrow.NewSchema(nil, nil))
}

// completeCondition proposes conditions that begin with a text.
func (a run) completeCondition(ctx context.Context, args []string, typed string) (conditions []string) {
	ctx, stop := context.WithTimeout(ctx, completionTime)
	defer stop()
	text := []rune(typed)
	from, words := a.completeColumns(ctx, args).Condition(text, func(path string) []string {
		counts := complete.Counts{}
		src := a.completeInput(ctx, args, []string{path})
		if src == nil {
			return nil
		}
		defer src.Close()
		for more, rows := true, int64(0); more && rows < completionRows; {
			b, err := src.Next(ctx)
			if err != nil || b == nil {
				break
			}
			more, rows = counts.AddColumn(b), rows+b.NumRows()
			b.Release()
		}
		return counts.Values()
	})
	for _, w := range words {
		conditions = append(conditions, string(text[:from])+w)
	}
	return conditions
}

// completeInput opens the first argument that is a table, or returns nil. Nothing is sent or consumed for a proposal.
func (a run) completeInput(ctx context.Context, args, columns []string) provider.Source {
	var flags formats.TableFlags
	flags.Register(&cobra.Command{}, -1) // their defaults
	for _, location := range args {
		if location == "-" || inputs.IsURL(location) {
			continue
		}
		src, err := a.Opener.Silent(a.Stdin).Tables(ctx, []string{location}, &flags, table.ScanOptions{Columns: columns})
		if err == nil {
			return src
		}
	}
	return nil
}
