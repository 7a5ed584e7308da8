package pages

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/text/values"
)

// Row reads a row: the names of its columns, its values, and a JSON object of them. Without such a row, names is nil.
func Row(ctx context.Context, v *View, row int64) (names, vals []string, object string, err error) {
	err = v.cursor(nil, Rows, row).walk(ctx, row, func(b arrow.RecordBatch, _ int64) (bool, error) {
		names = []string{}
		for i, col := range b.Columns() {
			names = append(names, terminal.Printable(b.ColumnName(i)))
			s, ok := Whole(col, 0)
			if !ok {
				s = NullText
			}
			vals = append(vals, s)
		}
		whole := array.RecordToStructArray(b)
		defer whole.Release()
		object = string(values.JSON(whole)(nil, 0))
		return true, nil
	})
	return names, vals, object, err
}
