package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/amudai/amudai-go/bench/synthetic"
	"github.com/amudai/amudai-go/internal/bench/suite"
)

// projections are the columns of a typical query of each data set.
var projections = map[string][]string{
	"flights":   {"delay", "origin"},
	"lineitem":  {"l_shipdate", "l_extendedprice", "l_discount"},
	"lineitemi": {"l_shipdate", "l_extendedprice", "l_discount"},
	"logs":      {"line"},
	"logcut":    {"line"},
	"wide10k":   {"col_05000"},
	"wide":      {"col_25000"},
	"nested":    {"items", "id"},
	"nano":      {"Jet_f0", "Jet_f1", "Muon_f3", "s_f0", "s_f1"},
	tracesSet:   {"trace:id", "span:name", "span:duration"},
}

// repeated are the data sets that repeat the values of another one.
var repeated = map[string]string{"flights100m": "flights", "nano1g": "nano"}

// named is a data set without values.
func named(name string) *suite.Dataset {
	d := &suite.Dataset{Name: name, Project: projections[name], Questions: questions[name], Wide: strings.HasPrefix(name, "wide")}
	d.Text = strings.HasPrefix(name, zooPrefix)
	switch name {
	case "flights100m":
		d.Times = 34
	case "nano1g":
		d.Times = 8
	}
	return d
}

// load returns a data set with its values in a mapped file: a file of the data folder, or a new
// one in dir. A column of the zoo is made anew if the file has too few values.
func load(ctx context.Context, c config, name, dir string) (*suite.Dataset, error) {
	d, file := named(name), name+".arrow"
	if of, ok := repeated[name]; ok {
		file = of + ".arrow"
	}
	err := fs.ErrNotExist
	if c.data != "" {
		err = d.Map(filepath.Join(c.data, file))
	}
	if errors.Is(err, fs.ErrNotExist) || d.Text && d.Rows < valuesOf(c) {
		path := filepath.Join(dir, filepath.Base(file))
		if err = makeData(ctx, d, c); err == nil {
			err = errors.Join(d.Save(path), d.Map(path))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; -shared names the folder of shared test data, -data one with %s", err, file)
	}
	if err != nil {
		return nil, err
	}
	if c.rows > 0 {
		d.Cut(c.rows)
	}
	switch {
	case d.Text:
		d.Questions = textQuestions(d)
	case d.Name == tracesSet:
		d.Questions = traceQuestions(d)
	}
	if len(d.Project) == 0 {
		d.Project = []string{d.Schema.Field(0).Name}
	}
	return d, nil
}

func makeData(ctx context.Context, d *suite.Dataset, c config) error {
	if column, ok := strings.CutPrefix(d.Name, zooPrefix); ok {
		return makeZoo(d, c, column)
	}
	switch d.Name {
	case "flights", "flights100m":
		return loadParquet(ctx, d, filepath.Join(c.shared, "corpus", "flights", "flights-3m.parquet"))
	case "logcut":
		return loadLogs(d, filepath.Join(c.shared, "corpus", "logs"), logRows)
	case "wide", "wide10k":
		columns := 50_000
		if d.Name == "wide10k" {
			columns = 10_000
		}
		synthetic.Wide(d, columns, 100)
		return nil
	case "nested":
		synthetic.Orders(d, 400_000)
		return nil
	case tracesSet:
		return makeTraces(ctx, d, c)
	case "nano", "nano1g":
		synthetic.Events(d, 40_960)
		return nil
	}
	return fmt.Errorf("no data: name the folder that holds %s.arrow with -data", d.Name)
}

func loadParquet(ctx context.Context, d *suite.Dataset, path string) error {
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer r.Close()
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: suite.BatchRows}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	rr, err := fr.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return err
	}
	defer rr.Release()
	d.Schema = rr.Schema()
	for rr.Next() {
		b := rr.RecordBatch()
		b.Retain()
		d.Batches = append(d.Batches, b)
	}
	return rr.Err()
}

// logRows are all lines of the corpus, twelve times.
const logRows = 192_000

// loadLogs repeats the real log lines with varied numbers, up to a number of rows.
func loadLogs(d *suite.Dataset, dir string, rows int64) error {
	names, err := filepath.Glob(filepath.Join(dir, "*_2k.log"))
	if err != nil || len(names) == 0 {
		return fmt.Errorf("no logs in %s: %v", dir, err)
	}
	d.Schema = arrow.NewSchema([]arrow.Field{
		{Name: "system", Type: arrow.BinaryTypes.String}, {Name: "line_no", Type: arrow.PrimitiveTypes.Int64},
		{Name: "line", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, d.Schema)
	defer b.Release()
	rnd := rand.New(rand.NewPCG(1, 2))
	var number int64
	for number < rows {
		for _, name := range names {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			for s := bufio.NewScanner(f); number < rows && s.Scan(); number++ {
				b.Field(0).(*array.StringBuilder).Append(strings.TrimSuffix(filepath.Base(name), "_2k.log"))
				b.Field(1).(*array.Int64Builder).Append(number)
				line := vary(rnd, s.Text())
				if number%16_000 == 4_000 { // on 12 lines
					line += " for " + needle
				}
				b.Field(2).(*array.StringBuilder).Append(line)
				if b.Field(1).Len() == suite.BatchRows {
					d.Batches = append(d.Batches, b.NewRecordBatch())
				}
			}
			f.Close()
		}
	}
	d.Batches = append(d.Batches, b.NewRecordBatch())
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
