package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amudai/amudai-go/bench/report"
	"github.com/amudai/amudai-go/bench/zoo"
	"github.com/amudai/amudai-go/internal/bench/measure"
)

const (
	balanced    = "Balanced"
	high        = "HighCompression"
	minimalSize = "MinimalSize"

	vortexName  = "vortex"
	pyarrowName = "pyarrow parquet zstd"
	lanceName   = "lance"
	ours        = "amudai 2026 "
	opEquals    = measure.OpFilter + "="
	opPrefix    = measure.OpFilter + "prefix"
	opContains  = measure.OpFilter + "contains"
)

// textsOf are the results of columns of the zoo that are held out, or that are not.
func textsOf(results []*measure.Result, held bool) (list []*measure.Result) {
	for _, r := range results {
		name, ok := strings.CutPrefix(r.Set, zooPrefix)
		if c, known := zoo.Find(name); ok && known && c.HeldOut == held {
			list = append(list, r)
		}
	}
	return list
}

// textColumn is a column of the table of texts: a figure as a ratio to one of the base.
type textColumn struct{ title, contender, op string }

var textColumns = []textColumn{
	{"size", ours + balanced, measure.OpSize}, {"Vortex", vortexName, measure.OpSize},
	{"write", ours + balanced, measure.OpWrite}, {"Vortex", vortexName, measure.OpWrite},
	{"scan", ours + balanced, measure.OpScan}, {"Vortex", vortexName, measure.OpScan},
	{"take", ours + balanced, measure.OpTake}, {"Vortex", vortexName, measure.OpTake},
	{"=", ours + balanced, opEquals}, {"prefix", ours + balanced, opPrefix},
	{"contains", ours + balanced, opContains}, {"Vortex", vortexName, opContains},
	{"High size", ours + high, measure.OpSize}, {"write", ours + high, measure.OpWrite}, {"scan", ours + high, measure.OpScan},
	{"Minimal size", ours + minimalSize, measure.OpSize}, {"write", ours + minimalSize, measure.OpWrite}, {"scan", ours + minimalSize, measure.OpScan},
}

// baseOf is the operation of the base that one is compared with: everything but writing with a whole scan.
func baseOf(op string) string {
	if op == measure.OpSize || op == measure.OpWrite {
		return op
	}
	return measure.OpScan
}

// ratio is a figure of a contender over one of the base, 0 if one is not known.
func ratio(r *measure.Result, contender, op, baseOp string) float64 {
	f, b := r.Of(contender), r.Of(baseName)
	if f == nil || b == nil || figure(b, baseOp) == 0 {
		return 0
	}
	return figure(f, op) / figure(b, baseOp)
}

func figure(f *measure.Figures, op string) float64 {
	if op == measure.OpSize {
		return float64(f.Size)
	}
	return f.Median(op)
}

// printTexts writes the figures of columns of texts as a table, and their medians and worst: held-out columns apart.
func printTexts(w io.Writer, results []*measure.Result) {
	for _, held := range []bool{false, true} {
		list, title := textsOf(results, held), "tuned"
		if held {
			title = "held out"
		}
		if len(list) == 0 {
			continue
		}
		columns := slices.DeleteFunc(slices.Clone(textColumns), func(c textColumn) bool { return len(ratiosOf(list, c)) == 0 })
		header, median, worst := table.Row{title, "bytes a value"}, table.Row{"median", ""}, table.Row{"worst", ""}
		for _, c := range columns {
			header = append(header, c.title)
			ratios := ratiosOf(list, c)
			median = append(median, shortRatio(measure.Median(ratios)))
			worst = append(worst, shortRatio(slices.Max(ratios)))
		}
		t := report.Table(header)
		for _, r := range list {
			row := table.Row{strings.TrimPrefix(r.Set, zooPrefix), fmt.Sprintf("%.1f", float64(r.Runs[0].Size)/float64(r.Rows))}
			for _, c := range columns {
				row = append(row, shortRatio(ratio(r, c.contender, c.op, baseOf(c.op))))
			}
			t.AppendRow(row)
		}
		t.AppendRows([]table.Row{median, worst})
		fmt.Fprintf(w, "\n%s\n", t.RenderMarkdown())
	}
}

// ratiosOf are the known figures of a column of the table.
func ratiosOf(list []*measure.Result, c textColumn) (ratios []float64) {
	for _, r := range list {
		if v := ratio(r, c.contender, c.op, baseOf(c.op)); v > 0 {
			ratios = append(ratios, v)
		}
	}
	return ratios
}

func shortRatio(v float64) string {
	switch {
	case v == 0:
		return ""
	case v < 0.0995:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
