package traces

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/traceql"
)

// queryFlags are the flags of query.
type queryFlags struct {
	limit, spans           int
	recent                 bool
	explain, analyze, json bool
	names                  bool
	values                 string
	since, until           any
	metrics                traceql.MetricsOptions
	prometheus             bool
}

func (a group) query() *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:   "query TRACEQL IN...",
		Short: "Find traces by a TraceQL query in files of spans",
		Long: `query finds the traces that match a query in TraceQL (docs/traceql.md) in Blockpack files, shards, Parquet, OTLP and
other tables with a row for each span, and in folders and glob patterns. A trace may be spread over several inputs.

  { resource.service.name = "cart" && duration > 100ms }
  { span.http.status_code >= 500 } >> { name =~ "SELECT.*" }
  { status = error } | by(resource.service.name) | count() > 2
  { status = error } | rate() by(resource.service.name) | topk(5)

On a terminal it prints a table of traces, into a pipe JSON, a line for each trace. A query that ends in a function such
as rate() makes time series: on a terminal a chart of each, into a pipe JSON as Tempo's metrics API gives it. The exit
code is 0 if something was found, 1 if nothing.

With --since and --until, a query knows only the spans that began in this time: a root span may be missing.

--names lists the names of attributes, and --values ATTRIBUTE their values, of the spans that match the query: '{}' is
all of them.`,
		Example: `  amudai query '{ status = error && resource.service.name = "redis" }' spans/ --limit 5
  amudai query '{}' day.blockpack --values resource.service.name`,
		Args: app.WantsFirst("the query, then one or more inputs", "the query comes first", "there is nothing to query"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runQuery(cmd.Context(), args[0], args[1:], f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.limit, "limit", 20, "maximum number of traces, or values; 0: no limit")
	flags.IntVar(&f.spans, "spans", 3, "maximum number of spans to print of each spanset; 0: no limit")
	formats.RegisterTimes(cmd, &f.since, &f.until, "only spans that began at this time or later: 2026-11-30, '2026-11-30 15:04:05', or 2h for two hours ago",
		"only spans that began before this time")
	flags.BoolVar(&f.recent, "most-recent", false, "the traces that began last, not those stored first")
	flags.BoolVar(&f.explain, "explain", false, "print how the query finds its traces, without running it")
	flags.BoolVar(&f.analyze, "analyze", false, "run the query, and print how it found its traces")
	flags.BoolVar(&f.json, "json", false, "print JSON, as into a pipe")
	flags.DurationVar(&f.metrics.Step, "step", 0, "interval of time series (default: about the 240th part of the time)")
	flags.BoolVar(&f.metrics.Instant, "instant", false, "one sample of the whole time in each time series")
	flags.IntVar(&f.metrics.Exemplars, "exemplars", 0, "maximum number of exemplars in time series")
	flags.BoolVar(&f.prometheus, "prometheus", false, "print time series as JSON of Prometheus")
	flags.BoolVar(&f.names, "names", false, "list the names of attributes")
	flags.StringVar(&f.values, "values", "", "list the values of this attribute")
	cmd.MarkFlagsMutuallyExclusive("explain", "analyze", "names", "values")
	cmd.MarkFlagsMutuallyExclusive("step", "instant")
	return cmd
}

func (a group) runQuery(ctx context.Context, text string, locations []string, f queryFlags) (err error) {
	if f.limit < 0 || f.spans < 0 {
		return usage.Errorf("", "--limit and --spans need a number above 0, or 0 for no limit")
	}
	q, err := traceql.Parse(text)
	if err != nil {
		return usage.Errorf("docs/traceql.md describes queries", "%w", err)
	}
	window := f.window()
	if q.IsMetrics() {
		window = filter.Expr{} // spans beyond it may be others' parents
	}
	inputs, err := a.spanInputs(ctx, locations)
	if err != nil {
		return err
	}
	var sources []traceql.Source
	for _, location := range inputs.locations {
		s, err := inputs.open(ctx, location)
		if err != nil {
			return err
		}
		if s.Source != nil {
			defer func() { err = errors.Join(err, s.Close()) }()
			sources = append(sources, traceql.Where(s.Source, window)) // with its indexes, which s hides
		}
	}
	o := traceql.Options{Limit: f.limit, Spans: f.spans}
	if f.recent {
		o.Order = traceql.MostRecent
	}
	switch {
	case q.IsMetrics() && !f.names && f.values == "":
		return a.runMetrics(ctx, q, sources, f)
	case f.explain || f.analyze:
		explain := traceql.Explain
		if f.analyze {
			explain = traceql.Analyze
		}
		e, err := explain(ctx, q, sources, o)
		if err != nil {
			return err
		}
		return a.Out.Printf("%s\n", terminal.Lines(strings.TrimRight(e.String(), "\n")))
	case f.names:
		return a.printNames(ctx, sources)
	case f.values != "":
		return a.printValues(ctx, sources, f.values, traceql.ValuesOptions{Filter: q, Limit: f.limit})
	}
	return a.printMatches(traceql.Search(ctx, q, sources, o), f)
}

