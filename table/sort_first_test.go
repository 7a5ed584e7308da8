package table_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table"
)

// The first rows of a sort are those of the whole sort: with equal values, nulls and NaN, other keys, conditions, parts of the rows, and of several files.
func TestFirstRows(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 3))
	dir := t.TempDir()
	var shards, parquets []string
	row := 0
	for part, rows := range []int{9000, 1, 3000} {
		var b strings.Builder
		b.WriteString("id,few,many,n,x,d,flag\n")
		for range rows {
			v := []string{fmt.Sprint(row), fmt.Sprintf("kind %d", r.IntN(3)), fmt.Sprintf("%08x and a rest that is long", r.IntN(1<<20)), fmt.Sprint(r.IntN(40) - 20),
				fmt.Sprint(float64(r.IntN(4000)-2000) / 8), fmt.Sprintf("2024-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28)), fmt.Sprint(r.IntN(2) == 0)}
			for i := range v[1:] {
				if r.IntN(9) == 0 {
					v[1+i] = ""
				}
			}
			if r.IntN(7) == 0 {
				v[4] = []string{"NaN", "Inf", "-Inf"}[r.IntN(3)]
			}
			b.WriteString(strings.Join(v, ",") + "\n")
			row++
		}
		text := filepath.Join(dir, fmt.Sprintf("%d.csv", part))
		require.NoError(t, os.WriteFile(text, []byte(b.String()), 0o600))
		shards = append(shards, filepath.Join(dir, fmt.Sprintf("%d.amudai.shard", part)))
		parquets = append(parquets, filepath.Join(dir, fmt.Sprintf("%d.parquet", part)))
		copyTyped(t, text, shards[part], "id:int64,few:string,many:string,n:int16,x:float64,d:date32,flag:bool")
		copyTyped(t, text, parquets[part], "id:int64,few:string,many:string,n:int16,x:float64,d:date32,flag:bool")
	}
	condition, err := filter.Parse("n > -12 and id % 5 <> 0")
	require.NoError(t, err)
	for _, locations := range [][]string{shards, parquets, shards[:1]} {
		tab := open(t, locations...)
		for _, by := range []string{"few", "-few", "many", "-many", "n", "-n", "x", "-x", "d", "-d", "flag", "-flag", "few,-n", "-n,few", "-x,n", "year(d)", "-n+1", "d,many"} {
			o := table.SortOptions{By: by, NullsFirst: r.IntN(3) == 0}
			for range 2 {
				want := texts(t, tab, o)
				for _, limit := range []int64{1, 7, 2500} {
					o.Limit = limit
					require.Equal(t, want[:min(int(limit), len(want))], texts(t, tab, o), "%s of %v: %+v", by, locations, o)
				}
				o = table.SortOptions{By: by, NullsFirst: r.IntN(3) == 0}
				switch r.IntN(3) {
				case 0:
					o.Filter = condition
				case 1:
					o.Rows = []table.RowRange{{From: 10, To: 3000}, {From: 3100, To: 9003}}
				default:
					o.Filter, o.Columns = condition, []string{"id", "x"}
				}
			}
		}
	}
}
