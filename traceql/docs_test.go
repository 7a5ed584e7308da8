package traceql_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/traceql"
)

// Every row of the tables of docs/traceql.md has an example, which is a case of TestLanguage, or is refused.
func TestDocumentedQueries(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "docs", "traceql.md"))
	require.NoError(t, err)
	text, refused, ok := strings.Cut(string(content), "## What is refused")
	require.True(t, ok)
	cell := regexp.MustCompile("`((?:[^`]|\\\\`)+)` \\|$")
	n := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| ---") || strings.HasSuffix(line, "| example |") || strings.HasSuffix(line, "| the same |") {
			continue
		}
		found := cell.FindStringSubmatch(line)
		require.NotNil(t, found, "the row has no example: %s", line)
		query := strings.ReplaceAll(found[1], `\|`, `|`)
		tested := slices.ContainsFunc(slices.Concat(language, seriesLanguage), func(c struct{ query, want string }) bool { return c.query == query })
		require.True(t, tested, "%s is no case of TestLanguage or TestSeriesLanguage", query)
		n++
	}
	require.Greater(t, n, 60)
	first := regexp.MustCompile("^\\| `([^`]+)` \\|.*$")
	for line := range strings.Lines(refused) {
		if found := first.FindStringSubmatch(strings.TrimSpace(line)); found != nil {
			_, err := traceql.Parse(strings.ReplaceAll(found[1], `\|`, `|`))
			require.Error(t, err, found[1])
		}
	}
}
