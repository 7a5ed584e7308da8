package diff

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/table/provider"
)

// side is one of the two tables. Its batches have the columns that it has of [Columns], in their order, in the types of
// the comparison.
type side struct {
	*Comparison
	src    provider.Source
	isOld  bool
	schema *arrow.Schema
	from   []int // the position in the source of each column
	at     []int // by column of Columns: the position in the schema, or -1
}

func (c *Comparison) newSide(src provider.Source, isOld bool) *side {
	s := &side{Comparison: c, src: src, isOld: isOld}
	var fields []arrow.Field
	for _, column := range c.Columns.All {
		from := column.new
		if isOld {
			from = column.old
		}
		if from < 0 {
			s.at = append(s.at, -1)
			continue
		}
		f := src.Schema().Field(from)
		f.Nullable = true
		if f.Type = kinds.Decoded(f.Type); column.Common != nil {
			f.Type = column.Common
		}
		s.at = append(s.at, len(fields))
		fields = append(fields, f)
		s.from = append(s.from, from)
	}
	s.schema = arrow.NewSchema(fields, nil)
	return s
}

// next returns the next batch, or none at the end. The caller releases it.
func (s *side) next(ctx context.Context) (arrow.RecordBatch, error) {
	for {
		batch, err := s.src.Next(ctx)
		if err != nil || batch == nil {
			return nil, err
		}
		if batch.NumRows() == 0 {
			batch.Release()
			continue
		}
		out, err := s.convert(batch)
		batch.Release()
		return out, err
	}
}

// convert converts a batch of the source.
func (s *side) convert(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, len(s.from))
	defer func() { arrowutil.ReleaseAll(columns) }()
	for i, from := range s.from {
		var err error
		if columns[i], err = convert(s.mem, batch.Column(from), s.schema.Field(i).Type); err != nil {
			return nil, fmt.Errorf("column %q: %w", s.schema.Field(i).Name, err)
		}
	}
	return array.NewRecordBatch(s.schema, columns, batch.NumRows()), nil
}

// values are the values of a row by the columns of [Columns].
func (s *side) values(batch arrow.RecordBatch, row int) Values {
	v := Values{Index: row, Arrays: make([]arrow.Array, len(s.at))}
	for i, at := range s.at {
		if at >= 0 {
			v.Arrays[i] = batch.Column(at)
		}
	}
	return v
}

// cursor is a row of a side.
type cursor struct {
	*side
	batch    arrow.RecordBatch // nil at the end
	row      int
	position int64               // of the row in the table
	numbers  []provider.RowRange // of this row and the next ones of the batch; nil if they count from 0
}

// load reads the next batch.
func (c *cursor) load(ctx context.Context) (err error) {
	c.release()
	c.batch, err = c.next(ctx)
	if c.numbers = nil; c.batch != nil && c.o.Numbers {
		c.numbers = provider.RangesOf(c.src)
		c.place()
	}
	return err
}

func (c *cursor) release() {
	if c.batch != nil {
		c.batch.Release()
		c.batch = nil
	}
	c.row = 0
}

// left is the number of rows that the batch has left.
func (c *cursor) left() int {
	if c.batch == nil {
		return 0
	}
	return int(c.batch.NumRows()) - c.row
}

// equalers compare the columns that both tables have, in the order of [Columns]. Others are nil.
func (c *Comparison) equalers(a, b *cursor) []equaler {
	out := make([]equaler, len(c.Columns.All))
	for i, column := range c.Columns.All {
		if column.Common != nil {
			out[i] = newEqualer(a.batch.Column(a.at[i]), b.batch.Column(b.at[i]), c.o.Tolerance)
		}
	}
	return out
}

// compare returns the columns in which two rows differ.
func compare(equalers []equaler, i, k int) (columns []int) {
	for n, equal := range equalers {
		if equal != nil && !equal(i, k) {
			columns = append(columns, n)
		}
	}
	return columns
}
