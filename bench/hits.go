package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/compress"
	pretty "github.com/jedib0t/go-pretty/v6/table"

	"github.com/amudai/amudai-go/bench/clickbench"
	"github.com/amudai/amudai-go/bench/peers"
	"github.com/amudai/amudai-go/bench/report"
	"github.com/amudai/amudai-go/bench/synthetic"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/table"
	_ "github.com/amudai/amudai-go/table/formats" // opens shards and Parquet files
)

// hitRuns are the least CPU seconds of a question.
type hitRuns struct {
	Question string
	Seconds  [4]float64 // shard, DuckDB's file, Parquet, DuckDB on Parquet
	Problem  string
}

// askHits measures ClickBench's questions: our shard beside DuckDB's file, and our reading of a Parquet file beside DuckDB's.
func askHits(ctx context.Context, c config, dir string, w io.Writer) error {
	d := &suite.Dataset{Name: "hits"}
	dir = cmp.Or(c.data, dir) // where files of an earlier run are used again
	path := func(ext string) string { return filepath.Join(dir, "hits."+ext) }
	missing := func(ext string) bool {
		_, err := os.Stat(path(ext))
		return err != nil
	}
	if missing("arrow") {
		synthetic.Hits(d, int(cmp.Or(c.rows, 1_500_000)))
		if err := d.Save(path("arrow")); err != nil {
			return err
		}
	}
	if err := d.Map(path("arrow")); err != nil {
		return err
	}
	for ext, k := range map[string]suite.Contender{"parquet": parquetFile{title: baseName, codec: compress.Codecs.Zstd}, "shard": suite.Shard{}} {
		if missing(ext) {
			if err := d.Write(ctx, k, path(ext), 1); err != nil {
				return err
			}
		}
	}
	at := slices.IndexFunc(c.started, func(p *peer) bool { return p.Title == "duckdb file" })
	if at < 0 {
		return errors.New("-questions needs DuckDB: name Python with -peers")
	}
	duck := c.started[at]
	if missing("duckdb") {
		if _, err := duck.Ask(peers.Question{Op: measure.OpWrite, Path: path("duckdb"), Input: path("arrow")}); err != nil {
			return err
		}
	}
	for _, ext := range []string{"shard", "duckdb", "parquet"} {
		info, err := os.Stat(path(ext))
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%-8s %4d MB\n", ext, info.Size()>>20)
	}
	var runs []*hitRuns
	for i, q := range clickbench.Hits() {
		if only := c.ops; only != "" && !strings.Contains(","+only+",", fmt.Sprintf(",%d,", i+1)) {
			continue
		}
		r := &hitRuns{Question: fmt.Sprintf("%d", i+1)}
		runs = append(runs, r)
		if err := r.ask(ctx, c, q, duck, path); err != nil {
			r.Problem = err.Error()
		}
		fmt.Fprintf(os.Stderr, "%3d %.4f %s\n", i+1, r.Seconds, r.Problem)
	}
	printHits(w, d.Rows, runs)
	return nil
}

// ratio is our time as a share of DuckDB's, of the shard or with 1 of Parquet.
func (r *hitRuns) ratio(k int) float64 { return r.Seconds[2*k] / r.Seconds[2*k+1] }

func (r *hitRuns) ask(ctx context.Context, c config, q clickbench.Question, duck *peer, path func(ext string) string) error {
	want, err := duck.Ask(peers.Question{Op: "query", Path: path("duckdb"), SQL: q.SQL(true)})
	if err != nil {
		return err
	}
	for k, ext := range [2]string{"shard", "parquet"} {
		t, err := table.Open(ctx, path(ext))
		if err != nil {
			return err
		}
		defer t.Close()
		got, err := q.Answer(ctx, t, true)
		if err == nil {
			err = clickbench.Same(got, want.Values)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", ext, err)
		}
		least := func(to *float64, s float64) {
			if *to == 0 || s < *to {
				*to = s
			}
		}
		for range c.rounds {
			ours, err := measure.Time(func() error {
				_, err := q.Answer(ctx, t, false)
				return err
			})
			if err != nil {
				return err
			}
			theirs, err := duck.Ask(peers.Question{Op: "query", Path: path([2]string{"duckdb", "parquet"}[k]), SQL: q.SQL(false)})
			if err != nil {
				return err
			}
			least(&r.Seconds[2*k], ours)
			least(&r.Seconds[2*k+1], theirs.Seconds)
		}
	}
	return nil
}

func printHits(w io.Writer, rows int64, runs []*hitRuns) {
	t := report.Table(pretty.Row{"question", "shard", "DuckDB's file", "ratio", "Parquet", "DuckDB on it", "ratio"})
	slices.SortStableFunc(runs, func(a, b *hitRuns) int { return cmp.Compare(b.ratio(0), a.ratio(0)) }) // the worst first
	var sums [2]float64
	var n int
	ms := func(s float64) string { return fmt.Sprintf("%.1f ms", 1000*s) }
	for _, r := range runs {
		if r.Problem != "" {
			t.AppendRow(pretty.Row{r.Question, r.Problem})
			continue
		}
		s := r.Seconds
		t.AppendRow(pretty.Row{r.Question, ms(s[0]), ms(s[1]), fmt.Sprintf("%.2f", r.ratio(0)), ms(s[2]), ms(s[3]), fmt.Sprintf("%.2f", r.ratio(1))})
		sums[0] += math.Log(r.ratio(0))
		sums[1] += math.Log(r.ratio(1))
		n++
	}
	mean := func(k int) string { return fmt.Sprintf("%.2f", math.Exp(sums[k]/float64(max(n, 1)))) }
	t.AppendRow(pretty.Row{"geometric mean", "", "", mean(0), "", "", mean(1)})
	fmt.Fprintf(w, "\nhits: %d rows, the least CPU time on one core\n\n%s\n", rows, t.RenderMarkdown())
}
