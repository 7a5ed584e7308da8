package table_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// TestMisfitRow reads some rows in a type that one value does not fit: its row is counted in the file, not among these.
func TestMisfitRow(t *testing.T) {
	from := filepath.Join(t.TempDir(), "n.csv")
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintln(&text, map[bool]int{true: 1000, false: i}[i == 50])
	}
	require.NoError(t, os.WriteFile(from, []byte("n\n"+text.String()), 0o644))
	for _, extension := range []string{".parquet", ".amudai.shard", ".arrow"} {
		name := strings.TrimSuffix(from, ".csv") + extension
		copyTable(t, from, name)
		in, err := table.OpenWith(t.Context(), table.OpenOptions{Schema: []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int8}}}, name)
		require.NoError(t, err)
		for _, o := range []table.ScanOptions{
			{}, {Rows: []table.RowRange{{From: 10, To: 20}, {From: 40, To: 60}}}, {Filter: filter.Ge(filter.Col("n"), 40)},
		} {
			if extension == ".arrow" && !o.Filter.IsZero() {
				continue // it is cast before the filter
			}
			for _, err := range in.Scan(t.Context(), o) {
				if err == nil {
					continue
				}
				var misfit *provider.ValueError
				require.ErrorAs(t, err, &misfit)
				require.Equal(t, int64(51), misfit.Row, "%s %+v", extension, o)
			}
		}
		require.NoError(t, in.Close())
	}
}
