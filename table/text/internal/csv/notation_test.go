package csv_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/csv"
)

// TestVersions keeps numbers as text whose notation may matter: versions, and names such as 1E5. Prices are numbers, with a notice of
// zeros that these do not keep.
func TestVersions(t *testing.T) {
	const asText, asNumbers = "is kept as text", "without zeros at the end"
	for values, want := range map[string]struct{ schema, notice string }{
		"1.9 1.10":             {"v: utf8\n", asText},
		"1.1 1.10 2":           {"v: utf8\n", asText},
		"1E5 2E5":              {"v: utf8\n", asText},
		"100 1e5":              {"v: utf8\n", asText},
		"5.00 12.50 0.99":      {"v: float64\n", asNumbers},
		"5 12.50 0.99":         {"v: float64\n", asNumbers},
		"1.5 2.50 3.05":        {"v: float64\n", asNumbers},
		"1.0 2.0":              {"v: float64\n", ""},
		"1.5 2.25 3":           {"v: float64\n", ""},
		"1e+05 2e-05":          {"v: float64\n", ""},
		"1.50e+05 2e5 6.0E-10": {"v: float64\n", ""},
		"10 20":                {"v: int64\n", ""},
	} {
		src := "v\n" + strings.ReplaceAll(values, " ", "\n") + "\n"
		var said tabletest.Notices
		got := tabletest.MustRead(t, csv.New(csv.Options{}), src, provider.ReadOptions{Notice: said.Add})
		require.Equal(t, want.schema, text.Schema(got.Schema()), values)
		if want.notice == "" {
			require.Empty(t, said, values)
			continue
		}
		require.Len(t, said, 1, values)
		require.Contains(t, said[0], want.notice, values)
		kept := tabletest.MustRead(t, csv.New(csv.Options{}), src, provider.ReadOptions{Schema: tabletest.Fields(t, "v:utf8")})
		require.Equal(t, src, tabletest.Write(t, csv.New(csv.Options{}), kept))
	}
	// A value behind the sample does not change silently, either.
	few := csv.New(csv.Options{Text: provider.TextOptions{SampleRows: 2}})
	for late, want := range map[string]string{"1.10": `"1.10" has a zero at its end, which a number would lose`, "1E5": `"1E5" may be a name as well as a number`} {
		_, err := tabletest.Read(t, few, tabletest.Input("v\n1.8\n1.9\n"+late+"\n"), provider.ReadOptions{})
		require.ErrorContains(t, err, want)
		var v *provider.ValueError
		require.ErrorAs(t, err, &v)
		require.True(t, v.Inferred)
	}
	require.EqualValues(t, 3, tabletest.MustRead(t, few, "v\n1.80\n1.9\n1.10\n", provider.ReadOptions{Schema: tabletest.Fields(t, "v:float64")}).NumRows())
}
