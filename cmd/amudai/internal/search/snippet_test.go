package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/query"
)

// A snippet is a part of the line of at most so many bytes, with marks where something is left out, and has a text that was searched for if one fits.
func TestSnippet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "needle", "übel", "東京都", "aVeryLongWordThatGoesOnAndOnAndOnWithoutEnd"}), 1, 60).Draw(t, "words")
		line := strings.Join(words, rapid.SampledFrom([]string{" ", "\t", "-"}).Draw(t, "separator"))
		q, err := query.Parse("needle OR übel")
		require.NoError(t, err)
		n := rapid.IntRange(1, 200).Draw(t, "bytes")
		spans := q.Highlighter().Spans([]byte(line))
		got := string(snippet([]byte(line), spans, n))
		part := strings.TrimSuffix(strings.TrimPrefix(got, "… "), " …")
		require.Contains(t, line, part)
		require.True(t, utf8.ValidString(part))
		require.LessOrEqual(t, len(part), n)
		require.Equal(t, len(line) > n, got != line || len(part) < len(line))
		if len(spans) > 0 && n >= len("needle")+8 {
			require.True(t, strings.Contains(part, "needle") || strings.Contains(part, "übel"), "%q of %q", got, line)
		}
	})
}
