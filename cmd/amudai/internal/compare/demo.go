package compare

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// demoTable is a part of flights-3m.parquet of vega-datasets (see NOTICE), as written by "amudai cat --limit
// 100000 --format parquet".
//
//go:embed demo/flights.parquet
var demoTable []byte

const (
	demoRow   = 77_777           // the row of a single look-up
	demoRows  = 1_000            // number of rows looked up together
	demoWhere = "origin = 'SFO'" // the condition of the filter
	demoRuns  = 5                // number of runs; the result is their median
)

// Demo writes a table as Parquet and as shards of both editions, reads them in common ways, and prints sizes and
// times side by side. It keeps the files in the folder keep, if it is not "". program is the name of the command
// in proposed lines.
func Demo(ctx context.Context, out terminal.Screen, program, keep string) (err error) {
	if err := out.Printf("Writing 100,000 US flights as Parquet and as Amudai shards, and reading them back: a few seconds.\n\n"); err != nil {
		return err
	}
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "amudai-demo-*"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	d := demo{out: out, program: program, parquet: parquetFile{"Parquet (zstd)", "zstd"}, dir: dir}
	if err := d.load(ctx); err != nil {
		return err
	}
	defer d.release()
	if err := d.run(ctx); err != nil {
		return err
	}
	return d.next(keep)
}

// demo is one run of the comparison.
type demo struct {
	out     terminal.Screen
	program string
	parquet parquetFile
	dir     string
	schema  *arrow.Schema
	batches []arrow.RecordBatch
	rows    int64
}

// demoEditions are the editions of the shards, in the order of the table.
var demoEditions = []edition.Edition{edition.E2026, edition.Reference}

func (d *demo) parquetPath() string { return filepath.Join(d.dir, "flights.parquet") }

func (d *demo) shardPath(e edition.Edition) string {
	return filepath.Join(d.dir, "flights-"+e.String()+".amudai.shard")
}

// load reads the embedded table into memory.
func (d *demo) load(ctx context.Context) error {
	r := bytes.NewReader(demoTable)
	src, err := parquet.New(parquet.Options{}).Open(ctx, provider.Input{Name: "the embedded table", Reader: r, At: r, Size: r.Size()}, provider.ReadOptions{})
	if err != nil {
		return err
	}
	defer src.Close()
	d.schema = src.Schema()
	for {
		b, err := src.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		d.batches = append(d.batches, b)
		d.rows += b.NumRows()
	}
}

func (d *demo) release() {
	for _, b := range d.batches {
		b.Release()
	}
}

// run fills the table line by line.
func (d *demo) run(ctx context.Context) error {
	t := terminal.NewTable().Text("").Numbers(d.parquet.title)
	for _, e := range demoEditions {
		t.Numbers("edition "+e.String(), "ratio")
	}
	if err := d.write(ctx, t); err != nil {
		return err
	}
	take := make([]int64, demoRows)
	for i := range take {
		take[i] = int64(i) * 997 % d.rows
	}
	slices.Sort(take)
	for _, row := range []struct {
		name    string
		query   suite.Query
		parquet func(context.Context) error // the way of arrow-go; nil: rows are picked after a read
	}{
		{"scan all columns", suite.Query{}, nil},
		{"scan origin, delay", suite.Query{Columns: []string{"origin", "delay"}}, nil},
		{"filter " + demoWhere + " *", suite.Query{Where: demoWhere}, nil},
		{"look up 1 row", suite.Query{Take: []int64{demoRow}}, d.lookUpParquet},
		{"look up " + terminal.Count(demoRows) + " rows *", suite.Query{Take: take}, nil},
	} {
		if err := d.read(ctx, t, row.name, row.query, row.parquet); err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
	}
	if _, err := d.out.Table(t, ""); err != nil {
		return err
	}
	for _, e := range demoEditions {
		if err := d.compare(ctx, d.shardPath(e)); err != nil {
			return err
		}
	}
	return d.out.Printf(`
Medians of %d runs in wall-clock time; each run opens the files. Ratios are to Parquet in arrow-go;
less is better. Edition 2026 is the default; edition reference (--edition reference) is for
exchange with the Rust implementation.
* arrow-go lacks this: the program reads the columns and selects the rows.
%s
`, demoRuns, d.out.Paint(terminal.Green, "Both shards returned the same values in all "+terminal.Count(d.rows)+" rows."))
}

// write writes the files, and adds their sizes and times to the table.
func (d *demo) write(ctx context.Context, t *terminal.Table) error {
	source := func() suite.Source {
		i := 0
		return func() (arrow.RecordBatch, error) {
			if i == len(d.batches) {
				return nil, nil
			}
			i++
			return d.batches[i-1], nil
		}
	}
	run := []func(context.Context) error{func(ctx context.Context) error {
		return d.parquet.Write(ctx, d.parquetPath(), d.schema, source(), 1)
	}}
	paths := []string{d.parquetPath()}
	for _, e := range demoEditions {
		k := suite.Shard{Options: shard.WriterOptions{Edition: e}}
		paths = append(paths, d.shardPath(e))
		run = append(run, func(ctx context.Context) error { return k.Write(ctx, d.shardPath(e), d.schema, source(), 0) })
	}
	times, err := medians(ctx, run)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	sizes := make([]int64, len(paths))
	for i, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		sizes[i] = info.Size()
	}
	addRatios(t, "size", sizes, terminal.Size[int64])
	addRatios(t, "write", times, terminal.Duration)
	return nil
}

