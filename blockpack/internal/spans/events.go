package spans

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/wire"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// list is a column of events or links: fields of a Span, which Arrow has as a list of structs.
type list struct {
	num     protowire.Number // in a Span
	message *wire.Message
	names   []string // of the fields of the struct, by the number of the field of the message and 1
}

var lists = map[string]*list{
	Events: {11, wire.Event, []string{"time", "name", "attributes", "dropped_attrs"}},
	Links:  {13, wire.Link, []string{"trace_id", "span_id", "trace_state", "attributes", "dropped_attrs", "flags"}},
}

// field is what a field of the message is.
func (l *list) field(i int) *wire.Definition { return l.message.Field(protowire.Number(i + 1)) }

// partTypes are the types of the fields of the structs. Attributes are OTLP/JSON: an array of objects with key and value.
var partTypes = map[wire.Kind]struct {
	column column.Type
	arrow  arrow.DataType
}{
	wire.Text: {column.String, arrow.BinaryTypes.String}, wire.ID: {column.Bytes, arrow.BinaryTypes.Binary},
	wire.Group: {column.String, extension.JSON(arrow.BinaryTypes.String)}, wire.Nanos: {column.Uint64, nanos},
	wire.Count: {column.Uint64, arrow.PrimitiveTypes.Uint32}, wire.Flags: {column.Uint64, arrow.PrimitiveTypes.Uint32},
}

// arrowType is the list of structs.
func (l *list) arrowType() arrow.DataType {
	fields := make([]arrow.Field, len(l.names))
	for i, name := range l.names {
		fields[i] = arrow.Field{Name: name, Type: partTypes[l.field(i).Kind].arrow}
	}
	return arrow.ListOf(arrow.StructOf(fields...))
}

// listArray decodes a column of events or links.
func listArray(mem memory.Allocator, c *column.Column, dt *arrow.ListType) (arrow.Array, error) {
	l := lists[c.Name]
	if l == nil {
		return nil, fault.Unsupportedf("a column of type %s as %s", c.Type, dt)
	}
	parts := make([]*column.Column, len(l.names))
	for i, name := range l.names {
		parts[i] = &column.Column{Name: c.Name + "." + name, Type: partTypes[l.field(i).Kind].column}
		if parts[i].Type.Textual() {
			parts[i].Values.Offsets = []uint32{0}
		}
	}
	offsets := make([]int32, c.Rows+1)
	n := 0
	for row, k := range c.Each() {
		if err := l.decode(c.Values.Bytes(k), parts, &n); err != nil {
			return nil, err
		}
		offsets[row+1] = int32(n)
	}
	for i := range c.Rows { // of null rows
		offsets[i+1] = max(offsets[i+1], offsets[i])
	}
	st := dt.Elem().(*arrow.StructType)
	kids := make([]arrow.ArrayData, len(parts))
	defer func() {
		for _, k := range kids {
			if k != nil {
				k.Release()
			}
		}
	}()
	for i, p := range parts {
		p.Rows = n
		f := st.Field(i)
		f.Type, _ = extension.Unwrap(f.Type)
		kid, err := Array(mem, p, n, f)
		if err != nil {
			return nil, err
		}
		kids[i] = array.NewData(st.Field(i).Type, n, kid.Data().Buffers(), nil, 0, 0)
		kid.Release()
	}
	items := array.NewData(st, n, []*memory.Buffer{nil}, kids, 0, 0)
	valid, nulls := validity(c)
	return arrowutil.Make(dt, c.Rows, []*memory.Buffer{valid, memory.NewBufferBytes(arrowutil.Bytes(offsets))}, []arrow.ArrayData{items}, nulls), nil
}

// decode adds the messages of a value to the columns of their parts.
func (l *list) decode(v []byte, parts []*column.Column, n *int) error {
	r := wire.NewReader(v, 0)
	var f wire.Field
	for r.Next(&f) {
		if f.Num != l.num || !r.Is(&f, protowire.BytesType) {
			return fault.Corruptf("a field that does not belong there: %d", f.Num)
		}
		if *n++; *n > math.MaxInt32 {
			return fault.ErrBatchTooLarge
		}
		if err := l.decodeOne(f.Data, f.At, parts); err != nil {
			return err
		}
	}
	return r.Err
}

