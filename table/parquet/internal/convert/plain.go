// Package convert converts between Arrow types that Parquet or pqarrow lacks and those that they have: both ways for the
// types that the stored Arrow schema names, and from old forms of lists and times.
package convert

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
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
		t := plainType(f.Type)
		p.change[i] = !arrow.TypeEqual(t, f.Type)
		if id := f.Type.ID(); o.Notice != nil && p.change[i] && t.ID() == arrow.STRING && id != arrow.RUN_END_ENCODED && id != arrow.DICTIONARY {
			o.Notice(fmt.Sprintf("column %q: Parquet has no %s; it is written as text", f.Name, text.Type(f.Type)))
		}
		f.Type = t
		fields[i] = f
	}
	meta := schema.Metadata()
	p.Schema = arrow.NewSchema(fields, &meta)
	return p
}

// plainType returns the type in which values of t are written.
func plainType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.RunEndEncodedType:
		return plainType(t.Encoded())
	case *arrow.DictionaryType: // of pqarrow's own dictionaries, the statistics leave out the empty string
		return plainType(t.ValueType)
	case *arrow.ListType:
		return arrow.ListOfField(plainField(t.ElemField()))
	case *arrow.FixedSizeListType: // pqarrow refuses null ones
		return arrow.ListOfField(plainField(t.ElemField()))
	case *arrow.LargeListType, *arrow.ListViewType, *arrow.LargeListViewType:
		return arrow.LargeListOfField(plainField(t.(arrow.ListLikeType).ElemField()))
	case *arrow.MapType:
		m := arrow.MapOfFields(arrow.Field{Name: "key", Type: plainType(t.KeyType())}, plainField(t.ItemField()))
		m.KeysSorted = t.KeysSorted
		return m
	case *arrow.StructType:
		if t.NumFields() == 0 {
			return filledStruct
		}
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = plainField(f)
		}
		return arrow.StructOf(fields...)
	case arrow.ExtensionType:
		if s := plainType(t.StorageType()); !arrow.TypeEqual(s, t.StorageType()) {
			return s
		}
	case *arrow.TimestampType:
		if t.Unit == arrow.Second {
			return &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: t.TimeZone}
		}
	case *arrow.Time32Type:
		return arrow.FixedWidthTypes.Time32ms
	case arrow.DecimalType:
		if t.BitWidth() < 128 {
			return &arrow.Decimal128Type{Precision: t.GetPrecision(), Scale: t.GetScale()}
		}
	}
	return plainScalar(t)
}

// filledStruct stands for a struct without fields, which Parquet does not have: its only field is always null.
var filledStruct = arrow.StructOf(arrow.Field{Name: "empty", Type: arrow.FixedWidthTypes.Boolean, Nullable: true})

func plainScalar(t arrow.DataType) arrow.DataType {
	switch t.ID() {
	case arrow.STRING_VIEW:
		return arrow.BinaryTypes.LargeString
	case arrow.BINARY_VIEW:
		return arrow.BinaryTypes.LargeBinary
	case arrow.DURATION:
		return arrow.PrimitiveTypes.Int64
	case arrow.DATE64:
		return arrow.FixedWidthTypes.Date32
	case arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO, arrow.SPARSE_UNION, arrow.DENSE_UNION:
		return arrow.BinaryTypes.String
	}
	return t
}

func plainField(f arrow.Field) arrow.Field {
	f.Type = plainType(f.Type)
	return f
}

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
	switch a := a.(type) {
	case *array.RunEndEncoded, *array.Dictionary, *array.ListView, *array.LargeListView, *array.StringView, *array.BinaryView, array.ExtensionArray:
		plain, err := arrowutil.Plain(p.mem, a)
		if err != nil {
			return nil, err
		}
		defer plain.Release()
		return p.array(plain)
	case *array.FixedSizeList:
		return p.lists(a, t)
	case *array.Struct:
		return p.children(a, t)
	case *array.List, *array.LargeList, *array.Map:
		return p.items(a.(array.ListLike), t)
	case array.Union:
		return p.text(a, values.JSON(a)), nil
	case *array.MonthInterval, *array.DayTimeInterval, *array.MonthDayNanoInterval:
		return p.text(a, values.Text(a)), nil
	}
	return p.scalars(a, t)
}

