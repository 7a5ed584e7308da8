package query

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/text/analysis"
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

// Highlights are the words that a tokenizer makes the same as those of a query, and beginnings and words like them.
func TestHighlights(t *testing.T) {
	for _, c := range []struct {
		query, line string
		tokenizers  []analysis.Tokenizer
		want        []string
	}{
		{"running", "Run, runs; runner", nil, nil},
		{"running", "Run, runs; runner", []analysis.Tokenizer{analysis.English}, []string{"Run", "runs"}},
		{"haus NOT tür", "Häuser Tür HAUS", []analysis.Tokenizer{analysis.German}, []string{"Häuser", "HAUS"}},
		{"zurich fine", "in Zürich: ﬁne", []analysis.Tokenizer{analysis.Folded}, []string{"Zürich", "ﬁne"}},
		{"京都 OR カ", "東京都 ｶﾒﾗ カメラ", []analysis.Tokenizer{analysis.Folded}, []string{"京都", "ｶﾒ", "カメ"}},
		{"fialed~ OR blk*", "failed, a blk_1 fail", nil, []string{"failed", "blk_1"[:3]}},
		{"Zu\u0308rich", "Zürich Zu\u0308rich", nil, []string{"Zürich", "Zu\u0308rich"}},
	} {
		q, err := Parse(c.query)
		require.NoError(t, err)
		var got []string
		for _, s := range q.Highlighter(c.tokenizers...).Spans([]byte(c.line)) {
			got = append(got, c.line[s.From:s.To])
		}
		require.Equal(t, c.want, got, c.query)
	}
}
