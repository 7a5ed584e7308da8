package cast_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/text/cast"
)

// ofSpans is a column of a table of spans.
func ofSpans(field, column string, t arrow.DataType, values string) arrow.Field {
	return arrow.Field{Name: field, Type: t, Metadata: arrow.NewMetadata([]string{arrowutil.ColumnType, arrowutil.ColumnName}, []string{values, column})}
}

// Columns of spans are one if they are for the same attribute and the same type of values, whatever their names are in the files.
func TestUniteSpans(t *testing.T) {
	text, number, binary := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.Binary
	plain := func(name string, t arrow.DataType) arrow.Field { return arrow.Field{Name: name, Type: t} }
	for _, c := range []struct {
		lists [][]arrow.Field
		want  []string
	}{
		{[][]arrow.Field{{ofSpans("a", "a", text, "string")}, {ofSpans("a", "a", number, "int64")}, {ofSpans("a", "a", text, "string"), ofSpans("a#int64", "a", number, "int64")}},
			[]string{"a utf8 string  [0 -1 0]", "a#int64 int64 int64 a [-1 0 1]"}},
		{[][]arrow.Field{{ofSpans("a", "a", text, "string")}, {ofSpans("a", "a", number, "int64"), ofSpans("a#int64", "a#int64", text, "string")}}, // a key that looks like a type
			[]string{"a utf8 string  [0 -1]", "a#int64# int64 int64 a [-1 0]", "a#int64 utf8 string a#int64 [-1 1]"}},
		{[][]arrow.Field{{ofSpans("a", "a", text, "string")}, {ofSpans("a", "a", binary, "string")}}, // strings that are not UTF-8
			[]string{"a binary string  [0 0]"}},
		{[][]arrow.Field{{plain("a", text)}, {ofSpans("a", "a", text, "string")}, {ofSpans("a", "a", number, "int64")}}, // a file that lost its metadata
			[]string{"a utf8   [0 0 -1]", "a#int64 int64 int64 a [-1 -1 0]"}},
		{[][]arrow.Field{{ofSpans("a", "a", number, "int64")}, {plain("a", number), plain("a", text)}, {plain("a", number)}},
			[]string{"a int64   [0 0 0]", "a utf8   [-1 1 -1]"}},
	} {
		columns, err := cast.Unite(c.lists, false)
		require.NoError(t, err)
		var got []string
		for _, u := range columns {
			values, _ := u.Field.Metadata.GetValue(arrowutil.ColumnType)
			name, _ := u.Field.Metadata.GetValue(arrowutil.ColumnName)
			got = append(got, fmt.Sprintln(u.Field.Name, u.Field.Type, values, name, u.In))
		}
		require.Equal(t, len(c.want), len(got), got)
		for i := range got {
			require.Equal(t, c.want[i]+"\n", got[i])
		}
	}
}
