package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/amudai/amudai-go/edition"
	"github.com/amudai/amudai-go/internal/measure"
)

// print writes the figures as a Markdown table: the base in its own units, all
// others as ratios to it, with the spread of the rounds.
func (r *result) print(w io.Writer) {
	header := table.Row{r.Set, opSize}
	for _, op := range r.Ops {
		header = append(header, op)
	}
	t := newTable(header)
	base := r.Runs[0]
	for i, f := range r.Runs {
		row := table.Row{f.Name, fmt.Sprintf("%.3f", float64(f.Size)/float64(base.Size))}
		if i == 0 {
			row[1] = fmt.Sprintf("%.1f MB", float64(f.Size)/1e6)
		}
		for _, op := range r.Ops {
			row = append(row, r.cell(f, op, i == 0))
		}
		t.AppendRow(row)
	}
	fmt.Fprintf(w, "\n%s: %d rows\n\n%s\n", r.Set, r.Rows, t.RenderMarkdown())
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

func (r *result) cell(f *figures, op string, isBase bool) string {
	share := op == opScan22 || op == opWrite22
	switch {
	case len(f.Values[op]) == 0:
		return "-"
	case r.Unit == measure.MiB:
		return fmt.Sprintf("%.0f MiB", f.Median(op))
	case isBase && !share:
		return fmt.Sprintf("%.3f s", f.Median(op))
	}
	return r.stat(f.Name, op, r.Runs[0].Name).String()
}

// printTargets writes what was to be reached beside what was measured.
func printTargets(w io.Writer, results []*result) {
	printGoals(w, "Floors of the format", floors, results, []edition.Edition{edition.Reference, edition.E2026})
	printGoals(w, "Targets of the scan engine", targets, results, []edition.Edition{edition.E2026, edition.Reference})
}

// goalSets are the data sets that goals are about, in the order of the columns.
var goalSets = []string{"flights", "lineitem", "lineitemi", "logs", "wide10k", "wide", "flights100m"}

func printGoals(w io.Writer, title string, goals []goal, results []*result, editions []edition.Edition) {
	var sets []string
	for _, set := range goalSets {
		concerned := slices.ContainsFunc(goals, func(g goal) bool { _, ok := g.limits[set]; return ok })
		if concerned && slices.ContainsFunc(results, func(r *result) bool { return r.Set == set }) {
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

// cell shows the figure with its limit, and marks it if it does not keep that.
func (g goal) cell(results []*result, set string, e edition.Edition) (cell string, met, known bool) {
	unit, versus := measure.Seconds, g.versus
	if g.memory {
		unit = measure.MiB
	}
	if versus == "" {
		versus = baseName
	}
	if _, concerned := g.limits[set]; !concerned {
		return "", true, false
	}
	var s stat
	for _, r := range results {
		if !s.known && r.Set == set && r.Unit == unit {
			s = r.stat("amudai "+e.String()+" "+g.profile, g.op, versus)
		}
	}
	if !s.known {
		return "-", true, false
	}
	value, limit := fmt.Sprintf("%.3f", s.median), g.limit(set, e)
	if g.memory {
		value = fmt.Sprintf("%.0f", s.median)
	}
	sign := "≤"
	if g.atLeast {
		sign = "≥"
	}
	switch {
	case limit == 0:
		return value, true, true
	case g.atLeast && s.median >= limit || !g.atLeast && s.median <= limit:
		return fmt.Sprintf("%s (%s %v)", value, sign, limit), true, true
	}
	return fmt.Sprintf("%s ✗ (%s %v)", value, sign, limit), false, true
}
