package command

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/parquet"
)

// demoTable is a cut of flights-3m.parquet of vega-datasets (see NOTICE), as
// "amudai cat --limit 100000 --format parquet" writes it.
//
//go:embed demo/flights.parquet
var demoTable []byte

const (
	demoRow  = 77_777 // the row that is looked up
	demoRuns = 7      // of which the median counts
)

func (a *app) demo() *cobra.Command {
	keep := ""
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Write a real table as a shard and compare it with Parquet",
		Long: `demo writes 100,000 US flights as a shard and as Parquet (zstd) into a temporary folder, reads both
back, and shows sizes and times side by side.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runDemo(cmd.Context(), keep) },
	}
	cmd.Flags().StringVar(&keep, "keep", "", "write the files into this folder and keep them")
	return cmd
}

func (a *app) runDemo(ctx context.Context, keep string) (err error) {
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "amudai-demo-*"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	d := demo{app: a, parquet: filepath.Join(dir, "flights.parquet"), shard: filepath.Join(dir, "flights.amudai.shard")}
	if err := d.load(ctx); err != nil {
		return err
	}
	defer d.release()
	if err := d.run(ctx); err != nil {
		return err
	}
	if keep != "" {
		fmt.Fprintf(a.Stdout, "\nTry: amudai inspect -vv %s\n     amudai stats %s\n     amudai head %s\n", d.shard, d.shard, d.shard)
	}
	return nil
}

// demo is one run of the comparison.
type demo struct {
	*app
	parquet, shard string
	schema         *arrow.Schema
	batches        []arrow.RecordBatch
	rows           int64
	grid           *grid
}

// load reads the embedded table into memory.
func (d *demo) load(ctx context.Context) error {
	r := bytes.NewReader(demoTable)
	src, err := parquet.New(parquet.Options{}).Open(ctx, table.Input{Name: "the embedded table", Reader: r, At: r, Size: r.Size()}, table.ReadOptions{})
	if err != nil {
		return err
	}
	defer src.Close()
	d.schema = src.Schema()
	for {
		b, err := src.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
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

func (d *demo) run(ctx context.Context) error {
	fmt.Fprintf(d.Stdout, "%s US flights, %s; medians of %d runs\n\n", count(d.rows), plural(d.schema.NumFields(), "column"), demoRuns)
	d.grid = newGrid("", ">Parquet (zstd)", ">Amudai shard", ">ratio")
	for _, row := range []struct {
		name           string
		parquet, shard func(context.Context) error
	}{
		{"write", d.writeParquet, d.writeShard},
		{"scan all", d.scanParquet, d.scanShard},
		{"look up row " + count(demoRow), d.lookUpParquet, d.lookUpShard},
	} {
		p, s, err := d.medians(ctx, row.parquet, row.shard)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		d.grid.add(row.name, duration(p), duration(s), ratio(float64(s), float64(p)))
	}
	p, err := fileSize(d.parquet)
	if err != nil {
		return err
	}
	s, err := fileSize(d.shard)
	if err != nil {
		return err
	}
	d.grid.rows = append([][]string{{"size", size(p), size(s), ratio(float64(s), float64(p))}}, d.grid.rows...)
	if err := d.print(d.Stdout, d.grid); err != nil {
		return err
	}
	return d.compare(ctx)
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func ratio(a, b float64) string { return strconv.FormatFloat(a/b, 'f', 2, 64) }

// medians runs the two in turn, so that both see the same machine.
func (d *demo) medians(ctx context.Context, f, g func(context.Context) error) (a, b time.Duration, err error) {
	var x, y []time.Duration
	for range demoRuns {
		for i, run := range []func(context.Context) error{f, g} {
			began := time.Now()
			if err := run(ctx); err != nil {
				return 0, 0, err
			}
			if i == 0 {
				x = append(x, time.Since(began))
			} else {
				y = append(y, time.Since(began))
			}
		}
	}
	slices.Sort(x)
	slices.Sort(y)
	return x[demoRuns/2], y[demoRuns/2], nil
}

func (d *demo) writeParquet(ctx context.Context) error {
	sink, err := d.createSink(ctx, d.parquet, parquet.New(parquet.Options{}), d.schema, true, table.WriteOptions{})
	return writeAll(ctx, sink, err, d.batches)
}

func (d *demo) writeShard(ctx context.Context) error {
	sink, err := d.createShard(ctx, d.shard, d.schema, shard.WriterOptions{Overwrite: true})
	return writeAll(ctx, sink, err, d.batches)
}

func (d *demo) scanParquet(ctx context.Context) error {
	return d.readAll(ctx, d.parquet, nil, d.rows, nil)
}
func (d *demo) scanShard(ctx context.Context) error { return d.readAll(ctx, d.shard, nil, d.rows, nil) }

// lookUpParquet opens the file and reads one row, by skipping pages as far as
// arrow-go can.
func (d *demo) lookUpParquet(ctx context.Context) error {
	pf, err := file.OpenParquetFile(d.parquet, false)
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

// lookUpShard opens the shard and reads one row.
func (d *demo) lookUpShard(ctx context.Context) error {
	s, err := shard.Open(ctx, d.shard, shard.OpenOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	for b, err := range s.Scan(ctx, shard.ScanOptions{Rows: []shard.RowRange{{From: demoRow, To: demoRow + 1}}}) {
		if err != nil {
			return err
		}
		if b.NumRows() == 1 {
			return nil
		}
	}
	return errors.New("the row is not there")
}

// compare reads the shard once more and compares every value.
func (d *demo) compare(ctx context.Context) error {
	s, err := shard.Open(ctx, d.shard, shard.OpenOptions{})
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
	_, err = fmt.Fprintf(d.Stdout, "\n%s\n", d.paint(green, "The shard holds the same values, all "+count(d.rows)+" rows."))
	return err
}
