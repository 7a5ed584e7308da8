// Package parquet reads and writes Parquet files as Arrow record batches,
// behind the interfaces of package provider, on arrow-go.
//
// Files are read by the engine that scans shards, with row groups as its stripes: see package read inside of this one.
// Filters leave out row groups and pages by statistics, page indexes, Bloom filters and dictionaries, and other columns are
// read for the rows that remain. Memory depends on the sizes of batches and pages rather than on that of the file. Types
// come from the Arrow schema that Parquet writers may store (key ARROW:schema). If there is none, or if it cannot be read or
// does not fit, they come from the Parquet types. arrow-go may panic on damaged files. Such a panic becomes an error.
//
// Writing compresses with zstd and stores the Arrow schema, so that every Arrow type except unions comes back
// unchanged. Unions become JSON text. Other readers see the nearest type of Parquet: dictionaries, runs and views as
// plain values, durations as integers, seconds as milliseconds, intervals as ISO 8601 text. Values that would change
// are errors: a date64 with a time of day, and seconds out of the range of milliseconds.
package parquet

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/rowio"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/read"
	"github.com/amudai/amudai-go/table/provider"
)

func init() { provider.Register(New(Options{})) }

// Options are the options that only Parquet has. The zero value is the default.
type Options struct {
	Parallelism  int    // when reading: number of columns that are decoded at the same time; default GOMAXPROCS
	RowGroupRows int64  // when writing: rows of a row group; default 1,048,576
	Level        int    // when writing: level of zstd, 1 to 22; default 3
	Compression  string // when writing: zstd (the default) or snappy
}

// New returns the format with some options.
func New(o Options) provider.Format {
	return provider.Format{
		Name: "parquet", Title: "Parquet", Extensions: []string{".parquet", ".pq"},
		Sniff: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("PAR1")) || bytes.HasPrefix(head, []byte("PARE"))
		},
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			return open(ctx, in, ro, o)
		},
		Certain: true, Filters: true, Ranges: true, ExactRows: true, KeepsBatches: true,
		Writer: func(ctx context.Context, out provider.Output, schema *arrow.Schema, wo provider.WriteOptions) (provider.Sink, error) {
			return create(ctx, out, schema, wo, o)
		},
		Explain: explain, Statistics: statistics,
	}
}

// source is a file as a [provider.Source].
type source struct {
	in      provider.Input
	from    provider.Stored
	reader  storage.Reader
	file    *read.File
	batches rowio.Source
	rows    int64
	known   bool // without a filter
}

func open(ctx context.Context, in provider.Input, ro provider.ReadOptions, o Options) (provider.Source, error) {
	s := &source{in: in}
	if err := s.open(ctx, ro.WithDefaults(), o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context, ro provider.ReadOptions, o Options) error {
	var err error
	if s.from, err = s.in.Stored(ro.TempDir); err != nil {
		return err
	}
	if s.reader, err = s.from.Store.Open(ctx, s.from.Location); err != nil {
		return err
	}
	columns := ro.Columns
	if columns != nil {
		columns = slices.Concat(columns, ro.Filter.Columns())
	}
	if s.file, err = read.Open(ctx, s.reader, read.Options{Columns: columns}); err != nil {
		return err
	}
	t := s.file.Table(ro.Dictionaries)
	so := scan.Options{
		Columns: ro.Columns, Filter: ro.Filter, Allocator: ro.Allocator, BatchRows: ro.BatchRows, Limit: ro.Limit,
		Parallelism: o.Parallelism, MemoryLimit: memoryLimit,
	}
	so.Rows, s.rows = ro.Within(t.NumRows())
	s.known = ro.Filter.IsZero()
	rows, err := scan.NewReader(ctx, t, so)
	if err != nil {
		return s.file.Place(err)
	}
	s.batches = rowio.NewSource(rows, nil)
	return nil
}

// memoryLimit bounds the batches that are decoded ahead, in bytes.
const memoryLimit = 8 << 20

func (s *source) Schema() *arrow.Schema {
	return s.batches.Schema()
}

func (s *source) Rows() (int64, bool) { return s.rows, s.known }

func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	return s.batches.Next(ctx)
}

func (s *source) Close() error {
	s.batches.Release()
	var err error
	if s.reader != nil {
		err = s.reader.Close()
	}
	return errors.Join(err, s.from.Close(), s.in.Close())
}

// explain describes how a scan finds its rows.
func explain(ctx context.Context, in provider.Input, eo provider.ExplainOptions) (x *provider.Explanation, err error) {
	columns := eo.Columns
	if columns != nil {
		columns = slices.Concat(columns, eo.Filter.Columns())
	}
	do := scan.Explain
	if eo.Run {
		do = scan.Analyze
	}
	err = withFile(ctx, in, read.Options{Columns: columns}, func(f *read.File) (err error) {
		x, err = do(ctx, f.Table(false), scan.Options{Columns: eo.Columns, Filter: eo.Filter, Limit: eo.Limit})
		return f.Place(err)
	})
	return x, err
}
