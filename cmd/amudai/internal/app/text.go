package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// NullText is null in a table for people.
const NullText = "·"

const (
	tableRows = 1000 // rows of one table: widths are theirs
	cellWidth = 40   // most of a cell on a terminal
)

// textSink prints rows for people, up to tableRows of them together.
type textSink struct {
	schema *arrow.Schema
	out    provider.Output
	w      *storage.IOWriter // to out
	print  func(rows [][]string) error
	rows   [][]string
	begun  bool // some rows are printed
}

func newSink(out provider.Output, s *arrow.Schema) *textSink {
	return &textSink{schema: s, out: out, w: &storage.IOWriter{Writer: out}}
}

// Write implements [provider.Sink].
func (s *textSink) Write(ctx context.Context, b arrow.RecordBatch) error {
	cells := cellsOf(b)
	for row := range int(b.NumRows()) {
		line := make([]string, len(cells))
		for i, cell := range cells {
			line[i] = cell(row)
		}
		if s.rows = append(s.rows, line); len(s.rows) == tableRows {
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (s *textSink) flush(ctx context.Context) error {
	s.w.Context = ctx
	err := s.print(s.rows)
	s.rows, s.begun = s.rows[:0], true
	return err
}

// Close implements [provider.Sink].
func (s *textSink) Close(ctx context.Context) error {
	if len(s.rows) > 0 || !s.begun && s.schema.NumFields() > 0 {
		if err := s.flush(ctx); err != nil {
			return errors.Join(err, s.out.Abort(context.WithoutCancel(ctx)))
		}
	}
	return s.out.Publish(ctx)
}

// Abort implements [provider.Sink]. Rows that were printed to stdout stay.
func (s *textSink) Abort(ctx context.Context) error { return s.out.Abort(ctx) }

// cellsOf are functions that return the texts of the columns of a row, for people.
func cellsOf(b arrow.RecordBatch) []func(row int) string {
	cells := make([]func(int) string, b.NumCols())
	for i, c := range b.Columns() {
		appendText := values.TextForPeople(c)
		var buf []byte
		cells[i] = func(row int) string {
			if values.IsNull(c, row) {
				return NullText
			}
			buf = appendText(buf[:0], row)
			return string(buf)
		}
	}
	return cells
}

func isNumber(t arrow.DataType) bool {
	id := t.ID()
	return arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id)
}

// newTable prints tables that fit a screen, each with its header.
func newTable(out provider.Output, schema *arrow.Schema, screen terminal.Screen) *textSink {
	s := newSink(out, schema)
	s.print = func(rows [][]string) error {
		t := terminal.NewTable()
		t.Widest = cellWidth
		for _, f := range schema.Fields() {
			if isNumber(f.Type) {
				t.Numbers(f.Name)
			} else {
				t.Text(f.Name)
			}
		}
		for _, row := range rows {
			t.Texts(row...)
		}
		var b bytes.Buffer
		screen.Out = &b
		screen.TableOr(t, "", "--columns chooses")
		_, err := s.w.Write(b.Bytes())
		return err
	}
	return s
}

// newMarkdown prints a table as GitHub and others show it. The first rows determine the widths of its columns.
func newMarkdown(out provider.Output, schema *arrow.Schema) *textSink {
	s := newSink(out, schema)
	var widths []int
	s.print = func(rows [][]string) error {
		for _, row := range rows {
			for i := range row {
				row[i] = markdownCell(row[i])
			}
		}
		if widths == nil {
			titles, rules := make([]string, schema.NumFields()), make([]string, schema.NumFields())
			widths = make([]int, len(titles))
			for i, f := range schema.Fields() {
				titles[i] = markdownCell(f.Name)
				widths[i] = max(3, terminal.Width(titles[i]))
				for _, row := range rows {
					widths[i] = max(widths[i], terminal.Width(row[i]))
				}
				rules[i] = strings.Repeat("-", widths[i])
				if isNumber(f.Type) {
					rules[i] = rules[i][1:] + ":"
				}
			}
			rows = append([][]string{titles, rules}, rows...)
		}
		var b strings.Builder
		for _, row := range rows {
			for i, cell := range row {
				fmt.Fprintf(&b, "| %s ", terminal.Pad(cell, widths[i], isNumber(schema.Field(i).Type)))
			}
			if len(row) > 0 {
				b.WriteString("|\n")
			}
		}
		_, err := io.WriteString(s.w, b.String())
		return err
	}
	return s
}

// markdownCell is a text that is one cell.
func markdownCell(text string) string {
	text = strings.NewReplacer(`\`, `\\`, "|", `\|`, "\r\n", "<br>", "\n", "<br>").Replace(text)
	return terminal.Printable(text)
}
