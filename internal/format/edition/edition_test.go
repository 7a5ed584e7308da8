package edition_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/edition"
)

// An edition has the features of all editions before it, so that a row of the table names the first one only.
func TestEditionsAreCumulative(t *testing.T) {
	require.True(t, edition.E2026.Has(edition.Reference))
	require.False(t, edition.Reference.Has(edition.E2026))
	reference, later := edition.Reference.Features(), edition.E2026.Features()
	for _, row := range edition.Table {
		require.True(t, later.Has(row.Feature), row.Name)
		require.Equal(t, row.Edition == edition.Reference, reference.Has(row.Feature), row.Name)
	}
}

func TestNamesOfEditions(t *testing.T) {
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		got, err := edition.Parse(e.String())
		require.NoError(t, err)
		require.Equal(t, e, got)
	}
	_, err := edition.Parse("2025")
	require.ErrorContains(t, err, "2026 or reference")
}

// A code leads to the feature that has it, and names of features are known.
func TestTable(t *testing.T) {
	for i, row := range edition.Table {
		require.Equal(t, edition.Feature(i), row.Feature, row.Name)
		set, others := edition.ParseSet("no-such-feature," + row.Name)
		require.Equal(t, edition.Only(row.Feature), set)
		require.Equal(t, []string{"no-such-feature"}, others)
		f, ok := edition.OfCode(row.Code)
		require.Equal(t, row.Code != 0, ok, row.Name)
		if ok {
			require.Equal(t, row.Feature, f)
		}
	}
	all := edition.E2026.Features()
	set, others := edition.ParseSet(all.String())
	require.Equal(t, all, set)
	require.Empty(t, others)
}
