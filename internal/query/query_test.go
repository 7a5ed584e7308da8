package query

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
)

// FuzzQuery parses any text. A query that is accepted is a condition of a table, and can be highlighted.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"a", `"a b"* OR NOT (c* AND "\"\\")`, "NOT NOT a", "((a))", "-> 10.1.2.3", "ß*", "a (b", "Äb~", "ab~2 OR abc~1", "a.b~", "ab~3", "~", "ab~x", "a~b", `a"b`, "AND", strings.Repeat("NOT ", 99) + "a", strings.Repeat("(a OR ", 99)} {
		f.Add(q)
	}
	columns := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true},
	}, nil)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			var mistake *Error
			require.ErrorAs(t, err, &mistake)
			require.LessOrEqual(t, mistake.Pos, len(text))
			require.NotEmpty(t, mistake.Error())
			return
		}
		_, err = filter.Bind(q.Condition([]string{"a", "b"}), columns)
		require.NoError(t, err)
		last := 0
		for _, s := range q.Highlighter().Spans([]byte(text)) {
			require.LessOrEqual(t, last, s.From)
			require.Less(t, s.From, s.To)
			require.LessOrEqual(t, s.To, len(text))
			last = s.To
		}
	})
}
