package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amudai/amudai-go/bench/zoo"
	"github.com/amudai/amudai-go/internal/bench/measure"
)

const (
	vortexName    = "vortex"
	compactName   = "vortex compact"
	light         = "MinimalCompression"
	ours          = "amudai 2026 "
	opEquals      = measure.OpFilter + "="
	opPrefix      = measure.OpFilter + "prefix"
	opContains    = measure.OpFilter + "contains"
	manyValues    = 100_000 // from which the limits of long columns hold
	mostOfColumns = 0.8     // that must not be larger than Parquet
	overEntropy   = 1.02    // as small as random values can be
)

// textGoal limits a figure of a contender to a multiple of that of another one.
type textGoal struct {
	name, profile, op string
	versus            string // the other contender
	limit             float64
	share             float64 // of the columns that must reach it, 0 for all
}

// textGoals are the limits of long columns, shortGoals of those of fewer values.
var textGoals = []textGoal{
	{"size ≤ Vortex", balanced, measure.OpSize, vortexName, 1, 0},
	{"size ≤ Parquet on 80 %", balanced, measure.OpSize, baseName, 1, mostOfColumns},
	{"size ≤ 1.15 Parquet", balanced, measure.OpSize, baseName, 1.15, 0},
	{"scan to views ≤ Vortex", balanced, measure.OpViews, vortexName, 1, 0},
	{"scan ≤ 0.25 Parquet", balanced, measure.OpScan, baseName, 0.25, 0},
	{"write ≤ 0.6 Parquet", balanced, measure.OpWrite, baseName, 0.6, 0},
	{"= ≤ 0.15 Parquet's scan", balanced, opEquals, baseName, 0.15, 0},
	{"prefix ≤ 0.15 Parquet's scan", balanced, opPrefix, baseName, 0.15, 0},
	{"contains ≤ 0.15 Parquet's scan", balanced, opContains, baseName, 0.15, 0},
	{"size ≤ Vortex compact", high, measure.OpSize, compactName, 1, 0},
	{"size ≤ 0.9 Parquet", high, measure.OpSize, baseName, 0.9, 0},
	{"scan to views ≤ Vortex compact", high, measure.OpViews, compactName, 1, 0},
	{"write ≤ 1.2 Parquet", high, measure.OpWrite, baseName, 1.2, 0},
	{"size ≤ 0.8 Parquet", minimalSize, measure.OpSize, baseName, 0.8, 0},
	{"scan ≤ 0.6 Parquet", minimalSize, measure.OpScan, baseName, 0.6, 0},
	{"write ≤ 3 Parquet", minimalSize, measure.OpWrite, baseName, 3, 0},
}

var shortGoals = []textGoal{
	{"size ≤ 1.05 Parquet", balanced, measure.OpSize, baseName, 1.05, 0},
	{"scan ≤ 0.4 Parquet", balanced, measure.OpScan, baseName, 0.4, 0},
	{"write ≤ 0.8 Parquet", balanced, measure.OpWrite, baseName, 0.8, 0},
}

// printZoo writes the figures of columns of texts as tables, and the limits that they miss: held-out columns apart.
func printZoo(w io.Writer, results []*measure.Result) {
	rows := map[int64][]*measure.Result{}
	for _, r := range results {
		if strings.HasPrefix(r.Set, zooPrefix) || strings.HasPrefix(r.Set, smallPrefix) {
			n := r.Rows
			if strings.HasPrefix(r.Set, smallPrefix) {
				n = 0
			}
			rows[n] = append(rows[n], r)
		}
	}
	for n, list := range rows {
		goals := textGoals
		if n < manyValues {
			goals = shortGoals
		}
		if n == 0 {
			printTextGoals(w, "small tables", goals, list)
			continue
		}
		for _, held := range []bool{false, true} {
			title, some := fmt.Sprintf("%d values, tuned", n), heldOut(list, held)
			if held {
				title = fmt.Sprintf("%d values, held out", n)
			}
			if len(some) > 0 {
				printTexts(w, title, some)
				printTextGoals(w, title, goals, some)
			}
		}
	}
}

// heldOut are the results of columns that are held out, or that are not.
func heldOut(list []*measure.Result, held bool) (out []*measure.Result) {
	for _, r := range list {
		if c, _ := zoo.Find(strings.TrimPrefix(r.Set, zooPrefix)); c.HeldOut == held {
			out = append(out, r)
		}
	}
	return out
}

// textColumn is a column of a table of texts: a figure as a ratio to one of the base.
type textColumn struct{ title, contender, op string }

