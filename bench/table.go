package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amudai/amudai-go/bench/report"
	"github.com/amudai/amudai-go/internal/bench/measure"
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
	t := report.Table(header)
	for _, f := range r.Runs {
		row := table.Row{f.Name}
		for _, op := range ops {
			row = append(row, r.Cell(f.Name, op))
		}
		t.AppendRow(row)
	}
	fmt.Fprintf(w, "\n%s: %d rows\n\n%s\n%s", r.Set, r.Rows, t.RenderMarkdown(), note)
}