func (l *list) decodeOne(b []byte, base int, parts []*column.Column) error {
	if err := l.message.Check(b, base, 4); err != nil {
		return err
	}
	last := make([]wire.Field, len(parts))
	r := wire.NewReader(b, base)
	var f wire.Field
	for r.Next(&f) {
		if int(f.Num) > len(parts) {
			return fault.In(fault.Unsupportedf("a field that OTLP does not have: %d; read the column as it is stored", f.Num), "", int64(f.At))
		}
		last[f.Num-1] = f
	}
	var j wire.JSON
	for i, c := range parts {
		f, kind := &last[i], l.field(i).Kind
		switch {
		case kind == wire.Group:
			var err error
			if c.Values.Data, err = j.AppendAttributes(c.Values.Data, b, l.message); err != nil {
				return err
			}
			if j.UnknownFields > 0 {
				return fault.In(fault.Unsupportedf("attributes with fields that OTLP does not have; read the column as it is stored"), "", int64(base))
			}
		case c.Type.Textual():
			c.Values.Data = append(c.Values.Data, f.Data...)
		case kind == wire.Count:
			c.Values.Numbers = append(c.Values.Numbers, uint64(uint32(f.Bits)))
		default:
			c.Values.Numbers = append(c.Values.Numbers, f.Bits)
		}
		if c.Type.Textual() {
			if len(c.Values.Data) > math.MaxInt32 {
				return fault.ErrBatchTooLarge
			}
			c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
		}
	}
	return r.Err
}

// listValues returns a function for the stored form of lists of events or links.
func listValues(a array.ListLike, name string) (func(i int) ([]byte, error), error) {
	l := lists[name]
	items, ok := a.ListValues().(*array.Struct)
	if l == nil || !ok {
		return nil, fmt.Errorf("values of type %s", a.DataType())
	}
	cells := make([]*cell, len(l.names))
	for i, f := range items.DataType().(*arrow.StructType).Fields() {
		k := slices.Index(l.names, f.Name)
		if k < 0 {
			return nil, fmt.Errorf("a field %q that is none of its structs", f.Name)
		}
		c, err := toColumn(items.Field(i), Field{Name: f.Name, Type: partTypes[l.field(k).Kind].column})
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		cells[k] = &cell{c, c.ByRow()}
	}
	var d wire.Decoder
	return func(i int) (out []byte, err error) {
		start, end := a.ValueOffsets(i)
		for row := int(start); row < int(end); row++ {
			out = protowire.AppendTag(out, l.num, protowire.BytesType)
			at := len(out)
			for k, c := range cells {
				if out, err = l.append(out, k, c, row, &d); err != nil {
					return nil, fmt.Errorf("field %q: %w", l.names[k], err)
				}
			}
			out = wire.InsertLen(out, at)
		}
		return out, nil
	}, nil
}

// cell finds the values of a column by row.
type cell struct {
	*column.Column
	value []int32 // index of the value, -1 for null
}

// append appends field i of a message, unless it is empty or zero.
func (l *list) append(out []byte, i int, c *cell, row int, d *wire.Decoder) ([]byte, error) {
	if c == nil || c.value[row] < 0 {
		return out, nil
	}
	k, num, kind := int(c.value[row]), protowire.Number(i+1), l.field(i).Kind
	if !c.Type.Textual() {
		v := c.Values.Numbers[k]
		if kind != wire.Nanos && v > math.MaxUint32 {
			return out, fmt.Errorf("%d does not fit", v)
		}
		return wire.AppendNumber(out, num, kind, v), nil
	}
	v := c.Values.Bytes(k)
	if kind != wire.Group || len(v) == 0 {
		return wire.AppendText(out, num, v), nil
	}
	unknown := d.UnknownKeys
	out, err := d.AppendAttributes(out, v, l.message)
	if err == nil && d.UnknownKeys != unknown {
		err = fmt.Errorf("%q has keys that OTLP does not have", clip(v))
	}
	return out, err
}
