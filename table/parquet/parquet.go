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

	"github.com/amudai/amudai-go/internal/engine/external"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/read"
	"github.com/amudai/amudai-go/table/provider"
)

func init() {
	provider.Register(New(Options{}))
	external.Register(read.OpenExternal)
}

// Options are the options that only Parquet has. The zero value is the default.
type Options struct {
	Parallelism  int    // when reading: number of columns that are decoded at the same time; default GOMAXPROCS
	RowGroupRows int64  // when writing: rows of a row group; default 1,048,576
	Level        int    // when writing: level of zstd, 1 to 22; default 3
	Compression  string // when writing: zstd (the default) or snappy
}

// New returns the format with some options.
func New(o Options) provider.Format {
	return tablefile.Open(o.openTable).Complete(provider.Format{
		Name: "parquet", Title: "Parquet", Extensions: []string{".parquet", ".pq"},
		Sniff: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("PAR1")) || bytes.HasPrefix(head, []byte("PARE"))
		},
		Certain: true, KeepsBatches: true,
		Writer: func(ctx context.Context, out provider.Output, schema *arrow.Schema, wo provider.WriteOptions) (provider.Sink, error) {
			return create(ctx, out, schema, wo, o)
		},
		Statistics: statistics,
	})
}

// memoryLimit bounds the batches of a local file that are decoded ahead, in bytes.
const memoryLimit = 8 << 20

// openTable opens a file as a table of the engine.
func (o Options) openTable(ctx context.Context, in provider.Input, from provider.Stored, ro provider.ReadOptions) (*tablefile.File, error) {
	columns := ro.Columns
	if columns != nil {
		columns = slices.Concat(columns, ro.Filter.Columns())
	}
	f, end, err := open(ctx, in, from, columns)
	if err != nil {
		return nil, err
	}
	so := scan.Options{Parallelism: o.Parallelism}
	if f.reader.Capabilities().Latency != storage.LatencyHigh {
		so.MemoryLimit = memoryLimit
	}
	return &tablefile.File{Table: f.Table(ro.Dictionaries), Scan: so, Place: f.Place, Close: end}, nil
}

// opened is a file, and its bytes.
type opened struct {
	*read.File
	reader storage.Reader
}

// Close implements [io.Closer].
func (o opened) Close() error { return o.reader.Close() }

// open opens the file of an input that stays open once. Only types of INT96 depend on the columns that are read.
func open(ctx context.Context, in provider.Input, from provider.Stored, columns []string) (f opened, end func() error, err error) {
	with := func(columns []string) (opened, error) {
		r, err := from.Store.Open(ctx, from.Location)
		if err != nil {
			return opened{}, err
		}
		f, err := read.Open(ctx, r, columns)
		if err != nil {
			return opened{}, errors.Join(err, r.Close())
		}
		return opened{f, r}, nil
	}
	if f, end, err = provider.OpenShared(in, func() (opened, error) { return with([]string{}) }); err != nil || !f.HasInt96() {
		return f, end, err
	}
	if err := end(); err != nil {
		return f, nil, err
	}
	if f, err = with(columns); err != nil {
		return f, nil, err
	}
	return f, f.Close, nil
}

// statistics implements [provider.Format.Statistics], by the footer alone.
func statistics(ctx context.Context, in provider.Input, columns []string) (out *provider.Statistics, err error) {
	if tablefile.IsPipe(in) {
		return nil, nil
	}
	from, err := in.Stored("")
	if err != nil {
		return nil, err
	}
	f, end, err := open(ctx, in, from, append([]string{}, columns...))
	if err == nil {
		out, err = summaries(ctx, f, columns)
		err = errors.Join(err, end())
	}
	return out, errors.Join(err, from.Close())
}

// summaries are what a file records of columns; nil are all of them.
func summaries(ctx context.Context, f opened, columns []string) (*provider.Statistics, error) {
	if columns == nil {
		columns = projection.Paths(f.Schema().Fields())
	}
	t, out := f.Table(false), &provider.Statistics{Rows: f.NumRows(), Columns: make([]provider.ColumnStatistics, len(columns))}
	for i, path := range columns {
		var err error
		if out.Columns[i], err = t.Summary(ctx, path); err != nil {
			return nil, f.Place(err)
		}
	}
	return out, nil
}
