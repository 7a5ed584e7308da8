package pages

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/text/values"
)

// Row reads a row: the names of its columns, its values, and a JSON object of them. Without such a row, names is nil.
func Row(ctx context.Context, v *View, row int64) (names, vals []string, object string, err error) {
	c := v.cursor(nil, Rows, row)
	defer func() { err = errors.Join(err, c.close()) }()
	for {
		b, first, err := c.next(ctx)
		if err != nil || b == nil {
			return nil, nil, "", err
		}
		if row >= c.row {
			b.Release()
			continue
		}
		names, vals, object = rowText(b, int(row-first))
		b.Release()
		return names, vals, object, nil
	}
}

// rowText is a row of a batch as texts, and as a JSON object.
func rowText(b arrow.RecordBatch, row int) (names, vals []string, object string) {
	names = []string{}
	var j strings.Builder
	j.WriteByte('{')
	for i, col := range b.Columns() {
		names = append(names, terminal.Printable(b.ColumnName(i)))
		s, ok := Whole(col, row)
		if !ok {
			s = NullText
		}
		vals = append(vals, s)
		if i > 0 {
			j.WriteByte(',')
		}
		key, _ := json.Marshal(b.ColumnName(i)) // a string has no error
		j.Write(key)
		j.WriteByte(':')
		j.Write(values.JSON(col)(nil, row))
	}
	j.WriteByte('}')
	return names, vals, j.String()
}