// scalars converts numbers to the width or unit that Parquet has.
func (p *Plainer) scalars(a arrow.Array, t arrow.DataType) (arrow.Array, error) {
	switch a := a.(type) {
	case *array.Duration:
		return Relabel(a, t), nil
	case *array.Date64:
		for i := range a.Len() {
			if a.IsValid(i) && a.Value(i)%dayMillis != 0 {
				return nil, fmt.Errorf("a date64 has a time of day (row %d of the batch), which a Parquet date cannot hold; use a timestamp", i)
			}
		}
		return numbers(p.mem, a, t, func(i int) int64 { return int64(a.Value(i)) / dayMillis }), nil
	case *array.Timestamp:
		return p.millis(a, t, func(i int) int64 { return int64(a.Value(i)) }, math.MaxInt64/1000)
	case *array.Time32:
		return p.millis(a, t, func(i int) int64 { return int64(a.Value(i)) }, math.MaxInt32/1000)
	case *array.Decimal32:
		return p.decimals(a, t, func(i int) decimal128.Num { return decimal128.FromI64(int64(a.Value(i))) }), nil
	case *array.Decimal64:
		return p.decimals(a, t, func(i int) decimal128.Num { return decimal128.FromI64(int64(a.Value(i))) }), nil
	}
	return nil, fmt.Errorf("%s cannot be written as %s", a.DataType(), t)
}

// millis converts seconds to milliseconds.
func (p *Plainer) millis(a arrow.Array, t arrow.DataType, value func(int) int64, most int64) (arrow.Array, error) {
	for i := range a.Len() {
		if a.IsValid(i) && (value(i) > most || value(i) < -most) {
			return nil, fmt.Errorf("%d s is out of the range of milliseconds (row %d of the batch), which Parquet has for seconds", value(i), i)
		}
	}
	return numbers(p.mem, a, t, func(i int) int64 { return value(i) * 1000 }), nil
}

func (p *Plainer) decimals(a arrow.Array, t arrow.DataType, value func(int) decimal128.Num) arrow.Array {
	b := array.NewDecimal128Builder(p.mem, t.(*arrow.Decimal128Type))
	defer b.Release()
	b.Reserve(a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
			continue
		}
		b.Append(value(i))
	}
	return b.NewArray()
}

// text writes each value as a string.
func (p *Plainer) text(a arrow.Array, text func([]byte, int) []byte) arrow.Array {
	b := array.NewStringBuilder(p.mem)
	defer b.Release()
	var buf []byte
	for i := range a.Len() {
		if a.IsNull(i) { // those in unions are written as the text null
			b.AppendNull()
			continue
		}
		buf = text(buf[:0], i)
		b.BinaryBuilder.Append(buf)
	}
	return b.NewArray()
}

// children converts the fields of a struct.
func (p *Plainer) children(a *array.Struct, t arrow.DataType) (arrow.Array, error) {
	kids := make([]arrow.ArrayData, a.NumField())
	for i := range kids {
		plain, err := p.array(a.Field(i))
		if err != nil {
			return nil, err
		}
		defer plain.Release()
		kids[i] = plain.Data()
	}
	if len(kids) == 0 {
		empty := array.MakeArrayOfNull(p.mem, filledStruct.Field(0).Type, a.Len())
		defer empty.Release()
		kids = append(kids, empty.Data())
	}
	valid := validity(p.mem, a)
	data := array.NewData(t, a.Len(), []*memory.Buffer{valid}, kids, a.NullN(), 0)
	defer data.Release()
	if valid != nil {
		valid.Release()
	}
	return array.MakeFromData(data), nil
}

// items converts the items of lists and maps. Offsets stay.
func (p *Plainer) items(a array.ListLike, t arrow.DataType) (arrow.Array, error) {
	var plain arrow.Array
	var err error
	if m, ok := t.(*arrow.MapType); ok {
		plain, err = p.children(a.ListValues().(*array.Struct), m.Elem())
	} else {
		plain, err = p.array(a.ListValues())
	}
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	return withItems(a, t, plain), nil
}

// lists converts lists of a fixed length to plain ones. Null lists become empty.
func (p *Plainer) lists(a *array.FixedSizeList, t arrow.DataType) (arrow.Array, error) {
	n := int64(a.DataType().(*arrow.FixedSizeListType).Len())
	if int64(a.Len())*n > math.MaxInt32 {
		return nil, errors.New("too many items in one batch")
	}
	take := make([]int64, 0, int64(a.Len())*n)
	offsets := arrowutil.NewBuffer(p.mem, 4*(a.Len()+1))
	ends := arrowutil.As[int32](offsets.Bytes())
	ends[0] = 0
	for i := range a.Len() {
		if a.IsValid(i) {
			for from, to := a.ValueOffsets(i); from < to; from++ {
				take = append(take, from)
			}
		}
		ends[i+1] = int32(len(take))
	}
	items, err := arrowutil.Take(p.mem, a.ListValues(), take)
	if err != nil {
		return nil, err
	}
	defer items.Release()
	plain, err := p.array(items)
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	plain.Data().Retain()
	return arrowutil.Make(t, a.Len(), []*memory.Buffer{validity(p.mem, a), offsets}, []arrow.ArrayData{plain.Data()}, a.NullN()), nil
}
