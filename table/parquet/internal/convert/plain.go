// Package convert converts between Arrow types that Parquet or pqarrow lacks and those that they have: both ways for the
// types that the stored Arrow schema names, and from old forms of lists and times.
package convert

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
)

// Plainer converts columns that pqarrow does not write, or not exactly, to columns that it writes. The stored Arrow
// schema restores them (restore.go).
type Plainer struct {
	Schema *arrow.Schema // as written
	change []bool
	mem    memory.Allocator
}

// NewPlainer returns the converter of the columns of a schema.
func NewPlainer(schema *arrow.Schema, o provider.WriteOptions) *Plainer {
	p := &Plainer{change: make([]bool, schema.NumFields()), mem: o.Allocator}
	fields := make([]arrow.Field, schema.NumFields())
	for i, f := range schema.Fields() {
		fields[i] = plainField(f)
		p.change[i] = !arrow.TypeEqual(fields[i].Type, f.Type)
		form := ""
		if kinds.Of(f.Type) == kinds.Choice {
			form = "JSON text"
		} else if fields[i].Type.ID() == arrow.STRING && kinds.Decoded(f.Type).ID() == f.Type.ID() {
			form = "text"
		}
		if o.Notice != nil && p.change[i] && form != "" {
			o.Notice(fmt.Sprintf("column %q: Parquet has no %s; it is written as %s", f.Name, text.Type(f.Type), form))
		}
	}
	meta := schema.Metadata()
	p.Schema = arrow.NewSchema(fields, &meta)
	return p
}

// plainField returns the field of which values of f are written.
func plainField(f arrow.Field) arrow.Field {
	f.Nullable = f.Nullable || kinds.Of(f.Type) == kinds.Choice // whose nulls are those of alternatives
	f.Type = plainType(f.Type)
	return f
}

// plainType returns the type in which values of t are written.
func plainType(t arrow.DataType) arrow.DataType {
	t = kinds.Decoded(t) // of pqarrow's own dictionaries, the statistics leave out the empty string
	fields := kinds.Fields(t)
	for i := range fields {
		fields[i] = plainField(fields[i])
	}
	switch shape, form := kinds.Of(t), kinds.LayoutOf(t).Form; {
	case shape == kinds.Choice:
		return extension.JSON(arrow.BinaryTypes.String)
	case shape == kinds.Record && len(fields) == 0:
		return filledStruct
	case shape == kinds.List && form == kinds.Parallel: // pqarrow refuses null lists of a fixed size
		return arrow.ListOfField(fields[0])
	case shape == kinds.List && form == kinds.RowViews:
		return arrow.LargeListOfField(fields[0])
	}
	switch t.ID() {
	case arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
		return arrow.BinaryTypes.String
	case arrow.DURATION:
		return arrow.PrimitiveTypes.Int64
	case arrow.DATE64:
		return arrow.FixedWidthTypes.Date32
	case arrow.TIME32:
		return arrow.FixedWidthTypes.Time32ms
	case arrow.DECIMAL32, arrow.DECIMAL64:
		d := t.(arrow.DecimalType)
		return &arrow.Decimal128Type{Precision: d.GetPrecision(), Scale: d.GetScale()}
	case arrow.TIMESTAMP:
		if t := t.(*arrow.TimestampType); t.Unit == arrow.Second {
			return &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: t.TimeZone}
		}
	}
	return kinds.With(arrowutil.WithoutView(t), fields)
}

// filledStruct stands for a struct without fields, which Parquet does not have: its only field is always null.
var filledStruct = arrow.StructOf(arrow.Field{Name: "empty", Type: arrow.FixedWidthTypes.Boolean, Nullable: true})

// Batch converts a batch. The caller releases it.
func (p *Plainer) Batch(b arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, b.NumCols())
	for i, c := range b.Columns() {
		if !p.change[i] {
			columns[i] = c
			continue
		}
		plain, err := p.array(c)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", p.Schema.Field(i).Name, err)
		}
		defer plain.Release()
		columns[i] = plain
	}
	return array.NewRecordBatch(p.Schema, columns, b.NumRows()), nil
}

