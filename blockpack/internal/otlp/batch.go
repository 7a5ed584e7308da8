package otlp

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// AddBatch adds the rows of a batch of spans: from a Blockpack file, or any table with such columns. Values may have
// narrower types, and dictionaries, runs and views around them. A column that spans do not have is an error that names it.
// After an error the builder has the rows that it had before. The batch stays the caller's.
func (b *Builder) AddBatch(batch arrow.RecordBatch) error {
	columns, err := columnsOf(batch)
	if err != nil {
		return err
	}
	m := b.mark()
	if err := b.addColumns(columns, int(batch.NumRows())); err != nil {
		b.rollback(m)
		return err
	}
	return nil
}

// columnsOf converts the columns of a batch.
func columnsOf(batch arrow.RecordBatch) ([]*column.Column, error) {
	if err := arrowutil.CheckBatch(batch); err != nil {
		return nil, err
	}
	out := make([]*column.Column, batch.NumCols())
	seen := map[spans.Field]string{}
	for i, arr := range batch.Columns() {
		af := batch.Schema().Field(i)
		f, err := spans.Of(af)
		if err != nil {
			return nil, err
		}
		if other, ok := seen[f]; ok {
			return nil, fmt.Errorf("columns %q and %q both are %s of type %s", other, af.Name, f.Name, f.Type)
		}
		seen[f] = af.Name
		if out[i], err = spans.Column(arr, f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addColumns adds the rows of columns.
func (b *Builder) addColumns(columns []*column.Column, rows int) error {
	ids := 0
	given := map[*columnBuilder]*column.Column{}
	for _, c := range columns {
		to, err := b.target(c)
		if err != nil {
			return err
		}
		if to.always && to.idLen > 0 {
			if ids++; c.Present != nil {
				return fault.InColumn(fault.Corruptf("a span has no id"), c.Name)
			}
		}
		given[to] = c
		if to.always && c.Present != nil {
			continue
		}
		if err := b.addColumn(to, c); err != nil {
			return fault.InColumn(err, c.Name)
		}
	}
	for _, i := range requiredColumns {
		if to := b.fields[i]; given[to] == nil || given[to].Present != nil {
			if err := b.addRequired(to, given[to], rows); err != nil {
				return fault.InColumn(err, to.name)
			}
		}
	}
	if ids < 2 && rows > 0 {
		return fmt.Errorf("the columns %s and %s are missing", spans.TraceID, spans.SpanID)
	}
	b.addSizes(columns, rows)
	b.rows += rows
	b.stats.Spans += int64(rows)
	return nil
}

// target finds the builder of a column.
func (b *Builder) target(c *column.Column) (*columnBuilder, error) {
	if i, ok := spans.Index(c.Name); ok {
		return b.fields[i], nil
	}
	if scope, key, attr := scopeOf(c.Name); attr {
		return b.columnOf(scope, b.attrs[scope].after(&attribute{}, []byte(key)), c.Type)
	}
	return nil, fmt.Errorf("column %q is none of spans", c.Name)
}

// addColumn adds the values of a column to the rows after those that the builder has.
func (b *Builder) addColumn(to *columnBuilder, c *column.Column) error {
	codes, err := b.internAll(to, c)
	if err != nil {
		return err
	}
	for i, k := range c.Each() {
		row := b.rows + i
		switch {
		case codes != nil:
			err = to.addNumber(uint64(codes[k]), row, row+1)
		case !to.textual():
			err = to.addNumber(c.Values.Numbers[k], row, row+1)
		default:
			err = b.addContent(to, c.Values.Bytes(k), row, row+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// internAll interns the values of a column, if its builder does so, and returns their codes.
func (b *Builder) internAll(to *columnBuilder, c *column.Column) ([]uint32, error) {
	if !to.coded() {
		return nil, nil
	}
	b.unusedValues = b.unusedValues || c.Codes != nil
	codes := make([]uint32, c.Values.Len())
	for k := range codes {
		v := c.Values.Bytes(k)
		err := b.check(to, v)
		if err != nil {
			return nil, err
		}
		if codes[k], err = to.intern(v); err != nil {
			return nil, err
		}
	}
	return codes, nil
}

// requiredColumns are the columns but ids that every span has, the duration last.
var requiredColumns = [...]int{indexOf(spans.Name), indexOf(spans.Kind), startColumn, endColumn, durationColumn}

// addRequired adds a column that may have nulls, or be nil, to one that has a value in each row: an empty name, zeros, and the
// duration from start to end.
func (b *Builder) addRequired(to *columnBuilder, c *column.Column, rows int) error {
	if c == nil {
		c = &column.Column{Rows: rows, Present: make([]byte, (rows+7)/8)}
	}
	for i, k := range c.ByRow() {
		row := b.rows + i
		var err error
		switch {
		case to.textual() && k >= 0:
			err = b.addContent(to, c.Values.Bytes(int(k)), row, row+1)
		case to.textual():
			err = to.addBytes(nil, row, row+1)
		case k >= 0:
			err = to.addNumber(c.Values.Numbers[k], row, row+1)
		case to == b.fields[durationColumn]:
			err = to.addNumber(duration(b.fields[startColumn].numbers[row], b.fields[endColumn].numbers[row]), row, row+1)
		default:
			err = to.addNumber(0, row, row+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
