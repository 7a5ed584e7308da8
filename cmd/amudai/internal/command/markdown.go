package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

// markdownFormat is a table in Markdown, as GitHub and others show it.
const markdownFormat = "md"

// markdownSink prints a table in Markdown. The first rows determine the widths of its columns.
type markdownSink struct {
	w      io.Writer
	schema *arrow.Schema
	rows   [][]string // up to tableRows, until the header is written
	widths []int      // nil until then
}

// Write implements [table.Sink].
func (s *markdownSink) Write(ctx context.Context, b arrow.RecordBatch) error {
	cells := cellsOf(b)
	for row := range int(b.NumRows()) {
		line := make([]string, len(cells))
		for i, cell := range cells {
			line[i] = markdownCell(cell(row))
		}
		if s.rows = append(s.rows, line); len(s.rows) == tableRows {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// markdownCell is a text that is one cell.
func markdownCell(text string) string {
	text = strings.NewReplacer(`\`, `\\`, "|", `\|`, "\r\n", "<br>", "\n", "<br>").Replace(text)
	return terminal.Printable(text)
}

// flush writes the rows, and the header before the first ones.
func (s *markdownSink) flush() error {
	var b strings.Builder
	fields := s.schema.Fields()
	if s.widths == nil {
		titles, rules := make([]string, len(fields)), make([]string, len(fields))
		s.widths = make([]int, len(fields))
		for i, f := range fields {
			titles[i] = markdownCell(f.Name)
			s.widths[i] = max(3, terminal.Width(titles[i]))
			for _, row := range s.rows {
				s.widths[i] = max(s.widths[i], terminal.Width(row[i]))
			}
			rules[i] = strings.Repeat("-", s.widths[i])
			if isNumber(f.Type) {
				rules[i] = rules[i][1:] + ":"
			}
		}
		s.line(&b, titles)
		s.line(&b, rules)
	}
	for _, row := range s.rows {
		s.line(&b, row)
	}
	s.rows = s.rows[:0]
	_, err := io.WriteString(s.w, b.String())
	return err
}

func (s *markdownSink) line(b *strings.Builder, cells []string) {
	if len(cells) == 0 {
		return
	}
	b.WriteByte('|')
	for i, cell := range cells {
		fmt.Fprintf(b, " %s |", terminal.Pad(cell, s.widths[i], isNumber(s.schema.Field(i).Type)))
	}
	b.WriteByte('\n')
}

// Close implements [table.Sink].
func (s *markdownSink) Close(context.Context) error {
	if s.widths != nil && len(s.rows) == 0 {
		return nil
	}
	return s.flush()
}

// Abort implements [table.Sink]. Printed rows stay.
func (s *markdownSink) Abort(context.Context) error { return nil }
