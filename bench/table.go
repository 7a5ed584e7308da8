package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// printResult writes the figures as a Markdown table: the base in its own units, all
// others as ratios to it, with the spread of the rounds.
func printResult(w io.Writer, r *measure.Result) {
	header, note := table.Row{r.Set}, ""
	ops := append([]string{measure.OpSize}, r.Ops...)
	for _, op := range ops {
		header = append(header, measure.Title(op))
		if measure.ByHand(op) {
			note = "\n" + measure.HandNote + "\n"
		}
	}
	t := newTable(header)
	for _, f := range r.Runs {
		row := table.Row{f.Name}
		for _, op := range ops {
			row = append(row, r.Cell(f.Name, op))
		}
		t.AppendRow(row)
	}
	fmt.Fprintf(w, "\n%s: %d rows\n\n%s\n%s", r.Set, r.Rows, t.RenderMarkdown(), note)
}

// newTable aligns all columns but the first to the right.
func newTable(header table.Row) table.Writer {
	t := table.NewWriter()
	var right []table.ColumnConfig
	for i := range header[1:] {
		right = append(right, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	t.AppendHeader(header)
	return t
}

// printTargets writes the limits beside the figures.
func printTargets(w io.Writer, results []*measure.Result) {
	printGoals(w, "Floors of the format", floors, results, []edition.Edition{edition.Reference, edition.E2026})
	printGoals(w, "Targets of the scan engine", targets, results, []edition.Edition{edition.E2026, edition.Reference})
}

// goalSets are the data sets of the goals, in the order of the columns.
var goalSets = []string{"flights", "lineitem", "lineitemi", "logs", "wide10k", "wide", "flights100m"}

func printGoals(w io.Writer, title string, goals []goal, results []*measure.Result, editions []edition.Edition) {
	var sets []string
	for _, set := range goalSets {
		concerned := slices.ContainsFunc(goals, func(g goal) bool { _, ok := g.limits[set]; return ok })
		if concerned && slices.ContainsFunc(results, func(r *measure.Result) bool { return r.Set == set }) {
			sets = append(sets, set)
		}
	}
	header := table.Row{title, "edition"}
	for _, set := range sets {
		header = append(header, set)
	}
	t := newTable(header)
	missed, measured := 0, 0
	for _, g := range goals {
		for _, e := range editions {
			row := table.Row{g.name, e.String()}
			any := false
			for _, set := range sets {
				cell, met, known := g.cell(results, set, e)
				row = append(row, cell)
				any = any || known
				if known && g.limit(set, e) > 0 {
					measured++
					if !met {
						missed++
					}
				}
			}
			if any {
				t.AppendRow(row)
			}
		}
	}
	if measured > 0 {
		fmt.Fprintf(w, "\n%s: %d of %d are missed (✗)\n\n%s\n", title, missed, measured, t.RenderMarkdown())
	}
}

func (g goal) limit(set string, e edition.Edition) float64 {
	if e == edition.Reference {
		return g.limits[set][0]
	}
	return g.limits[set][1]
}

// cell shows the figure with its limit, and marks it if it exceeds the limit.
func (g goal) cell(results []*measure.Result, set string, e edition.Edition) (cell string, met, known bool) {
	if _, concerned := g.limits[set]; !concerned {
		return "", true, false
	}
	s := g.stat(results, set, e)
	if !s.Known {
		return "-", true, false
	}
	value, limit := fmt.Sprintf("%.3f", s.Median), g.limit(set, e)
	if measure.IsPeak(g.op) {
		value = fmt.Sprintf("%.0f", s.Median)
	}
	sign := "≤"
	if g.atLeast {
		sign = "≥"
	}
	switch {
	case limit == 0:
		return value, true, true
	case g.atLeast && s.Median >= limit || !g.atLeast && s.Median <= limit:
		return fmt.Sprintf("%s (%s %v)", value, sign, limit), true, true
	}
	return fmt.Sprintf("%s ✗ (%s %v)", value, sign, limit), false, true
}

// stat is the figure of a goal, in MiB if it is a peak.
func (g goal) stat(results []*measure.Result, set string, e edition.Edition) (s measure.Stat) {
	versus, name := cmp.Or(g.versus, baseName), "amudai "+e.String()+" "+g.profile
	for _, r := range results {
		f := r.Of(name)
		switch {
		case s.Known || r.Set != set || f == nil:
		case measure.IsPeak(g.op):
			s = measure.StatOf(f.Values[g.op])
		default:
			s = r.Stat(name, g.op, versus)
		}
	}
	return s
}
