package search

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table"
)

// Line is a row of an input.
type Line struct {
	Row   int64 // from 0
	Match bool  // it is no context
	Text  []byte
	Score float64 // of a ranked search
}

// chunkLines and chunkBytes bound the lines that are sent together.
const (
	chunkLines = 256
	chunkBytes = 64 << 10
)

// sender makes lines of rows, and sends them.
type sender struct {
	ctx   context.Context
	out   chan<- []Line
	json  bool
	lines []Line
	room  []byte // of the texts of lines, and of lines sent before
}

// rows sends rows.
func (s *sender) rows(f table.Found) error {
	c := cellsOf(f, s.json, false)
	for row, position := range f.Positions {
		from := len(s.room)
		s.room = c(s.room, row)
		s.lines = append(s.lines, Line{Row: position, Match: f.Context == nil || !f.Context[row], Text: s.room[from:len(s.room):len(s.room)]})
		if len(s.lines) == chunkLines || len(s.room) >= chunkBytes {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return s.flush()
}

func (s *sender) flush() error {
	if len(s.lines) == 0 {
		return s.ctx.Err()
	}
	select {
	case s.out <- s.lines:
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	s.lines, s.room = make([]Line, 0, len(s.lines)), make([]byte, 0, len(s.room)) // the next ones are about as many
	return nil
}

// cells appends the values of a row: as JSON, or separated by tabs.
type cells func(dst []byte, row int) []byte

// cellsOf are the columns of a batch. Nulls are empty, or with skip no value at all.
func cellsOf(b arrow.RecordBatch, json, skip bool) cells {
	columns := make([]values.Appender, b.NumCols())
	for i, c := range b.Columns() {
		columns[i] = appender(c, json)
	}
	if !json {
		return func(dst []byte, row int) []byte {
			begun := false
			for i, c := range columns {
				null := values.IsNull(b.Column(i), row)
				if null && skip {
					continue
				}
				if begun {
					dst = append(dst, '\t')
				}
				if begun = true; !null {
					dst = c(dst, row)
				}
			}
			return dst
		}
	}
	return func(dst []byte, row int) []byte {
		for i, c := range columns {
			dst = append(dst, "{,"[min(i, 1)])
			dst = append(jsontext.AppendString(dst, b.ColumnName(i)), ':')
			if values.IsNull(b.Column(i), row) {
				dst = append(dst, "null"...)
			} else {
				dst = c(dst, row)
			}
		}
		return append(dst, '}')
	}
}

// appender appends the values of a column. Bytes are shown as text, as those of logs are.
func appender(c arrow.Array, json bool) values.Appender {
	b, isBytes := c.(*array.Binary)
	switch {
	case isBytes && json:
		return func(dst []byte, i int) []byte {
			return jsontext.AppendString(dst, strings.ToValidUTF8(string(b.Value(i)), "\ufffd"))
		}
	case isBytes:
		return func(dst []byte, i int) []byte { return append(dst, b.Value(i)...) }
	case json:
		return values.JSON(c)
	}
	return values.Text(c)
}
