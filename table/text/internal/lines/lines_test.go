package lines_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/lines"
)

func TestLines(t *testing.T) {
	src := "one\r\n\ntwo, \"three\"\nżółw"
	rows := tabletest.MustRead(t, lines.New(lines.Options{}), src, provider.ReadOptions{BatchRows: 2})
	require.Equal(t, "line: utf8 not null\n", text.Schema(rows.Schema()))
	require.Equal(t, "one\n\ntwo, \"three\"\nżółw\n", tabletest.Write(t, lines.New(lines.Options{}), rows))
	var said tabletest.Notices
	rows = tabletest.MustRead(t, lines.New(lines.Options{}), "a\xff\nb\n", provider.ReadOptions{Notice: said.Add})
	require.Equal(t, "line: binary not null\n", text.Schema(rows.Schema()))
	require.Equal(t, "a\xff\nb\n", tabletest.Write(t, lines.New(lines.Options{}), rows))
	require.Len(t, said, 1)
	_, err := tabletest.Read(t, lines.New(lines.Options{Text: provider.TextOptions{SampleBytes: 10}}), tabletest.Input(strings.Repeat("x\n", 50)+"\xff\n"), provider.ReadOptions{})
	require.EqualError(t, err, `column "line": "\xff" is not valid UTF-8 (line 51 of in)`)
	var out tabletest.Output
	_, err = lines.New(lines.Options{}).Create(t.Context(), &out, arrow.NewSchema(tabletest.Fields(t, "a:utf8,b:utf8"), nil), provider.WriteOptions{})
	require.ErrorContains(t, err, "one column, not of 2")
}
