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
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/amudai/amudai-go/table"
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

type source struct {
	in     table.Input
	o      table.ReadOptions
	pq     Options
	temp   *table.Spooled
	file   *file.Reader
	arrow  *pqarrow.FileReader
	stored *arrow.Schema          // nil if there is none
	units  map[int]arrow.TimeUnit // INT96 leaves that are read as 12 bytes
	wanted *table.Projection
	leaves []int        // of the requested columns
	reads  []readColumn // how each requested column is read
	group  int          // the next row group
	rows   pqarrow.RecordReader
}

// streamBuffer is the number of bytes of a column chunk that are read at a time.
const streamBuffer = 1 << 20

func open(ctx context.Context, in table.Input, ro table.ReadOptions, o Options) (table.Source, error) {
	s := &source{in: in, o: ro.WithDefaults(), pq: o}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, s.wrap(err)
	}
	return s, nil
}

func (s *source) open(ctx context.Context) error {
	at, size := s.in.At, s.in.Size
	if at == nil || size < 0 {
		var err error
		if s.temp, err = table.Spool(s.in.Reader, s.o.TempDir); err != nil {
			return err
		}
		at, size = s.temp, s.temp.Size()
	}
	if err := checkMagic(at, size); err != nil {
		return err
	}
	return guard(func() error {
		err := guard(func() error { return s.openFile(at, size) })
		if isUnknownLogicalType(err) {
			if at, size, err = withFooter(at, size, footerCopier{}); err == nil {
				err = s.openFile(at, size)
			}
		}
		if err != nil {
			return err
		}
		units, err := s.int96Units(ctx)
		if err != nil || units == nil {
			return err
		}
		if at, size, err = withFooter(at, size, footerCopier{int96: true}); err != nil {
			return err
		}
		before := s.file
		defer before.Close()
		s.units = map[int]arrow.TimeUnit{}
		for leaf := range before.MetaData().Schema.NumColumns() {
			if isInt96(before.MetaData().Schema, leaf) {
				s.units[leaf] = arrow.Nanosecond
			}
		}
		maps.Copy(s.units, units)
		return s.openFile(at, size)
	})
}

// openFile reads the footer and finds the columns.
func (s *source) openFile(at io.ReaderAt, size int64) error {
	props := pq.NewReaderProperties(s.o.Allocator)
	props.BufferedStreamEnabled = true
	props.BufferSize = streamBuffer
	props.MaxCompressedPageSize = size // no page is larger than its file
	var err error
	if s.file, err = file.NewParquetReader(io.NewSectionReader(at, 0, size), file.WithReadProps(props)); err != nil {
		return err
	}
	s.stored = takeStored(s.file.MetaData().KeyValueMetadata())
	// Parallel is off by default: a panic in pqarrow's goroutines could not be caught.
	arrowProps := pqarrow.ArrowReadProperties{BatchSize: int64(s.o.BatchRows), Parallel: s.pq.Parallel}
	if s.arrow, err = pqarrow.NewFileReader(s.file, arrowProps, s.o.Allocator); err != nil {
		return err
	}
	if err := s.checkGroups(size); err != nil {
		return err
	}
	return s.project()
}

// checkMagic checks both ends of the file, for a clear error.
func checkMagic(at io.ReaderAt, size int64) error {
	var head, tail [4]byte
	if size >= 12 {
		if _, err := at.ReadAt(head[:], 0); err != nil {
			return err
		}
		if _, err := at.ReadAt(tail[:], size-4); err != nil {
			return err
		}
	}
	switch {
	case size < 12:
		return fmt.Errorf("not a Parquet file: %d bytes are too few", size)
	case string(tail[:]) == "PARE":
		return errors.New("the file is encrypted, which is not supported")
	case string(head[:]) != "PAR1":
		return fmt.Errorf("not a Parquet file: it starts with %q", head[:])
	case string(tail[:]) != "PAR1":
		return errors.New("the Parquet file has no footer: it is cut off or unfinished")
	}
	return nil
}

