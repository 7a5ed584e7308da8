// Package report makes the tables of the benchmark.
package report

import (
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table is a table with all columns but the first aligned to the right.
func Table(header table.Row) table.Writer {
	t := table.NewWriter()
	var right []table.ColumnConfig
	for i := range header[1:] {
		right = append(right, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	t.AppendHeader(header)
	return t
}
