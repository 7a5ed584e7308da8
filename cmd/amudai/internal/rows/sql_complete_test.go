package rows

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestComplete completes words with what an engine proposes, and with columns.
func TestComplete(t *testing.T) {
	asked := map[string]int{}
	list := func(question string) []string {
		asked[question]++
		switch {
		case strings.Contains(question, "describe from 'x.shard'"):
			return []string{"origin", "order", "span:name", "Über"}
		case strings.Contains(strings.ToLower(question), "('sel')"):
			return []string{"0 select ", "0 delete "}
		case strings.Contains(question, "'from ''x.s')"):
			return []string{"6 x.shard'"}
		case strings.Contains(question, "two\nse"):
			return []string{"4 select "}
		}
		return nil
	}
	var shown bytes.Buffer
	c := &completer{list: list, show: &shown, columns: map[string][]string{}}
	for _, x := range []struct{ before, line, after, want string }{
		{"", "sel", "", "select "},
		{"", "SEL", "", "select "},
		{"", "from 'x.s", "", "from 'x.shard'"},
		{"", "select ori", " from 'x.shard'", "select origin"},
		{"", "select o", " from 'x.shard'", "select or"},
		{"", "select \"s", " from 'x.shard'", "select \"span:name\""},
		{"", "select \"Ü", " from 'x.shard'", "select \"Über\""},
		{"", "select nothing", "", "select nothing"},
		{"select *\nfrom 'x.shard'\n", "where ord", "", "where order"},
		{"two\n", "se", "", "select "},
	} {
		c.before = x.before
		got, pos, ok := c.complete(x.line+x.after, len(x.line), '\t')
		require.True(t, ok)
		require.Equal(t, x.want+x.after, got)
		require.Equal(t, len(x.want), pos)
	}
	c.before = ""
	require.Empty(t, shown.String())
	got, _, _ := c.complete("select or from 'x.shard'", 9, '\t')
	require.Equal(t, "select or from 'x.shard'", got)
	require.Equal(t, "order  origin\n", shown.String())
	require.Equal(t, 1, asked["select column_name from (describe from 'x.shard')"])
	_, _, ok := c.complete("select", 6, 'x')
	require.False(t, ok)
}
