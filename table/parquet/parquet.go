// Package parquet reads and writes Parquet files as Arrow record batches,
// behind the interfaces of package table, on arrow-go's pqarrow.
//
// Row groups are read one by one, in batches, so that memory depends on the sizes of batches and pages rather than on
// that of the file. Types come from the Arrow schema that Parquet writers may store (key ARROW:schema). If there is
// none, or if it cannot be read or does not fit, they come from the Parquet types. pqarrow may panic on damaged
// files. Such a panic becomes an error.
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

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/parquet/internal/read"
)

func init() { table.Register(New(Options{})) }

// Options are the options that only Parquet has. The zero value is the default.
type Options struct {
	Parallel     bool   // when reading: columns are decoded at the same time; for trusted files only, as a panic of arrow-go could not be caught
	RowGroupRows int64  // when writing: rows of a row group; default 1,048,576
	Level        int    // when writing: level of zstd, 1 to 22; default 3
	Compression  string // when writing: zstd (the default) or snappy
}

// New returns the format with some options.
func New(o Options) table.Format {
	return table.Format{
		Name: "parquet", Title: "Parquet", Extensions: []string{".parquet", ".pq"},
		Sniff: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("PAR1")) || bytes.HasPrefix(head, []byte("PARE"))
		},
		Reader: func(ctx context.Context, in table.Input, ro table.ReadOptions) (table.Source, error) {
			return open(ctx, in, ro, o)
		},
		Writer: func(ctx context.Context, out table.Output, schema *arrow.Schema, wo table.WriteOptions) (table.Sink, error) {
			return create(ctx, out, schema, wo, o)
		},
	}
}

// source is a file as a [table.Source].
type source struct {
	in     table.Input
	from   table.Stored
	reader storage.Reader
	file   *read.File
	rows   *read.Stream
}

func open(ctx context.Context, in table.Input, ro table.ReadOptions, o Options) (table.Source, error) {
	s := &source{in: in}
	if err := s.open(ctx, ro.WithDefaults(), o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context, ro table.ReadOptions, o Options) error {
	var err error
	if s.from, err = s.in.Stored(ro.TempDir); err != nil {
		return err
	}
	if s.reader, err = s.from.Store.Open(ctx, s.from.Location); err != nil {
		return err
	}
	s.file, err = read.Open(ctx, s.reader, read.Options{Allocator: ro.Allocator, BatchRows: ro.BatchRows, Parallel: o.Parallel, Columns: ro.Columns})
	if err != nil {
		return err
	}
	s.rows, err = s.file.Stream(ro.Columns)
	return err
}

// Schema implements [table.Source].
func (s *source) Schema() *arrow.Schema { return s.rows.Schema() }

// Rows implements [table.Source].
func (s *source) Rows() (int64, bool) { return s.file.NumRows(), true }

// Next implements [table.Source].
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) { return s.rows.Next(ctx) }

// Close implements [table.Source].
func (s *source) Close() error {
	if s.rows != nil {
		s.rows.Close()
	}
	var err error
	if s.reader != nil {
		err = s.reader.Close()
	}
	return errors.Join(err, s.from.Close(), s.in.Close())
}