// checkGroups checks the row groups in the footer, because pqarrow uses them unchecked in goroutines of its own.
func (s *source) checkGroups(size int64) error {
	leaves := s.file.MetaData().Schema.NumColumns()
	for g := range s.file.NumRowGroups() {
		meta := s.file.MetaData().RowGroup(g)
		if meta.NumRows() < 0 {
			return fmt.Errorf("row group %d has %d rows", g, meta.NumRows())
		}
		if meta.NumColumns() != leaves {
			return fmt.Errorf("row group %d has %d column chunks, the schema has %d", g, meta.NumColumns(), leaves)
		}
		for c := range leaves {
			chunk, err := meta.ColumnChunk(c)
			if err != nil {
				return fmt.Errorf("row group %d, column chunk %d: %w", g, c, err)
			}
			if from, n := chunk.DataPageOffset(), chunk.TotalCompressedSize(); from < 0 || n < 0 || from > size || n > size {
				return fmt.Errorf("row group %d, column chunk %d: %d bytes at %d lie outside the file of %d bytes", g, c, n, from, size)
			}
		}
	}
	return nil
}

// guard converts a panic of the reader to an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid Parquet data: %v", r)
		}
	}()
	return f()
}

func (s *source) wrap(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text := strings.TrimPrefix(err.Error(), "parquet: ")
	return fmt.Errorf("%w (in %s)", plainError{text, err}, s.in.Name)
}

// plainError replaces the text of an error that it wraps.
type plainError struct {
	text string
	err  error
}

func (e plainError) Error() string { return e.text }
func (e plainError) Unwrap() error { return e.err }

// Schema implements [table.Source].
func (s *source) Schema() *arrow.Schema { return s.wanted.Schema() }

// Rows implements [table.Source].
func (s *source) Rows() (int64, bool) {
	rows := int64(0) // the total of the file may be wrong
	for g := range s.file.NumRowGroups() {
		rows += s.file.MetaData().RowGroup(g).NumRows()
	}
	return rows, true
}

// Next implements [table.Source].
func (s *source) Next(ctx context.Context) (batch arrow.RecordBatch, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.rows == nil {
			if s.group >= s.file.NumRowGroups() {
				return nil, io.EOF
			}
			if batch, err := s.openGroup(ctx); batch != nil || err != nil {
				return batch, err
			}
			continue
		}
		err := guard(func() error {
			if !s.rows.Next() {
				return s.rows.Err()
			}
			batch, err = s.take(s.rows.RecordBatch())
			return err
		})
		if err != nil {
			return nil, s.wrap(fmt.Errorf("row group %d: %w", s.group-1, err))
		}
		if batch != nil {
			return batch, nil
		}
		s.closeGroup()
	}
}

// openGroup starts the next row group. A row group without columns is one batch.
func (s *source) openGroup(ctx context.Context) (arrow.RecordBatch, error) {
	g := s.group
	s.group++
	rows := s.file.MetaData().RowGroup(g).NumRows()
	if rows == 0 {
		return nil, nil
	}
	if s.wanted.NumColumns() == 0 {
		return s.wanted.Batch(nil, rows), nil
	}
	err := guard(func() (err error) {
		s.rows, err = s.arrow.GetRecordReader(ctx, s.leaves, []int{g})
		return err
	})
	if err != nil {
		s.rows = nil
		return nil, s.wrap(fmt.Errorf("row group %d: %w", g, err))
	}
	return nil, nil
}

func (s *source) closeGroup() {
	if s.rows != nil {
		_ = guard(func() error { s.rows.Release(); return nil })
		s.rows = nil
	}
}

// Close implements [table.Source].
func (s *source) Close() error {
	s.closeGroup()
	var err error
	if s.file != nil {
		err = guard(s.file.Close)
	}
	return errors.Join(err, s.temp.Close(), s.in.Close())
}
