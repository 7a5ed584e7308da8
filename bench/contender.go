package main

import (
	"context"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/amudai/amudai-go/edition"
	"github.com/amudai/amudai-go/encoding"
)

// contender is a format and a way to write and read it.
type contender interface {
	name() string
	// can tells whether the contender takes part in an operation on a data set.
	can(d *dataset, op string) bool
	write(ctx context.Context, path string, s *arrow.Schema, next source, threads int) error
	read(ctx context.Context, path string, q query, out *outcome) error
}

// source gives one batch after the other, nil at the end.
type source func() (arrow.RecordBatch, error)

// query is what to read.
type query struct {
	columns []string // nil for all
	where   conds    // nil for all rows
	text    string   // the same as text
	count   bool     // only the number of rows
	take    []int64  // rows in ascending order, nil for all
	threads int
	reuse   bool // batches may share memory with those before
}

// outcome takes the rows that a query brings.
type outcome struct {
	rows int64
	sum  *checksum // nil if nobody compares
}

// batch takes a batch.
func (o *outcome) batch(b arrow.RecordBatch) {
	o.rows += b.NumRows()
	if o.sum != nil {
		o.sum.add(b)
	}
}

// baseName is the contender that all others are divided by. lateName reads the
// same with much more code around it (see late).
const (
	baseName = "parquet zstd"
	lateName = "parquet zstd by hand"
)

func contenders() []contender {
	out := []contender{
		parquetFile{title: baseName, codec: compress.Codecs.Zstd}, parquetFile{title: lateName, codec: compress.Codecs.Zstd, late: true},
		parquetFile{title: "parquet snappy", codec: compress.Codecs.Snappy},
		parquetGo{}, arrowFile{"arrow ipc lz4", ipc.WithLZ4()}, arrowFile{"arrow ipc zstd", ipc.WithZstd()},
	}
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		for _, p := range []encoding.Profile{encoding.Balanced, encoding.HighCompression, encoding.MinimalSize} {
			out = append(out, shardFile{p, e})
		}
	}
	return out
}

// create opens a new file for writing and closes it after f.
func create(path string, f func(*os.File) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := f(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// each calls f with every batch.
func (next source) each(f func(arrow.RecordBatch) error) error {
	for {
		b, err := next()
		if err != nil || b == nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}
