package table_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// parted writes the columns of a table of 1,000 rows to three files, in formats with batches and groups of their own, and all to a fourth.
func parted(t *testing.T) (parts []string, whole string) {
	dir := t.TempDir()
	lines := []string{"n,k,f,s"}
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("%d,%d,%g,t%d", i, i%7, float64(i*i%101)/4, i%13))
	}
	whole = filepath.Join(dir, "whole.csv")
	require.NoError(t, os.WriteFile(whole, []byte(strings.Join(lines, "\n")), 0o600))
	in, err := table.Open(t.Context(), whole)
	require.NoError(t, err)
	part := func(name, columns string, format provider.Format) {
		src, err := in.Reader(t.Context(), table.ScanOptions{Columns: strings.Split(columns, ","), BatchRows: 64})
		require.NoError(t, err)
		defer src.Close()
		parts = append(parts, filepath.Join(dir, name))
		sink, err := format.Create(t.Context(), create(t, parts[len(parts)-1]), src.Schema(), provider.WriteOptions{})
		require.NoError(t, err)
		for b, err := range provider.Batches(t.Context(), src) {
			require.NoError(t, err)
			require.NoError(t, sink.Write(t.Context(), b))
		}
		require.NoError(t, sink.Close(t.Context()))
	}
	part("a.root", "n,k", rntuple.New(rntuple.FormatOptions{Write: rntuple.WriterOptions{ClusterRows: 111}}))
	part("b.amudai.shard", "f", shard.New(shard.FormatOptions{Write: shard.WriterOptions{StripeRows: 300}}))
	csv, _ := provider.Registered().ByPath("c.csv")
	part("c.csv", "s,k", csv)
	return parts, whole
}

// texts are the rows of an answer.
func texts(t *testing.T, tab *table.Table, q table.Query) (rows []string) {
	t.Helper()
	src, err := tab.Reader(t.Context(), q)
	require.NoError(t, err)
	defer src.Close()
	for b, err := range provider.Batches(t.Context(), src) {
		require.NoError(t, err)
		for row := range int(b.NumRows()) {
			text := ""
			for c := range int(b.NumCols()) {
				text += b.ColumnName(c) + "=" + b.Column(c).ValueStr(row) + " "
			}
			rows = append(rows, text)
		}
	}
	return rows
}

// Tables side by side answer as one file with all columns does.
func TestBeside(t *testing.T) {
	parts, whole := parted(t)
	one, err := table.Open(t.Context(), whole)
	require.NoError(t, err)
	var said []string
	joined, err := table.OpenWith(t.Context(), table.OpenOptions{Beside: parts[1:], Notice: func(s string) { said = append(said, s) }}, parts[0])
	require.NoError(t, err)
	require.Len(t, said, 1)
	require.Contains(t, said[0], "c.csv: left out, as a table before has columns of these names: k")
	where, err := filter.Parse("f > 10 and k = 3 and s <> 't1'")
	require.NoError(t, err)
	for name, q := range map[string]table.Query{
		"all":        table.ScanOptions{},
		"order":      table.ScanOptions{Columns: []string{"s", "n", "f"}},
		"one table":  table.ScanOptions{Columns: []string{"f"}},
		"filter":     table.ScanOptions{Columns: []string{"s"}, Filter: where},
		"reuse":      table.ScanOptions{Filter: where, Reuse: true, BatchRows: 17},
		"limit":      table.ScanOptions{Limit: 333},
		"positions":  table.ScanOptions{Rows: []table.RowRange{{From: 5, To: 9}, {From: 299, To: 302}, {From: 990, To: 2000}}},
		"from end":   table.ScanOptions{Rows: []table.RowRange{{From: -5, To: 1 << 60}}},
		"tail":       table.TailOptions{N: 3, Filter: where},
		"take":       table.TakeOptions{Rows: []int64{999, 0, 500, 500}},
		"sample":     table.SampleOptions{N: 20, Seed: 4},
		"group":      table.GroupOptions{By: "k", Aggregates: "count(), sum(f), max(s)"},
		"aggregates": table.GroupOptions{Aggregates: "count(), count(s), min(n), max(f)"},
		"sort":       table.SortOptions{By: "-f,n", Limit: 12},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, texts(t, one, q), texts(t, joined, q))
		})
	}
	n, err := joined.Count(t.Context(), table.ScanOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1000, n)
	n, err = joined.Count(t.Context(), table.ScanOptions{Filter: where})
	require.NoError(t, err)
	require.Len(t, texts(t, one, table.ScanOptions{Filter: where}), int(n))
	s, err := joined.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"n", "k", "f", "s"}, names(s))
	require.NoError(t, joined.Close())

	known, err := table.OpenWith(t.Context(), table.OpenOptions{Beside: parts[1:2]}, parts[0])
	require.NoError(t, err)
	rows, ok, err := known.NumRows(t.Context(), table.ScanOptions{Rows: []table.RowRange{{From: 7, To: 20}}})
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 13, rows)
	require.NoError(t, known.Close())
}

func names(s *arrow.Schema) (names []string) {
	for _, f := range s.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// Tables of other numbers of rows are refused: at once if they tell these, else where one ends.
func TestBesideRefuses(t *testing.T) {
	parts, whole := parted(t)
	short := filepath.Join(t.TempDir(), "short.csv")
	require.NoError(t, os.WriteFile(short, []byte("x\n"+strings.Repeat("1\n", 999)), 0o600))
	shorter := filepath.Join(t.TempDir(), "shorter.amudai.shard")
	copyTable(t, short, shorter)
	open := func(first string, beside ...string) (*table.Table, error) {
		return table.OpenWith(t.Context(), table.OpenOptions{Beside: beside}, first)
	}
	_, err := open(parts[0], shorter)
	require.ErrorContains(t, err, "shorter.amudai.shard has 999 rows, and "+parts[0]+" 1000")
	_, err = open(parts[0], filepath.Join(t.TempDir(), "none.root"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = open(parts[0], "-")
	require.ErrorContains(t, err, "can be read only once")
	for _, columns := range [][]string{nil, {"n"}, {"x"}} {
		tab, err := open(whole, short)
		require.NoError(t, err)
		for _, err = range tab.Scan(t.Context(), table.ScanOptions{Columns: columns}) {
			if err != nil {
				break
			}
		}
		require.ErrorContains(t, err, "short.csv has fewer rows than "+whole)
		require.NoError(t, tab.Close())
	}
	tab, err := open(parts[0], parts[1])
	require.NoError(t, err)
	_, err = tab.Reader(t.Context(), table.ScanOptions{Columns: []string{"nothing"}})
	require.ErrorContains(t, err, "nothing")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = tab.Reader(ctx, table.ScanOptions{})
	if err == nil {
		for _, err = range tab.Scan(ctx, table.ScanOptions{}) {
			break
		}
	}
	require.ErrorIs(t, err, context.Canceled)

	_, err = shard.Delete(t.Context(), parts[1], shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 600, To: 800}}})
	require.NoError(t, err)
	_, err = open(parts[0], parts[1])
	require.ErrorContains(t, err, "deleted rows")
}
