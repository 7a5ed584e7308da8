package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text"
)

// smallPrefix begins the names of data sets of a small table.
const smallPrefix = "small/"

// smallSets are whole tables of the corpus, and beginnings of larger ones.
var smallSets = []string{"small/movies", "small/weather", "small/zipcodes", "small/flights1k", "small/flights20k", "small/flights50k", "small/logs1k", "small/logs16k"}

// makeSmall reads a small table.
func makeSmall(ctx context.Context, d *suite.Dataset, c config, name string) error {
	corpus, rows := filepath.Join(c.shared, "corpus"), int64(1000)
	switch name {
	case "movies":
		return loadText(ctx, d, text.JSONArray(text.JSONOptions{}), filepath.Join(corpus, "tables", "movies.json"))
	case "weather", "zipcodes":
		return loadText(ctx, d, text.CSV(text.CSVOptions{}), filepath.Join(corpus, "tables", name+".csv"))
	case "logs16k", "logs1k":
		if err := loadLogs(d, filepath.Join(corpus, "logs")); err != nil {
			return err
		}
		if name == "logs16k" {
			rows = 16_000
		}
	case "flights1k", "flights20k", "flights50k":
		if err := loadParquet(ctx, d, filepath.Join(corpus, "flights", "flights-3m.parquet")); err != nil {
			return err
		}
		if name == "flights20k" {
			rows = 20_000
		} else if name == "flights50k" {
			rows = 50_000
		}
	default:
		return fmt.Errorf("there is no small table %q", name)
	}
	for _, b := range d.Batches {
		d.Rows += b.NumRows()
	}
	d.Cut(rows)
	return nil
}

// loadText reads a file of a text format, with the types that the command infers.
func loadText(ctx context.Context, d *suite.Dataset, f provider.Format, path string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	src, err := f.Open(ctx, provider.Input{Name: path, Reader: file, Size: -1, Closer: file}, provider.ReadOptions{BatchRows: suite.BatchRows})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	for b, err := range provider.Batches(ctx, src) {
		if err != nil {
			return err
		}
		b = plain(b)
		d.Schema, d.Batches = b.Schema(), append(d.Batches, b)
	}
	return nil
}

// plain is a batch with the storage of extension types, such as the texts of JSON values: Parquet returns these.
func plain(b arrow.RecordBatch) arrow.RecordBatch {
	fields, columns := b.Schema().Fields(), slices.Clone(b.Columns())
	for i, col := range columns {
		if e, ok := col.(array.ExtensionArray); ok {
			columns[i] = e.Storage()
			fields[i] = arrow.Field{Name: fields[i].Name, Type: columns[i].DataType(), Nullable: fields[i].Nullable}
		}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, b.NumRows())
}
