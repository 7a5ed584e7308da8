package read

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/table/parquet/internal/convert"
)

// Stream reads all rows of some columns in order, by pqarrow alone: what the engine reads must be the same.
type Stream struct {
	file    *File
	wanted  *projection.Projection
	columns []column // in the order of the result
	place   []int    // of each of them among those that pqarrow reads, which are in the order of the file
	leaves  []int
	group   int // the next row group
	rows    pqarrow.RecordReader
	arrow   *pqarrow.FileReader
}

// Stream begins to read the columns at paths, nil for all.
func (f *File) Stream(paths []string) (*Stream, error) {
	p, err := projection.New(f.schema, paths)
	if err != nil {
		return nil, err
	}
	s := &Stream{file: f, wanted: p, columns: make([]column, p.NumColumns()), place: make([]int, p.NumColumns())}
	tops := make([]int, p.NumColumns())
	for k := range tops {
		tops[k] = p.Index(k)
	}
	slices.Sort(tops)
	for k := range s.columns {
		s.columns[k] = f.columnOf(p.Index(k), p.Part(k), p.Schema().Field(k).Type)
		s.place[k], _ = slices.BinarySearch(tops, p.Index(k))
		s.leaves = append(s.leaves, s.columns[k].leaves...)
	}
	slices.Sort(s.leaves)
	s.arrow, err = pqarrow.NewFileReader(f.file, pqarrow.ArrowReadProperties{BatchSize: 1000}, memory.DefaultAllocator)
	return s, err
}

// Schema is that of every batch.
func (s *Stream) Schema() *arrow.Schema { return s.wanted.Schema() }

// Next returns the next batch, which the caller releases, or none at the end.
func (s *Stream) Next(ctx context.Context) (batch arrow.RecordBatch, err error) {
	done := s.file.at.open(&window{ctx: ctx, to: math.MaxInt64})
	defer done()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.rows == nil {
			if s.group >= len(s.file.groups) {
				return nil, nil
			}
			if batch, err := s.openGroup(ctx); batch != nil || err != nil {
				return batch, err
			}
			continue
		}
		err := convert.Guard(func() error {
			if !s.rows.Next() {
				return s.rows.Err()
			}
			batch, err = s.take(s.rows.RecordBatch())
			return err
		})
		if err != nil {
			return nil, s.file.Place(fmt.Errorf("row group %d: %w", s.group-1, err))
		}
		if batch != nil {
			return batch, nil
		}
		s.Close()
	}
}

// openGroup starts the next row group. A row group without columns is one batch.
func (s *Stream) openGroup(ctx context.Context) (arrow.RecordBatch, error) {
	g := s.group
	s.group++
	rows := s.file.groups[g].rows
	if rows == 0 {
		return nil, nil
	}
	if s.wanted.NumColumns() == 0 {
		return s.wanted.Batch(nil, rows)
	}
	err := convert.Guard(func() (err error) {
		s.rows, err = s.arrow.GetRecordReader(ctx, s.leaves, []int{g})
		return err
	})
	if err != nil {
		s.rows = nil
		return nil, s.file.Place(fmt.Errorf("row group %d: %w", g, err))
	}
	return nil, nil
}

// Close ends reading.
func (s *Stream) Close() {
	if s.rows != nil {
		_ = convert.Guard(func() error { s.rows.Release(); return nil })
		s.rows = nil
	}
}

// take checks a batch, and returns its columns in the requested order and types.
func (s *Stream) take(from arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, len(s.columns))
	for k := range s.columns {
		name := s.wanted.Schema().Field(k).Name
		c, err := s.columns[k].checked(memory.DefaultAllocator, from.Column(s.place[k]), int(from.NumRows()))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
		defer c.Release()
		columns[k] = c
	}
	return array.NewRecordBatch(s.wanted.Schema(), columns, from.NumRows()), nil
}
