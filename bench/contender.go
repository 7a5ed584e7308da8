package main

import (
	"context"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/amudai/amudai-go/edition"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/shard"
)

// contender is a format and a way to write it.
type contender struct {
	name  string
	write func(ctx context.Context, path string, s *arrow.Schema, next func() (arrow.RecordBatch, error)) error
	// scan reads the named columns, nil for all, and calls f with every batch.
	scan func(ctx context.Context, path string, columns []string, f func(arrow.RecordBatch) error) error
}

// baseName is the contender that all others are divided by.
const baseName = "parquet zstd"

func contenders() []contender {
	out := []contender{parquetContender(baseName, compress.Codecs.Zstd)}
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		for _, p := range []encoding.Profile{encoding.Balanced, encoding.HighCompression, encoding.MinimalSize} {
			out = append(out, shardContender(p, e))
		}
	}
	return out
}

func parquetContender(name string, codec compress.Compression) contender {
	return contender{
		name: name,
		write: func(_ context.Context, path string, s *arrow.Schema, next func() (arrow.RecordBatch, error)) error {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			defer f.Close()
			w, err := pqarrow.NewFileWriter(s, f, parquet.NewWriterProperties(
				parquet.WithCompression(codec), parquet.WithDictionaryDefault(true), parquet.WithPageIndexEnabled(true),
				parquet.WithMaxRowGroupLength(1<<20)), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
			if err != nil {
				return err
			}
			for {
				b, err := next()
				if err != nil {
					return err
				}
				if b == nil {
					return w.Close()
				}
				if err := w.WriteBuffered(b); err != nil {
					return err
				}
			}
		},
		scan: func(ctx context.Context, path string, columns []string, f func(arrow.RecordBatch) error) error {
			r, err := file.OpenParquetFile(path, false)
			if err != nil {
				return err
			}
			defer r.Close()
			fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
			if err != nil {
				return err
			}
			var indices []int
			for _, c := range columns {
				indices = append(indices, r.MetaData().Schema.ColumnIndexByName(c))
			}
			rr, err := fr.GetRecordReader(ctx, indices, nil)
			if err != nil {
				return err
			}
			defer rr.Release()
			for rr.Next() {
				if err := f(rr.RecordBatch()); err != nil {
					return err
				}
			}
			return rr.Err()
		},
	}
}

func shardContender(p encoding.Profile, e edition.Edition) contender {
	return contender{
		name: "amudai " + e.String() + " " + p.String(),
		write: func(ctx context.Context, path string, s *arrow.Schema, next func() (arrow.RecordBatch, error)) error {
			w, err := shard.Create(ctx, path, s, shard.WriterOptions{Profile: p, Edition: e, Overwrite: true})
			if err != nil {
				return err
			}
			defer w.Abort()
			for {
				b, err := next()
				if err != nil {
					return err
				}
				if b == nil {
					return w.Close(ctx)
				}
				if err := w.Write(ctx, b); err != nil {
					return err
				}
			}
		},
		scan: func(ctx context.Context, path string, columns []string, f func(arrow.RecordBatch) error) error {
			s, err := shard.Open(ctx, path, shard.OpenOptions{})
			if err != nil {
				return err
			}
			defer s.Close()
			for b, err := range s.Scan(ctx, shard.ScanOptions{Columns: columns, BatchRows: batchRows}) {
				if err != nil {
					return err
				}
				if err := f(b); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
