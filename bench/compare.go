package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amudai/amudai-go/internal/measure"
)

// A ratio that changed by less than this did not change.
const (
	sizeNoise = 0.001
	timeNoise = 0.05
)

// printComparison lists the ratios that differ between two runs by more than
// noise: their medians differ, and their spreads do not touch. It gives how many it
// has compared.
func printComparison(w io.Writer, before, after []*result) int {
	t := newTable(table.Row{"changed", "figure", "before", "after", "after/before"})
	figures, better, worse := 0, 0, 0
	for _, now := range after {
		at := slices.IndexFunc(before, func(r *result) bool { return r.Set == now.Set && r.Unit == now.Unit })
		if at < 0 {
			continue
		}
		for _, f := range now.Runs {
			for _, op := range append([]string{opSize}, now.Ops...) {
				x, y := before[at].stat(f.Name, op, baseName), now.stat(f.Name, op, baseName)
				if !x.known || !y.known || f.Name == baseName && now.Unit == measure.Seconds {
					continue
				}
				figures++
				if !differ(x, y, op) {
					continue
				}
				if (y.median < x.median) != (op == opScan22 || op == opWrite22) {
					better++
				} else {
					worse++
				}
				t.AppendRow(table.Row{now.Set + ", " + f.Name, op, x, y, fmt.Sprintf("%.2f", y.median/x.median)})
			}
		}
	}
	fmt.Fprintf(w, "%d figures, %d better, %d worse\n", figures, better, worse)
	if better+worse > 0 {
		fmt.Fprintf(w, "\n%s\n", t.RenderMarkdown())
	}
	return figures
}

// differ tells whether two figures are different.
func differ(x, y stat, op string) bool {
	noise := timeNoise
	if op == opSize {
		noise = sizeNoise
	}
	change := y.median/x.median - 1
	return (change > noise || change < -noise) && (x.most < y.least || y.most < x.least)
}
