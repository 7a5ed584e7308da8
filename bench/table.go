package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// print writes the figures as a Markdown table: the base in its own units, all
// others as ratios to it, with the spread of the rounds.
func (r *result) print(w io.Writer) {
	t := table.NewWriter()
	header := table.Row{r.Set, "size"}
	var right []table.ColumnConfig
	for i, op := range r.Ops {
		header = append(header, op)
		right = append(right, table.ColumnConfig{Number: i + 3, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(append(right, table.ColumnConfig{Number: 2, Align: text.AlignRight, AlignHeader: text.AlignRight}))
	t.AppendHeader(header)
	base := r.Runs[0]
	for i, f := range r.Runs {
		row := table.Row{f.Name, fmt.Sprintf("%.3f", float64(f.Size)/float64(base.Size))}
		if i == 0 {
			row[1] = fmt.Sprintf("%.1f MB", float64(f.Size)/1e6)
		}
		for _, op := range r.Ops {
			row = append(row, r.cell(f, base, op, i == 0))
		}
		t.AppendRow(row)
	}
	fmt.Fprintf(w, "\n%s: %d rows\n\n%s\n", r.Set, r.Rows, t.RenderMarkdown())
}

func (r *result) cell(f, base *figures, op string, isBase bool) string {
	v := f.Values[op]
	if len(v) == 0 || base.median(op) == 0 {
		return "-"
	}
	if isBase || r.Unit == "MiB" {
		return fmt.Sprintf("%.3f %s", f.median(op), r.Unit)
	}
	b := base.median(op)
	return fmt.Sprintf("%.3f (%.2f–%.2f)", f.median(op)/b, slices.Min(v)/b, slices.Max(v)/b)
}
