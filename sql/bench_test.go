//go:build cgo && duckdb_arrow

package sql_test

import (
	databasesql "database/sql"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/sql"
)

var (
	scale = flag.String("scale", "1", "the scale of TPC-H in BenchmarkTPCH")
	kept  = flag.String("data", "", "a folder that keeps the tables of BenchmarkTPCH (default: a temporary one)")
	asked = flag.String("ask", "", "the numbers of some questions for BenchmarkTPCH, such as 1,17 (default: all)")
)

// asking is what answers a question, and what it took.
type asking struct {
	dsn     string
	o       sql.Options
	prepare string
	took    [22]float64
}

// BenchmarkTPCH asks the 22 questions of TPC-H of shards, of Parquet files, and of a file of DuckDB, with one thread of DuckDB, and prints what CPU time each took
// at least, with the answers all three the same. A database is opened for each, so that none has anything in its cache; planning is part of the time.
func BenchmarkTPCH(b *testing.B) {
	folder := *kept
	if folder == "" {
		folder = b.TempDir()
	}
	if _, err := os.Stat(filepath.Join(folder, "own.duckdb")); err != nil {
		generate(b, *scale, folder)
		own, err := sql.NewConnector(filepath.Join(folder, "own.duckdb"), sql.Options{NoHints: true})
		require.NoError(b, err)
		duck := databasesql.OpenDB(own)
		load(b, duck, folder, folder)
		require.NoError(b, duck.Close())
	}
	b.Chdir(folder)
	var views strings.Builder
	for _, name := range tpchTables {
		fmt.Fprintf(&views, "create view %s as from '%s.parquet';", name, name)
	}
	all := []*asking{
		{dsn: "?threads=1"},
		{dsn: "?threads=1", o: sql.Options{NoHints: true}, prepare: views.String()},
		{dsn: "own.duckdb?threads=1&access_mode=read_only", o: sql.Options{NoHints: true}},
	}
	text, err := os.ReadFile(filepath.Join(testFolder, "tpch.sql"))
	require.NoError(b, err)
	questions := strings.Split(strings.TrimSpace(string(text)), ";")[:22]
	for b.Loop() {
		for q, question := range questions {
			if *asked != "" && !slices.Contains(strings.Split(*asked, ","), fmt.Sprint(q+1)) {
				continue
			}
			var want []string
			for i, a := range all {
				got := a.ask(b, q, question)
				if i == 0 {
					want = got
				}
				require.Equal(b, want, got, question)
			}
		}
	}
	printFigures(b, all)
}

// ask asks a question in a new database.
func (a *asking) ask(b *testing.B, q int, question string) []string {
	c, err := sql.NewConnector(a.dsn, a.o)
	require.NoError(b, err)
	db := databasesql.OpenDB(c)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("select 1;" + a.prepare)
	require.NoError(b, err)
	var got []string
	before := measure.CPU()
	got, err = rows(b.Context(), db, question)
	took := measure.CPU() - before
	require.NoError(b, err, question)
	slices.Sort(got)
	if a.took[q] == 0 || took < a.took[q] {
		a.took[q] = took
	}
	return got
}

// printFigures prints a table, the worst question first.
func printFigures(b *testing.B, all []*asking) {
	var order []int
	for q, took := range all[0].took {
		if took > 0 {
			order = append(order, q)
		}
	}
	share := func(q, of int) float64 { return all[0].took[q] / all[of].took[q] }
	slices.SortFunc(order, func(x, y int) int { return int(math.Copysign(1, share(y, 1)-share(x, 1))) })
	var out strings.Builder
	var logs [3]float64
	out.WriteString("\n| question | shards, s | of Parquet | of DuckDB's file |\n|---|---|---|---|\n")
	for _, q := range order {
		fmt.Fprintf(&out, "| %d | %.3f | %.2f | %.2f |\n", q+1, all[0].took[q], share(q, 1), share(q, 2))
		for of := range logs {
			logs[of] += math.Log(share(q, of)) / float64(len(order))
		}
	}
	fmt.Fprintf(&out, "| geometric mean | | %.2f | %.2f |\n", math.Exp(logs[1]), math.Exp(logs[2]))
	fmt.Println(out.String())
	b.ReportMetric(math.Exp(logs[1]), "of-parquet")
	b.ReportMetric(math.Exp(logs[2]), "of-file")
}