// textTables are the columns of the tables of texts: the default profile beside Vortex, and the other profiles.
var textTables = [][]textColumn{
	{
		{"size", ours + balanced, measure.OpSize}, {"Vortex", vortexName, measure.OpSize},
		{"write", ours + balanced, measure.OpWrite}, {"Vortex", vortexName, measure.OpWrite},
		{"scan", ours + balanced, measure.OpScan}, {"reuse", ours + balanced, measure.OpReuse},
		{"views", ours + balanced, measure.OpViews}, {"Vortex", vortexName, measure.OpScan},
		{"take", ours + balanced, measure.OpTake}, {"Vortex", vortexName, measure.OpTake},
		{"=", ours + balanced, opEquals}, {"prefix", ours + balanced, opPrefix},
		{"contains", ours + balanced, opContains}, {"Vortex", vortexName, opContains},
	},
	{
		{"High size", ours + high, measure.OpSize}, {"Vortex compact", compactName, measure.OpSize},
		{"High write", ours + high, measure.OpWrite},
		{"High views", ours + high, measure.OpViews}, {"Vortex compact scan", compactName, measure.OpScan},
		{"Minimal size", ours + minimalSize, measure.OpSize}, {"write", ours + minimalSize, measure.OpWrite}, {"scan", ours + minimalSize, measure.OpScan},
		{"Light size", ours + light, measure.OpSize}, {"write", ours + light, measure.OpWrite}, {"scan", ours + light, measure.OpScan},
	},
}

// baseOf is the operation of the base that an operation is compared with: everything but writing with a whole scan.
func baseOf(op string) string {
	if op == measure.OpSize || op == measure.OpWrite {
		return op
	}
	return measure.OpScan
}

// ratio is a figure of a contender over that of another one, 0 if one is not known.
func ratio(r *measure.Result, contender, op, versus, base string) float64 {
	f, b := r.Of(contender), r.Of(versus)
	if f == nil || b == nil || figure(b, base) == 0 {
		return 0
	}
	return figure(f, op) / figure(b, base)
}

func figure(f *measure.Figures, op string) float64 {
	if op == measure.OpSize {
		return float64(f.Size)
	}
	return f.Median(op)
}

func printTexts(w io.Writer, title string, list []*measure.Result) {
	for _, columns := range textTables {
		columns = slices.DeleteFunc(slices.Clone(columns), func(c textColumn) bool {
			return !slices.ContainsFunc(list, func(r *measure.Result) bool { return ratio(r, c.contender, c.op, baseName, baseOf(c.op)) > 0 })
		})
		if len(columns) == 0 {
			continue
		}
		header := table.Row{title, "bytes a value"}
		for _, c := range columns {
			header = append(header, c.title)
		}
		t := newTable(header)
		for _, r := range list {
			row := table.Row{strings.TrimPrefix(r.Set, zooPrefix), fmt.Sprintf("%.1f", float64(r.Runs[0].Size)/float64(r.Rows))}
			for _, c := range columns {
				row = append(row, shortRatio(ratio(r, c.contender, c.op, baseName, baseOf(c.op))))
			}
			t.AppendRow(row)
		}
		fmt.Fprintf(w, "\n%s\n", t.RenderMarkdown())
	}
}

func shortRatio(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 0.0995:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// atEntropy reports whether a column of random values is as small as it can be.
func atEntropy(r *measure.Result, contender string) bool {
	c, _ := zoo.Find(strings.TrimPrefix(r.Set, zooPrefix))
	return figure(r.Of(contender), measure.OpSize)*8 <= overEntropy*c.Entropy*float64(r.Rows)
}

// printTextGoals lists the columns that miss a limit, the worst first.
func printTextGoals(w io.Writer, title string, goals []textGoal, list []*measure.Result) {
	t := newTable(table.Row{title, "profile", "reached", "missed by"})
	for _, g := range goals {
		known, missed := 0, map[string]float64{}
		for _, r := range list {
			v := ratio(r, ours+g.profile, g.op, g.versus, baseOf(g.op))
			if v > 0 {
				known++
			}
			if v > g.limit && !(g.op == measure.OpSize && atEntropy(r, ours+g.profile)) {
				missed[strings.TrimPrefix(strings.TrimPrefix(r.Set, zooPrefix), smallPrefix)] = v
			}
		}
		if known == 0 {
			continue
		}
		sign := ""
		if float64(known-len(missed)) < float64(known) && (g.share == 0 || float64(known-len(missed)) < g.share*float64(known)) {
			sign = " ✗"
		}
		var names []string
		for name := range missed {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { return int(1e6 * (missed[b] - missed[a])) })
		for i, name := range names {
			names[i] = name + " " + shortRatio(missed[name])
		}
		t.AppendRow(table.Row{g.name, g.profile, fmt.Sprintf("%d of %d%s", known-len(missed), known, sign), strings.Join(names, ", ")})
	}
	fmt.Fprintf(w, "\n%s\n", t.RenderMarkdown())
}