// read runs a query on all files, and adds its times to the table.
func (d *demo) read(ctx context.Context, t *terminal.Table, name string, q suite.Query, lookUp func(context.Context) error) error {
	q.Threads = runtime.GOMAXPROCS(0)
	rows := make([]int64, 1+len(demoEditions))
	run := []func(context.Context) error{lookUp}
	if rows[0] = 1; lookUp == nil {
		run[0] = func(ctx context.Context) error {
			var out suite.Outcome
			err := d.parquet.Read(ctx, d.parquetPath(), q, &out)
			rows[0] = out.Rows
			return err
		}
	}
	for i, e := range demoEditions {
		run = append(run, func(ctx context.Context) error {
			var out suite.Outcome
			err := suite.Shard{}.Read(ctx, d.shardPath(e), q, &out)
			rows[i+1] = out.Rows
			return err
		})
	}
	times, err := medians(ctx, run)
	if err != nil {
		return err
	}
	for _, n := range rows {
		if n != rows[0] {
			return fmt.Errorf("the files have %d rows", rows)
		}
	}
	addRatios(t, name, times, terminal.Duration)
	return nil
}

// addRatios adds a row to the table: the first number, then each other number with its ratio to the first.
func addRatios[T int64 | time.Duration](t *terminal.Table, name string, figures []T, text func(T) string) {
	row := []any{name, text(figures[0])}
	for _, f := range figures[1:] {
		row = append(row, text(f), terminal.Ratio(float64(f), float64(figures[0])))
	}
	t.Row(row...)
}

// medians runs the functions alternately, so that the state of the machine affects all of them.
func medians(ctx context.Context, run []func(context.Context) error) ([]time.Duration, error) {
	times := make([][]time.Duration, len(run))
	for range demoRuns {
		for i, f := range run {
			began := time.Now()
			if err := f(ctx); err != nil {
				return nil, err
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	out := make([]time.Duration, len(run))
	for i := range times {
		slices.Sort(times[i])
		out[i] = times[i][demoRuns/2]
	}
	return out, nil
}

// next proposes commands to try.
func (d *demo) next(keep string) error {
	lines := []string{}
	if keep == "" {
		keep = "flights"
		lines = append(lines, "demo --keep "+keep+"    # keeps the files for the next commands")
	}
	file := filepath.Join(keep, filepath.Base(d.shardPath(demoEditions[0])))
	lines = append(lines, "head "+file, "stats "+file, "inspect -vv "+file,
		`scan `+file+` --where "origin = 'SFO' and delay > 300" --analyze`,
		"bench "+filepath.Join(keep, "flights.parquet")+" --edition 2026    # or any other table")
	if err := d.out.Printf("\nTry next:\n"); err != nil {
		return err
	}
	for _, line := range lines {
		if err := d.out.Printf("  %s %s\n", d.program, line); err != nil {
			return err
		}
	}
	return nil
}

// lookUpParquet opens the file and reads one row. It skips pages as far as arrow-go can.
func (d *demo) lookUpParquet(ctx context.Context) error {
	pf, err := file.OpenParquetFile(d.parquetPath(), false)
	if err != nil {
		return err
	}
	defer pf.Close()
	r, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: 1}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	rows, err := r.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return err
	}
	defer rows.Release()
	if err := rows.SeekToRow(demoRow); err != nil {
		return err
	}
	if !rows.Next() {
		return errors.Join(errors.New("the row is not there"), rows.Err())
	}
	return nil
}

// compare reads a shard again and compares every value.
func (d *demo) compare(ctx context.Context, path string) error {
	s, err := shard.Open(ctx, path, shard.OpenOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Reader(ctx, shard.ScanOptions{})
	if err != nil {
		return err
	}
	defer r.Release()
	var got []arrow.RecordBatch
	for r.Next() {
		r.RecordBatch().Retain()
		defer r.RecordBatch().Release()
		got = append(got, r.RecordBatch())
	}
	if r.Err() != nil {
		return r.Err()
	}
	want, have := array.NewTableFromRecords(d.schema, d.batches), array.NewTableFromRecords(r.Schema(), got)
	defer want.Release()
	defer have.Release()
	for i := range d.schema.NumFields() {
		if !array.ChunkedEqual(want.Column(i).Data(), have.Column(i).Data()) {
			return fmt.Errorf("column %q differs", d.schema.Field(i).Name)
		}
	}
	return nil
}
