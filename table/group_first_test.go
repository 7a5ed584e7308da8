package table_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/table"
)

// The first of many groups are those of all groups in that order, whatever decides the order: equal results, nulls, results of other types.
func TestFirstGroups(t *testing.T) {
	const groups = 70_000 // more than a batch of results
	r := rand.New(rand.NewPCG(7, 3))
	var b strings.Builder
	b.WriteString("g,n,x,s\n")
	for i := range 90_000 {
		n, x := fmt.Sprint(r.IntN(600)-300), fmt.Sprint(float64(r.IntN(4000)-2000)/8)
		if r.IntN(5) == 0 {
			n, x = "", ""
		}
		fmt.Fprintf(&b, "%d,%s,%s,t%d\n", i*7919%groups, n, x, r.IntN(50))
	}
	location := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(location, []byte(b.String()), 0o600))
	tab, err := table.Open(t.Context(), location)
	require.NoError(t, err)
	const limit = 12
	first := func(sort, having string, limit, most int64) (rows []string) {
		o := table.GroupOptions{By: "g", Aggregates: "count() as c, sum(n) as n, avg(x) as x, max(s) as s", Sort: sort, Having: having, Limit: limit, Memory: 8 << 20}
		for b, err := range tab.Group(t.Context(), o) {
			require.NoError(t, err)
			for i := range int(min(b.NumRows(), most-int64(len(rows)))) {
				var row []string
				for _, c := range b.Columns() {
					row = append(row, c.ValueStr(i))
				}
				rows = append(rows, strings.Join(row, " "))
			}
		}
		return rows
	}
	for _, sort := range []string{"-c", "-c,-g", "n", "-x,n", "s", "-g"} {
		for _, having := range []string{"", "n > 20"} {
			require.Equal(t, first(sort, having, 0, limit), first(sort, having, limit, limit), "%s %s", sort, having)
		}
	}
}