// window is the condition for the spans of --since and --until.
func (f *queryFlags) window() (e filter.Expr) {
	if f.since != nil {
		e = filter.Ge(filter.Col(Start), f.since)
	}
	if f.until != nil {
		e = filter.And(e, filter.Lt(filter.Col(Start), f.until))
	}
	return e
}

// printMatches prints the traces of a search.
func (a group) printMatches(found func(func(*traceql.Trace, error) bool), f queryFlags) error {
	n := 0
	for t, err := range found {
		if err != nil {
			return err
		}
		print := a.printMatchJSON
		if a.Width > 0 && !f.json {
			print = a.printMatch
		}
		if err := print(t); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return app.Printed{Code: app.ExitFailure, Text: "nothing found"}
	}
	if f.limit > 0 && n == f.limit {
		a.Noticef("there may be more than %s; --limit 0 finds all", terminal.Plural(n, "trace"))
	}
	return nil
}

func (a group) printMatchJSON(t *traceql.Trace) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, line); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = a.Stdout.Write(b.Bytes())
	return err
}

// printMatch prints a trace and the spans that match, for people.
func (a group) printMatch(t *traceql.Trace) error {
	root := cmp.Or(strings.TrimSpace(t.RootService+" "+t.RootName), "(the root span is missing)")
	err := a.Out.Printf("%s  %s  %s  %s  %s\n", a.Out.Paint(terminal.Bold, hex.EncodeToString(t.ID)),
		t.Start.UTC().Format("2006-01-02T15:04:05.000Z"), terminal.Duration(t.Duration), terminal.Plural(t.Spans, "span"), root)
	for _, set := range t.Sets {
		if line := attributes(set.Attributes); line != "" {
			a.Out.Printf("  %s\n", a.Out.Paint(terminal.Cyan, line))
		}
		for _, s := range set.Spans {
			a.Out.Printf("  %s  %s  %s  %s\n", hex.EncodeToString(s.ID), terminal.Duration(s.Duration), s.Name, a.Out.Paint(terminal.Dim, attributes(s.Attributes)))
		}
		if more := set.Matched - len(set.Spans); more > 0 {
			a.Out.Printf("  %s\n", a.Out.Paint(terminal.Dim, "and "+terminal.Plural(more, "more span")))
		}
	}
	return err
}

func attributes(list []traceql.Attribute) string {
	var parts []string
	for _, at := range list {
		parts = append(parts, at.Name+"="+at.Value.String())
	}
	return strings.Join(parts, " ")
}

// printNames prints the names of attributes, one in a line.
func (a group) printNames(ctx context.Context, sources []traceql.Source) error {
	scopes, err := traceql.Names(ctx, sources, "")
	if err != nil {
		return err
	}
	for _, s := range scopes {
		for _, name := range s.Names {
			if s.Scope != "intrinsic" {
				name = string(s.Scope) + "." + name
			}
			a.Out.Printf("%s\n", name)
		}
	}
	return nil
}

// printValues prints the values of an attribute, one in a line.
func (a group) printValues(ctx context.Context, sources []traceql.Source, name string, o traceql.ValuesOptions) error {
	values, more, err := traceql.Values(ctx, sources, name, o)
	if err != nil {
		return err
	}
	for _, v := range values {
		a.Out.Printf("%s\n", v.Plain())
	}
	if more {
		a.Noticef("there are more than %s; --limit finds more", terminal.Plural(len(values), "value"))
	}
	return nil
}
