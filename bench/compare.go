package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amudai/amudai-go/bench/report"
	"github.com/amudai/amudai-go/internal/bench/measure"
)

// A ratio that changes by less than this counts as unchanged.
const (
	sizeNoise = 0.001
	timeNoise = 0.05
)

// printComparison lists the ratios that differ between two runs by more than noise: their
// medians differ, and their spreads do not overlap. It returns the number of ratios that it
// compared.
func printComparison(w io.Writer, before, after []*measure.Result) int {
	t := report.Table(table.Row{"changed", "figure", "before", "after", "after/before"})
	figures, better, worse := 0, 0, 0
	for _, now := range after {
		at := slices.IndexFunc(before, func(r *measure.Result) bool { return r.Set == now.Set })
		if at < 0 {
			continue
		}
		for _, f := range now.Runs {
			for _, op := range append([]string{measure.OpSize}, now.Ops...) {
				x, y := before[at].Stat(f.Name, op, baseName), now.Stat(f.Name, op, baseName)
				if !x.Known || !y.Known || f.Name == baseName {
					continue
				}
				figures++
				if !differ(x, y, op) {
					continue
				}
				if (y.Median < x.Median) != measure.IsShare(op) {
					better++
				} else {
					worse++
				}
				t.AppendRow(table.Row{now.Set + ", " + f.Name, op, x, y, fmt.Sprintf("%.2f", y.Median/x.Median)})
			}
		}
	}
	fmt.Fprintf(w, "%d figures, %d better, %d worse\n", figures, better, worse)
	if better+worse > 0 {
		fmt.Fprintf(w, "\n%s\n", t.RenderMarkdown())
	}
	return figures
}

// differ reports whether two figures are different.
func differ(x, y measure.Stat, op string) bool {
	noise := timeNoise
	if op == measure.OpSize {
		noise = sizeNoise
	}
	change := y.Median/x.Median - 1
	return (change > noise || change < -noise) && (x.Most < y.Least || y.Most < x.Least)
}
