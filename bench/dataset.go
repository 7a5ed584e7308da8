package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// batchRows is the length of all batches, written and read.
const batchRows = 1 << 16

// dataset is a table in memory, but not in Go's heap: the garbage collector has as
// much to do as in a program that holds nothing but what it writes or reads.
type dataset struct {
	name    string
	schema  *arrow.Schema
	batches []arrow.RecordBatch
	rows    int64
	project []string // columns of the projection that is measured
}

// projections are the columns that a question about the data set reads.
var projections = map[string][]string{
	"flights":   {"delay", "origin"},
	"lineitem":  {"l_shipdate", "l_extendedprice", "l_discount"},
	"lineitemi": {"l_shipdate", "l_extendedprice", "l_discount"},
	"logs":      {"line"},
	"logcut":    {"line"},
	"wide10k":   {"col_05000"},
	"wide":      {"col_25000"},
	"nested":    {"items", "id"},
}

// load gives a data set whose values lie in a mapped file: one of the folder of
// data, or one of its own in dir.
func load(ctx context.Context, c config, name, dir string) (*dataset, error) {
	d := &dataset{name: name, project: projections[name]}
	path := filepath.Join(c.data, name+".arrow")
	_, err := os.Stat(path)
	if c.data == "" || errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(dir, name+".arrow")
		defer os.Remove(path)
		if err = d.make(ctx, c.shared); err == nil {
			err = d.save(path)
		}
	}
	if err == nil {
		err = d.mapIPC(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; -shared names the folder of shared test data, -data one with %s.arrow", err, name)
	}
	if err != nil {
		return nil, err
	}
	d.cut(c.rows)
	for _, b := range d.batches {
		d.rows += b.NumRows()
	}
	if len(d.project) == 0 {
		d.project = []string{d.schema.Field(0).Name}
	}
	return d, nil
}

func (d *dataset) make(ctx context.Context, shared string) error {
	switch d.name {
	case "flights":
		return d.loadParquet(ctx, filepath.Join(shared, "corpus", "flights", "flights-3m.parquet"))
	case "logcut":
		return d.loadLogs(filepath.Join(shared, "corpus", "logs"))
	case "wide", "wide10k":
		columns := 50_000
		if d.name == "wide10k" {
			columns = 10_000
		}
		d.makeWide(columns, 100)
		return nil
	case "nested":
		d.makeNested(400_000)
		return nil
	}
	return fmt.Errorf("no data: name the folder that holds %s.arrow with -data", d.name)
}

func (d *dataset) loadParquet(ctx context.Context, path string) error {
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer r.Close()
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	rr, err := fr.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return err
	}
	defer rr.Release()
	d.schema = rr.Schema()
	for rr.Next() {
		b := rr.RecordBatch()
		b.Retain()
		d.batches = append(d.batches, b)
	}
	return rr.Err()
}

// loadLogs repeats the real log lines with varied numbers.
func (d *dataset) loadLogs(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*_2k.log"))
	if err != nil || len(names) == 0 {
		return fmt.Errorf("no logs in %s: %v", dir, err)
	}
	d.schema = arrow.NewSchema([]arrow.Field{
		{Name: "system", Type: arrow.BinaryTypes.String}, {Name: "line_no", Type: arrow.PrimitiveTypes.Int64},
		{Name: "line", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, d.schema)
	defer b.Release()
	rnd := rand.New(rand.NewPCG(1, 2))
	var number int64
	for range 12 {
		for _, name := range names {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			for s := bufio.NewScanner(f); s.Scan(); number++ {
				b.Field(0).(*array.StringBuilder).Append(strings.TrimSuffix(filepath.Base(name), "_2k.log"))
				b.Field(1).(*array.Int64Builder).Append(number)
				line := vary(rnd, s.Text())
				if number%16_000 == 4_000 { // on 12 lines
					line += " for " + needle
				}
				b.Field(2).(*array.StringBuilder).Append(line)
				if b.Field(1).Len() == batchRows {
					d.batches = append(d.batches, b.NewRecordBatch())
				}
			}
			f.Close()
		}
	}
	d.batches = append(d.batches, b.NewRecordBatch())
	return nil
}

// vary changes a third of the digits of a valid line.
func vary(rnd *rand.Rand, line string) string {
	out := []byte(strings.ToValidUTF8(line, "?"))
	for i, c := range out {
		if c >= '0' && c <= '9' && rnd.IntN(3) == 0 {
			out[i] = byte('0' + rnd.IntN(10))
		}
	}
	return string(out)
}

// makeWide makes columns of integers, floats and strings in turn.
func (d *dataset) makeWide(columns, rows int) {
	words := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"}
	rnd := rand.New(rand.NewPCG(50, 100))
	fields := make([]arrow.Field, columns)
	arrays := make([]arrow.Array, columns)
	types := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String}
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprintf("col_%05d", i), Type: types[i%3], Nullable: true}
		b := array.NewBuilder(memory.DefaultAllocator, types[i%3])
		for range rows {
			switch b := b.(type) {
			case *array.Int64Builder:
				b.Append(int64(rnd.IntN(100_000) + i))
			case *array.Float64Builder:
				b.Append(math.Round(100_000+15_000*rnd.NormFloat64()) / 1000)
			case *array.StringBuilder:
				b.Append(fmt.Sprintf("%s-%d", words[rnd.IntN(8)], rnd.IntN(50)))
			}
		}
		arrays[i] = b.NewArray()
		b.Release()
	}
	d.schema = arrow.NewSchema(fields, nil)
	d.batches = []arrow.RecordBatch{array.NewRecordBatch(d.schema, arrays, int64(rows))}
}

// cut leaves the first rows, 0 for all.
func (d *dataset) cut(rows int64) {
	if rows == 0 {
		return
	}
	for i, b := range d.batches {
		if rows <= b.NumRows() {
			d.batches[i] = b.NewSlice(0, rows)
			d.batches = d.batches[:i+1]
			return
		}
		rows -= b.NumRows()
	}
}
