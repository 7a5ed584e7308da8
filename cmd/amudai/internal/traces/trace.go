package traces

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/blockpack/otlp"
	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
)

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command {
	g := group{a}
	return []func() *cobra.Command{g.trace, g.query, g.blockpack}
}

// traceFlags are the flags of trace.
type traceFlags struct {
	span       string
	json, tree bool
}

func (a group) trace() *cobra.Command {
	var f traceFlags
	cmd := &cobra.Command{
		Use:   "trace ID[,ID...] IN...",
		Short: "Show a trace by its id, from files of spans",
		Long: `trace finds all spans of a trace in files, folders and glob patterns. A Blockpack file is asked by its index of
traces, in two reads; shards, Parquet, OTLP and other tables with a row for each span by a filter.

On a terminal it prints a tree with times, services and errors; into a pipe, OTLP in JSON, a line for each trace.
Equal spans of several files are shown once. The exit code is 1 if a trace is not found.`,
		Example: `  amudai trace 5b8efff798038103d269b633813fc60c spans/
  amudai trace 5b8efff798038103d269b633813fc60c day.blockpack | jq '.resourceSpans[].scopeSpans[].spans[].name'`,
		Args: app.Wants(2, -1, "the id of a trace, then one or more inputs"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runTrace(cmd.Context(), args[0], args[1:], f) },
	}
	cmd.Flags().StringVar(&f.span, "span", "", "only the span with this id, and those below it")
	cmd.Flags().BoolVar(&f.json, "json", false, "print OTLP in JSON, as into a pipe")
	cmd.Flags().BoolVar(&f.tree, "tree", false, "print a tree, as on a terminal")
	cmd.MarkFlagsMutuallyExclusive("json", "tree")
	return cmd
}

func (a group) runTrace(ctx context.Context, list string, locations []string, f traceFlags) error {
	var ids []string
	for text := range strings.SplitSeq(list, ",") {
		id, err := idOf(text, 16)
		if err != nil {
			return err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	span := ""
	if f.span != "" {
		var err error
		if span, err = idOf(f.span, 8); err != nil {
			return err
		}
	}
	inputs, err := a.spanInputs(ctx, locations)
	if err != nil {
		return err
	}
	found, err := Find(ctx, inputs.locations, ids, inputs.open)
	if err != nil {
		return err
	}
	missing := 0
	for _, t := range found {
		if len(t.rows) == 0 {
			a.PrintError(fmt.Errorf("trace %x: not found in %s", t.ID, terminal.Plural(len(inputs.locations), "input")))
			missing++
			continue
		}
		if span != "" && !t.Below(span) {
			return fmt.Errorf("trace %x has no span %x", t.ID, span)
		}
		if err := a.printTrace(t, f); err != nil {
			return err
		}
	}
	if missing > 0 {
		return app.Printed{Code: app.ExitFailure, Text: "not found"}
	}
	return nil
}

// printTrace prints a trace for people or programs.
func (a group) printTrace(t *Trace, f traceFlags) error {
	if f.tree || a.Width > 0 && !f.json {
		return Print(a.Out, hex.EncodeToString([]byte(t.ID)), t.Spans())
	}
	wire, err := t.AppendOTLP(nil)
	if err != nil {
		return err
	}
	line, err := otlp.AppendJSON(nil, wire)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(line, '\n'))
	return err
}

// spanInputs are the inputs of commands about spans.
type spanInputs struct {
	locations []string
	open      func(ctx context.Context, location string) (Source, error)
}

// spanInputs finds the inputs of locations. Files in folders that are no tables of spans are passed over.
func (a group) spanInputs(ctx context.Context, locations []string) (spanInputs, error) {
	s := spanInputs{}
	found := map[string]bool{}
	for _, in := range inputs.Expand(ctx, locations, formats.All()) {
		switch {
		case in.Err != nil:
			return s, in.Err
		case in.Location == "-":
			return s, usage.Errorf("save them to a file first", "spans are not looked for in stdin")
		}
		s.locations = append(s.locations, in.Location)
		found[in.Location] = in.Found
	}
	opener := func() *formats.Opener { return a.Opener.Silent(a.Stdin) }
	s.open = func(ctx context.Context, location string) (Source, error) {
		source, err := Open(ctx, location, opener)
		if found[location] && (errors.Is(err, ErrNoSpans) || errors.Is(err, inputs.ErrUnknown)) {
			return Source{}, nil
		}
		return source, err
	}
	return s, nil
}
