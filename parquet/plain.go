package parquet

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/tabular"
)

// plainer turns the columns that Parquet has no form for into ones that it has.
type plainer struct {
	schema *arrow.Schema // as written
	change []bool
	mem    memory.Allocator
}

func newPlainer(schema *arrow.Schema, o tabular.WriteOptions) (*plainer, error) {
	p := &plainer{change: make([]bool, schema.NumFields()), mem: o.Allocator}
	fields := make([]arrow.Field, schema.NumFields())
	for i, f := range schema.Fields() {
		t := plainType(f.Type)
		if p.change[i] = !arrow.TypeEqual(t, f.Type); p.change[i] {
			if o.Notice != nil {
				o.Notice(fmt.Sprintf("column %q: Parquet has no %s; it is written as %s", f.Name, tabular.TypeText(f.Type), tabular.TypeText(t)))
			}
		}
		f.Type = t
		fields[i] = f
	}
	meta := schema.Metadata()
	p.schema = arrow.NewSchema(fields, &meta)
	return p, nil
}

// plainType is the type that values of t are written as.
func plainType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.RunEndEncodedType:
		return plainType(t.Encoded())
	case *arrow.ListViewType:
		return arrow.ListOfField(plainField(t.ElemField()))
	case *arrow.LargeListViewType:
		return arrow.LargeListOfField(plainField(t.ElemField()))
	case *arrow.ListType:
		return arrow.ListOfField(plainField(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(plainField(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), plainField(t.ElemField()))
	case *arrow.MapType:
		key, item := plainType(t.KeyType()), plainField(t.ItemField())
		if arrow.TypeEqual(key, t.KeyType()) && arrow.TypeEqual(item.Type, t.ItemType()) {
			return t
		}
		m := arrow.MapOfFields(arrow.Field{Name: "key", Type: key}, item)
		m.KeysSorted = t.KeysSorted
		return m
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = plainField(f)
		}
		return arrow.StructOf(fields...)
	case *arrow.DictionaryType:
		if v := plainType(t.ValueType); !arrow.TypeEqual(v, t.ValueType) || nested(t.ValueType) {
			return v
		}
	case *arrow.MonthIntervalType, *arrow.DayTimeIntervalType, *arrow.MonthDayNanoIntervalType, arrow.UnionType:
		return arrow.BinaryTypes.String
	}
	return t
}

func nested(t arrow.DataType) bool {
	_, ok := t.(arrow.NestedType)
	return ok
}

func plainField(f arrow.Field) arrow.Field {
	f.Type = plainType(f.Type)
	return f
}

// batch gives the batch as written; the caller releases it.
func (p *plainer) batch(ctx context.Context, b arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, b.NumCols())
	for i, c := range b.Columns() {
		c.Retain()
		if p.change[i] {
			plain, err := p.array(ctx, c)
			c.Release()
			if err != nil {
				return nil, fmt.Errorf("column %q: %w", p.schema.Field(i).Name, err)
			}
			c = plain
		}
		columns[i] = c
		defer c.Release()
	}
	return array.NewRecordBatch(p.schema, columns, b.NumRows()), nil
}

// array gives the plain form of an array; the caller releases it.
func (p *plainer) array(ctx context.Context, a arrow.Array) (arrow.Array, error) {
	t := plainType(a.DataType())
	if arrow.TypeEqual(t, a.DataType()) {
		a.Retain()
		return a, nil
	}
	switch a := a.(type) {
	case *array.RunEndEncoded:
		return p.runs(ctx, a)
	case *array.Dictionary:
		codes := array.NewInt64Builder(p.mem)
		defer codes.Release()
		for i := range a.Len() {
			if a.IsNull(i) {
				codes.AppendNull()
			} else {
				codes.Append(int64(a.GetValueIndex(i)))
			}
		}
		return p.gather(ctx, a.Dictionary(), codes)
	case *array.ListView, *array.LargeListView:
		return p.listView(ctx, a.(array.ListLike), t)
	case array.Union:
		return p.text(a, tabular.JSONText(a)), nil
	case *array.MonthInterval, *array.DayTimeInterval, *array.MonthDayNanoInterval:
		return p.text(a, tabular.Text(a)), nil
	}
	return p.children(ctx, a, t)
}

