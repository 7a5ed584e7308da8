package order

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// Distinct finds the rows of batches that differ in some value from all rows before, in the order in which they appear.
// Add returns them at once, as long as the keys of all rows so far fit into memory. Other rows go to temporary files; Finish
// sorts them, and Next returns those that do not repeat. Values are equal as in an order: NaN is equal to NaN, -0 to 0. It is
// used by one goroutine. Close releases it in any state.
type Distinct struct {
	schema  *arrow.Schema
	o       Options
	encoder *Encoder

	seen KeySet
	full bool
	late *Sorter // rows that are not in the full set, with their positions behind the columns; by all columns
	rest *Sorter // those without repetition, by position
	rows int64   // rows added so far: the position of the next one
	key  []byte  // scratch
}

// NewDistinct returns the distinct rows of batches of a schema. Limit is not used.
func NewDistinct(schema *arrow.Schema, o Options) (*Distinct, error) {
	o = o.withDefaults()
	o.Memory /= 2 // for the set, and for a sorter
	o.Limit = 0
	e, err := NewEncoder(keysOf(schema))
	return &Distinct{schema: schema, o: o, encoder: e}, err
}

// keysOf are keys of all columns.
func keysOf(schema *arrow.Schema) []Key {
	keys := make([]Key, schema.NumFields())
	for i, f := range schema.Fields() {
		keys[i].Type = f.Type
	}
	return keys
}

// Add returns the rows of a batch that are new, or nil if there are none or if they are told later, by Next. The caller
// releases the result.
func (d *Distinct) Add(ctx context.Context, batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	rows, late := d.split(batch)
	var err error
	if len(late) > 0 {
		err = d.addLate(ctx, batch, late)
	}
	d.rows += batch.NumRows()
	if err = errors.Join(err, ctx.Err()); err != nil || len(rows) == 0 {
		return nil, err
	}
	return takeRows(d.o, batch, rows)
}

// split lists the rows whose keys are new to the set, and those for which it has no room.
func (d *Distinct) split(batch arrow.RecordBatch) (rows, late []int64) {
	key := d.encoder.Rows(batch.Columns()...)
	for row := range int(batch.NumRows()) {
		d.key = key(d.key[:0], row)
		if d.full {
			if _, known := d.seen.Find(d.key); !known {
				late = append(late, int64(row))
			}
			continue
		}
		if _, added := d.seen.Add(d.key); added {
			rows = append(rows, int64(row))
			d.full = d.seen.Size() >= d.o.Memory
		}
	}
	return rows, late
}

// takeRows makes a batch of rows of another one, in their order and each once.
func takeRows(o Options, batch arrow.RecordBatch, rows []int64) (arrow.RecordBatch, error) {
	if int64(len(rows)) == batch.NumRows() {
		batch.Retain()
		return batch, nil
	}
	return arrowutil.TakeRows(o.Allocator, batch, rows)
}

// addLate keeps rows for Finish.
func (d *Distinct) addLate(ctx context.Context, batch arrow.RecordBatch, rows []int64) (err error) {
	if d.late == nil {
		fields := append(slices.Clone(d.schema.Fields()), arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Int64})
		if d.late, err = NewSorter(arrow.NewSchema(fields, nil), keysOf(d.schema), d.o); err != nil {
			return err
		}
	}
	part, err := takeRows(d.o, batch, rows)
	if err != nil {
		return err
	}
	defer part.Release()
	b := array.NewInt64Builder(d.o.Allocator)
	defer b.Release()
	for _, row := range rows {
		b.Append(d.rows + row)
	}
	positions := b.NewArray()
	defer positions.Release()
	with := array.NewRecordBatch(d.late.Schema(), append(slices.Clone(part.Columns()), positions), part.NumRows())
	defer with.Release()
	return d.late.Add(ctx, with, part.Columns())
}

// Finish ends the input.
func (d *Distinct) Finish(ctx context.Context) (err error) {
	if d.late == nil {
		return ctx.Err()
	}
	d.seen = KeySet{}
	if err := d.late.Finish(ctx); err != nil {
		return err
	}
	if d.rest, err = NewSorter(d.schema, []Key{{Type: arrow.PrimitiveTypes.Int64}}, d.o); err != nil {
		return err
	}
	var last []byte
	for {
		b, err := d.late.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		last, err = d.addFirsts(ctx, b, last)
		b.Release()
		if err != nil {
			return err
		}
	}
	err = d.late.Close()
	return errors.Join(err, d.rest.Finish(ctx))
}

// addFirsts moves the first of equal rows to the result. last is the key of the row before.
func (d *Distinct) addFirsts(ctx context.Context, sorted arrow.RecordBatch, last []byte) ([]byte, error) {
	n := d.schema.NumFields()
	key := d.encoder.Rows(sorted.Columns()[:n]...)
	var rows []int64
	for row := range int(sorted.NumRows()) {
		d.key = key(d.key[:0], row)
		if last == nil || !bytes.Equal(d.key, last) {
			rows = append(rows, int64(row))
			last = append(last[:0], d.key...)
		}
	}
	part, err := takeRows(d.o, sorted, rows)
	if err != nil {
		return last, err
	}
	defer part.Release()
	columns := array.NewRecordBatch(d.schema, part.Columns()[:n], part.NumRows())
	defer columns.Release()
	return last, d.rest.Add(ctx, columns, part.Columns()[n:])
}

// Next returns further distinct rows after Finish, or none at the end. The caller releases the batch.
func (d *Distinct) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if d.rest == nil {
		return nil, nil
	}
	return d.rest.Next(ctx)
}

// Close releases memory and removes temporary files. It may be called in any state, and several times.
func (d *Distinct) Close() error {
	var err error
	for _, s := range []*Sorter{d.late, d.rest} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	d.late, d.rest = nil, nil
	return err
}
