package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

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