// gather takes the values at the positions that codes holds, in plain form.
func (p *plainer) gather(ctx context.Context, values arrow.Array, codes *array.Int64Builder) (arrow.Array, error) {
	index := codes.NewInt64Array()
	defer index.Release()
	plain, err := p.array(ctx, values)
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	return compute.TakeArray(compute.WithAllocator(ctx, p.mem), plain, index)
}

func (p *plainer) runs(ctx context.Context, a *array.RunEndEncoded) (arrow.Array, error) {
	codes := array.NewInt64Builder(p.mem)
	defer codes.Release()
	for i := range a.Len() {
		codes.Append(int64(a.GetPhysicalIndex(i)))
	}
	return p.gather(ctx, a.Values(), codes)
}

// listView puts the values of the lists behind one another.
func (p *plainer) listView(ctx context.Context, a array.ListLike, t arrow.DataType) (arrow.Array, error) {
	codes := array.NewInt64Builder(p.mem)
	defer codes.Release()
	valid := array.NewBooleanBuilder(p.mem) // only for its bitmap
	defer valid.Release()
	ends := []int64{0}
	for i := range a.Len() {
		if a.IsNull(i) {
			valid.AppendNull()
		} else {
			valid.Append(true)
			for from, to := a.ValueOffsets(i); from < to; from++ {
				codes.Append(from)
			}
		}
		ends = append(ends, int64(codes.Len()))
	}
	values, err := p.gather(ctx, a.ListValues(), codes)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	bits := valid.NewBooleanArray()
	defer bits.Release()
	offsets := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(ends))
	if t.ID() == arrow.LIST {
		short := make([]int32, len(ends))
		for i, e := range ends {
			if short[i] = int32(e); int64(short[i]) != e {
				return nil, fmt.Errorf("%d values in the lists of one batch are too many for %s", e, tabular.TypeText(t))
			}
		}
		offsets = memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(short))
	}
	data := array.NewData(t, a.Len(), []*memory.Buffer{bits.Data().Buffers()[0], offsets}, []arrow.ArrayData{values.Data()}, a.NullN(), 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// text writes each value as a string.
func (p *plainer) text(a arrow.Array, text func([]byte, int) []byte) arrow.Array {
	b := array.NewStringBuilder(p.mem)
	defer b.Release()
	var buf []byte
	for i := range a.Len() {
		if tabular.IsNull(a, i) {
			b.AppendNull()
			continue
		}
		buf = text(buf[:0], i)
		b.BinaryBuilder.Append(buf)
	}
	return b.NewArray()
}

// children replaces the child arrays by their plain forms; offsets and nulls stay.
func (p *plainer) children(ctx context.Context, a arrow.Array, t arrow.DataType) (arrow.Array, error) {
	old := a.Data()
	if m, ok := t.(*arrow.MapType); ok {
		return p.withChildren(ctx, old, t, []arrow.DataType{m.Elem()})
	}
	return p.withChildren(ctx, old, t, nil)
}

func (p *plainer) withChildren(ctx context.Context, old arrow.ArrayData, t arrow.DataType, types []arrow.DataType) (arrow.Array, error) {
	kids := make([]arrow.ArrayData, len(old.Children()))
	for i, c := range old.Children() {
		child := array.MakeFromData(c)
		var plain arrow.Array
		var err error
		if types != nil { // the entries of a map, whose plain struct type has the map's field names
			plain, err = p.withChildren(ctx, c, types[i], nil)
		} else {
			plain, err = p.array(ctx, child)
		}
		child.Release()
		if err != nil {
			return nil, err
		}
		defer plain.Release()
		kids[i] = plain.Data()
	}
	data := array.NewData(t, old.Len(), old.Buffers(), kids, old.NullN(), old.Offset())
	defer data.Release()
	return array.MakeFromData(data), nil
}