// array converts an array. The caller releases it.
func (p *Plainer) array(a arrow.Array) (arrow.Array, error) {
	t := plainType(a.DataType())
	if arrow.TypeEqual(t, a.DataType()) {
		a.Retain()
		return a, nil
	}
	switch kinds.Of(a.DataType()) {
	case kinds.Wrap:
		plain, err := arrowutil.Plain(p.mem, a)
		if err != nil {
			return nil, err
		}
		defer plain.Release()
		return p.array(plain)
	case kinds.Choice:
		texts := p.text(a, values.JSON(a))
		defer texts.Release()
		return arrowutil.Wrap(p.mem, texts, t)
	case kinds.Record:
		if len(kinds.Fields(a.DataType())) == 0 {
			empty := arrowutil.Nulls(p.mem, filledStruct.Field(0).Type, a.Len())
			empty.Data().Retain()
			defer empty.Release()
			return arrowutil.Make(t, a.Len(), []*memory.Buffer{arrowutil.CopyValidity(p.mem, a)}, []arrow.ArrayData{empty.Data()}, a.NullN()), nil
		}
	case kinds.List:
		if a.DataType().ID() != t.ID() {
			return arrowutil.Relist(p.mem, a, t.(arrow.ListLikeType), func(items arrow.Array, _ func(int) int) (arrow.Array, error) { return p.array(items) })
		}
	default:
		return p.scalars(a, t)
	}
	return arrowutil.Rebuild(p.mem, a, t, func(_ int, part arrow.Array) (arrow.Array, error) { return p.array(part) })
}

// scalars converts numbers to the width or unit that Parquet has.
func (p *Plainer) scalars(a arrow.Array, t arrow.DataType) (arrow.Array, error) {
	switch a := a.(type) {
	case *array.MonthInterval, *array.DayTimeInterval, *array.MonthDayNanoInterval:
		return p.text(a, values.Text(a)), nil
	case *array.StringView, *array.BinaryView:
		return arrowutil.Plain(p.mem, a)
	case *array.Duration:
		return Relabel(a, t), nil
	case *array.Date64:
		return numbers(p.mem, a, t, func(row int, v int64) (int64, error) {
			if v%dayMillis != 0 {
				return 0, fmt.Errorf("a date64 has a time of day (row %d of the batch), which a Parquet date cannot hold; use a timestamp", row)
			}
			return v / dayMillis, nil
		})
	case *array.Timestamp:
		return p.millis(a, t, math.MaxInt64/1000)
	case *array.Time32:
		return p.millis(a, t, math.MaxInt32/1000)
	case *array.Decimal32, *array.Decimal64:
		return decimals(p.mem, a, t.(arrow.DecimalType))
	}
	return nil, fmt.Errorf("%s cannot be written as %s", a.DataType(), t)
}

// millis converts seconds to milliseconds.
func (p *Plainer) millis(a arrow.Array, t arrow.DataType, most int64) (arrow.Array, error) {
	return numbers(p.mem, a, t, func(row int, v int64) (int64, error) {
		if v > most || v < -most {
			return 0, fmt.Errorf("%d s is out of the range of milliseconds (row %d of the batch), which Parquet has for seconds", v, row)
		}
		return v * 1000, nil
	})
}

// text writes each value as a string.
func (p *Plainer) text(a arrow.Array, text func([]byte, int) []byte) arrow.Array {
	b := array.NewStringBuilder(p.mem)
	defer b.Release()
	var buf []byte
	valid := arrowutil.Validity(a)
	for i := range a.Len() {
		if !valid.At(i) {
			b.AppendNull()
			continue
		}
		buf = text(buf[:0], i)
		b.BinaryBuilder.Append(buf)
	}
	return b.NewArray()
}
