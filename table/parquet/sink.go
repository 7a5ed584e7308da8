package parquet

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/convert"
	"github.com/amudai/amudai-go/table/provider"
)

// Defaults of the writer.
const (
	defaultRowGroupRows = 1 << 20
	defaultLevel        = 3
	maxGroupBytes       = 256 << 20 // maximum bytes of an open row group in memory
)

// codecs are the compressions by name.
var codecs = map[string]compress.Compression{"": compress.Codecs.Zstd, "zstd": compress.Codecs.Zstd, "snappy": compress.Codecs.Snappy}

// sink writes a file, which is published by a sink of package tablefile.
type sink struct {
	to    *storage.IOWriter
	w     *pqarrow.FileWriter
	plain *convert.Plainer
	rows  int64 // of the open row group
	limit int64
}

func create(ctx context.Context, out provider.Output, schema *arrow.Schema, wo provider.WriteOptions, o Options) (provider.Sink, error) {
	wo.Allocator = cmp.Or(wo.Allocator, memory.DefaultAllocator)
	o.RowGroupRows = cmp.Or(max(o.RowGroupRows, 0), defaultRowGroupRows)
	o.Level = cmp.Or(o.Level, defaultLevel)
	if o.Level < 1 || o.Level > 22 {
		return nil, fmt.Errorf("zstd has no level %d: use 1 to 22", o.Level)
	}
	codec, ok := codecs[o.Compression]
	if !ok {
		return nil, fmt.Errorf("unknown compression %q of Parquet: use zstd or snappy", o.Compression)
	}
	s := &sink{to: &storage.IOWriter{Context: ctx, Writer: out}, limit: o.RowGroupRows, plain: convert.NewPlainer(schema, wo)}
	options := []pq.WriterProperty{pq.WithAllocator(wo.Allocator), pq.WithCompression(codec),
		pq.WithCompressionLevel(o.Level), pq.WithMaxRowGroupLength(o.RowGroupRows), pq.WithCreatedBy("amudai-go"),
		pq.WithDictionaryDefault(true), pq.WithVersion(pq.V2_LATEST)}
	for _, f := range s.plain.Schema.Fields() {
		for _, path := range floatPaths(nil, pq.ColumnPath{f.Name}, f.Type) {
			// The dictionary of floats takes all NaNs for one, and would change their payloads.
			options = append(options, pq.WithDictionaryPath(path, false))
		}
	}
	props := pq.NewWriterProperties(options...)
	var err error
	if s.plain.Schema, err = convert.WithStored(s.plain.Schema, schema); err != nil {
		return nil, err
	}
	err = convert.Guard(func() (err error) {
		arrowProps := pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(wo.Allocator))
		s.w, err = pqarrow.NewFileWriter(s.plain.Schema, s.to, props, arrowProps)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("writing Parquet: %w", err)
	}
	return tablefile.NewSink(s, out), nil
}

// floatPaths appends the Parquet paths of all columns of float32 and float64 in the column at a path.
func floatPaths(paths []pq.ColumnPath, path pq.ColumnPath, t arrow.DataType) []pq.ColumnPath {
	names := kinds.Names(t)
	switch id := t.ID(); {
	case id == arrow.FLOAT32 || id == arrow.FLOAT64:
		return append(paths, path)
	case kinds.Of(t) == kinds.List && len(names) > 1: // a map
		path = append(path, "key_value")
	case kinds.Of(t) == kinds.List:
		path, names = append(path, "list"), []string{"element"}
	case kinds.Of(t) == kinds.Wrap:
		return floatPaths(paths, path, kinds.Inner(t))
	}
	for i, f := range kinds.Fields(t) {
		paths = floatPaths(paths, append(slices.Clone(path), names[i]), f.Type)
	}
	return paths
}

func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	s.to.Context = ctx
	if err := ctx.Err(); err != nil {
		return err
	}
	batch, err := s.plain.Batch(batch)
	if err != nil {
		return err
	}
	defer batch.Release()
	err = convert.Guard(func() error {
		for at := int64(0); at < batch.NumRows(); {
			n := min(s.limit-s.rows, batch.NumRows()-at)
			part := batch.NewSlice(at, at+n)
			err := s.w.WriteBuffered(part)
			part.Release()
			if err != nil {
				return err
			}
			at += n
			s.rows += n
			if s.rows >= s.limit || s.w.RowGroupTotalCompressedBytes() >= maxGroupBytes {
				if err := s.w.NewBufferedRowGroupChecked(); err != nil {
					return err
				}
				s.rows = 0
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("writing Parquet: %w", err)
	}
	return nil
}

func (s *sink) Close(ctx context.Context) error {
	s.to.Context = ctx
	err := convert.Guard(s.w.Close)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("writing Parquet: %w", err)
	}
	return nil
}

func (s *sink) Abort(context.Context) error { return nil }
