package buffers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Columns share what may be staged; a few have as much as they want.
func TestStageOf(t *testing.T) {
	before := StageSize{MostStaged, mostBytes, bytestring.BriefBytes, mostDictionary, dictionary.DefaultBudget}
	for _, n := range []int{0, 1, 16, 64, 128, 129, 300, 1000, 2000, 5000, 8192, 10_000, 50_000, 1 << 20} {
		columns := make([]arrowmap.Column, n)
		for i := range columns {
			columns[i].Stored.Type = schema.String
		}
		s := StageOf(columns)
		require.LessOrEqual(t, s.Values, before.Values)
		require.LessOrEqual(t, s.bytes, before.bytes)
		require.Zero(t, s.Values&(s.Values-1))
		require.True(t, 8*n*s.Values <= StagedTogether || s.Values == leastStaged, "%d columns of %d", n, s.Values)
		require.True(t, n*s.bytes <= bytesTogether || s.bytes == leastBytes, "%d columns of %d bytes", n, s.bytes)
		require.True(t, n*s.Brief <= bytesTogether || s.Brief == leastBytes, "%d columns of %d bytes", n, s.Brief)
		require.True(t, n*s.Dictionary <= bytesTogether || s.Dictionary == leastDictionary, "%d columns of %d bytes", n, s.Dictionary)
		require.True(t, n*s.Texts <= bytesTogether || s.Texts == leastDictionary, "%d columns of %d bytes", n, s.Texts)
		if n <= 8 {
			require.Equal(t, StageSize{MostStaged, mostBytes, bytestring.BriefBytes, mostDictionary, dictionary.DefaultBudget}, s)
		}
		before = s
	}
	require.Equal(t, dictionary.DefaultBudget, StageOf(make([]arrowmap.Column, 1000)).Texts, "of columns without texts")
	nested := []arrowmap.Column{{Children: make([]arrowmap.Column, 300)}}
	require.Equal(t, StageOf(make([]arrowmap.Column, 301)), StageOf(nested))
}
