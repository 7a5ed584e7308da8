package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// columnFlags are the flags that take paths of columns of the inputs, and whether a path may have a minus before it.
var columnFlags = map[string]bool{
	"columns": false, "column": false, "in": false, "by": true, "key": false, "time": false, "index": false, "plot": false,
}

// completionTime is the time to read an input in while a user waits for proposals.
const completionTime = 2 * time.Second

// completeFlags has shells propose columns of the inputs for flags of cmd and the commands below it.
func (a *app) completeFlags(cmd *cobra.Command) {
	for name, signed := range columnFlags {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
				return completeList(typed, signed, columnPaths(a.inputSchema(cmd.Context(), args))), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
			})
		}
	}
	for _, c := range cmd.Commands() {
		a.completeFlags(c)
	}
}

// inputSchema is the schema of the first argument that is a table, or nil.
func (a *app) inputSchema(ctx context.Context, args []string) *arrow.Schema {
	ctx, stop := context.WithTimeout(ctx, completionTime)
	defer stop()
	var flags formats.TableFlags
	flags.Register(&cobra.Command{}, -1) // their defaults
	for _, location := range args {
		if location == "-" || files.IsURL(location) { // nothing is sent or consumed for a proposal
			continue
		}
		src, err := formats.NewOpener(a.Stdin, func(string) {}).Tables(ctx, []string{location}, &flags, formats.TablesOptions{})
		if err != nil {
			continue
		}
		s := src.Schema()
		src.Close()
		return s
	}
	return nil
}

// columnPaths are the paths of all columns, those within structs, too.
func columnPaths(s *arrow.Schema) []string {
	var paths []string
	var add func(prefix string, fields []arrow.Field)
	add = func(prefix string, fields []arrow.Field) {
		for _, f := range fields {
			path := prefix + schema.Escape(f.Name)
			paths = append(paths, path)
			if t, ok := f.Type.(*arrow.StructType); ok {
				add(path+".", t.Fields())
			}
		}
	}
	if s != nil {
		add("", s.Fields())
	}
	return paths
}

// completeList completes the last path of a list with commas. Paths that the list has already are left out.
func completeList(typed string, signed bool, paths []string) []string {
	i := strings.LastIndexByte(typed, ',') + 1
	head, last := typed[:i], typed[i:]
	if signed && strings.HasPrefix(last, "-") {
		head, last = head+"-", last[1:]
	}
	have := strings.Split(typed[:i], ",")
	var out []string
	for _, p := range paths {
		if strings.HasPrefix(p, last) && !slices.Contains(have, p) {
			out = append(out, head+p)
		}
	}
	return out
}
