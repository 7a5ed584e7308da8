package tables

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/table/provider"
)

// Take returns the rows of a table at some positions, which are not negative, in their order; repetitions are allowed. If its formats know
// their number of rows, only these are read. Else it reads the rows up to the last one, and keeps those that are asked for.
func (u *Union) Take(ctx context.Context, positions []int64, o provider.ReadOptions) (provider.Source, error) {
	s := &takeSource{positions: positions, distinct: slices.Clone(positions)}
	slices.Sort(s.distinct)
	s.distinct = slices.Compact(s.distinct)
	var err error
	if !u.once() && len(positions) > 0 {
		o.Rows = rowset.Ranges(s.distinct)
		if s.Source, s.exactly, err = u.openExact(ctx, o); err != nil {
			return nil, err
		}
		n, _ := provider.PositionsOf(s.Source) // of the rows, some of which may be hidden
		if s.exactly && n == int64(len(s.distinct)) {
			return s, nil
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
		if s.exactly {
			n, _, _, err = u.Positions(ctx)
			return nil, cmp.Or(err, error(&NoRowError{Row: s.distinct[len(s.distinct)-1], Rows: n}))
		}
		o.Rows = nil
	}
	if s.Source, err = u.Open(ctx, o); err != nil {
		return nil, err
	}
	return s, nil
}

type takeSource struct {
	provider.Source
	positions []int64 // that are still to be returned
	distinct  []int64 // in ascending order
	exactly   bool    // the source has these rows only
	found     int     // of distinct
	read      int64   // rows of the source

	chunks []arrow.RecordBatch // the rows of distinct
	rows   arrow.RecordBatch   // all chunks
}

// NoRowError says that a table is shorter than a position.
type NoRowError struct{ Row, Rows int64 }

func (e *NoRowError) Error() string {
	return fmt.Sprintf("there is no row %d, the table has %d from 0", e.Row, e.Rows)
}

func (s *takeSource) Rows() (int64, bool) { return int64(len(s.positions)), true }

func (s *takeSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if len(s.positions) == 0 {
		return nil, nil
	}
	for s.found < len(s.distinct) {
		b, err := s.Source.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			if s.exactly {
				return nil, fmt.Errorf("%d of the %d rows are deleted", len(s.distinct)-s.found, len(s.distinct))
			}
			return nil, &NoRowError{s.distinct[s.found], s.read}
		}
		err = s.add(b)
		b.Release()
		if err != nil {
			return nil, err
		}
	}
	if s.rows == nil {
		var err error
		if s.rows, err = joined(s.chunks); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := min(len(s.positions), provider.DefaultBatchRows)
	rows := make([]int64, n)
	for i, p := range s.positions[:n] {
		at, _ := slices.BinarySearch(s.distinct, p)
		rows[i] = int64(at)
	}
	s.positions = s.positions[n:]
	return arrowutil.TakeRows(memory.DefaultAllocator, s.rows, rows)
}

// add keeps the rows of a batch that are asked for.
func (s *takeSource) add(b arrow.RecordBatch) error {
	if s.exactly {
		b.Retain()
		s.chunks = append(s.chunks, b)
		s.found += int(b.NumRows())
		return nil
	}
	ranges := provider.RangesOf(s.Source) // which know of hidden rows
	if ranges == nil {
		ranges = []provider.RowRange{{From: s.read, To: s.read + b.NumRows()}}
	}
	var rows []int64
	first := int64(0) // row of the batch
	for _, r := range ranges {
		for ; s.found < len(s.distinct) && s.distinct[s.found] < r.To; s.found++ {
			at := s.distinct[s.found]
			if at < r.From {
				return fmt.Errorf("row %d is deleted", at)
			}
			rows = append(rows, first+at-r.From)
		}
		first, s.read = first+r.To-r.From, r.To
	}
	if len(rows) == 0 {
		return nil
	}
	kept, err := arrowutil.TakeRows(memory.DefaultAllocator, b, rows)
	if err == nil {
		s.chunks = append(s.chunks, kept)
	}
	return err
}

// joined makes one batch of several, of which there is at least one.
func joined(batches []arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, batches[0].NumCols())
	defer arrowutil.ReleaseAll(columns)
	rows := int64(0)
	for _, b := range batches {
		rows += b.NumRows()
	}
	for i := range columns {
		var parts []arrow.Array
		for _, b := range batches {
			parts = append(parts, b.Column(i))
		}
		var err error
		if columns[i], err = arrowutil.Concatenate(memory.DefaultAllocator, parts); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(batches[0].Schema(), columns, rows), nil
}

func (s *takeSource) Close() error {
	if s.rows != nil {
		s.rows.Release()
		s.rows = nil
	}
	for _, b := range s.chunks {
		b.Release()
	}
	s.chunks = nil
	return s.Source.Close()
}
