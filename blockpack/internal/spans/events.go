package spans

import (
	"encoding/binary"
	"fmt"
	"math"

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

// Events and links as lists of structs. The attributes are OTLP/JSON: an array of objects with key and value.
var (
	eventsType = arrow.ListOf(arrow.StructOf(
		arrow.Field{Name: "time", Type: nanos},
		arrow.Field{Name: "name", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "attributes", Type: extension.JSON(arrow.BinaryTypes.String)},
		arrow.Field{Name: "dropped_attrs", Type: arrow.PrimitiveTypes.Uint32},
	))
	linksType = arrow.ListOf(arrow.StructOf(
		arrow.Field{Name: "trace_id", Type: arrow.BinaryTypes.Binary},
		arrow.Field{Name: "span_id", Type: arrow.BinaryTypes.Binary},
		arrow.Field{Name: "trace_state", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "attributes", Type: extension.JSON(arrow.BinaryTypes.String)},
		arrow.Field{Name: "dropped_attrs", Type: arrow.PrimitiveTypes.Uint32},
		arrow.Field{Name: "flags", Type: arrow.PrimitiveTypes.Uint32},
	))
)

// part is a field of an event or link: a field of the struct, and one of the message.
type part struct {
	name string
	num  protowire.Number
	typ  column.Type // Bytes for attributes
	wire protowire.Type
}

// list is a column of events or links.
type list struct {
	num        protowire.Number // in a Span
	message    *wire.Message
	attributes protowire.Number
	parts      []part
}

var lists = map[string]*list{
	Events: {11, wire.Event, 3, []part{
		{"time", 1, column.Uint64, protowire.Fixed64Type},
		{"name", 2, column.String, protowire.BytesType},
		{"attributes", 3, column.String, protowire.BytesType},
		{"dropped_attrs", 4, column.Uint64, protowire.VarintType},
	}},
	Links: {13, wire.Link, 4, []part{
		{"trace_id", 1, column.Bytes, protowire.BytesType},
		{"span_id", 2, column.Bytes, protowire.BytesType},
		{"trace_state", 3, column.String, protowire.BytesType},
		{"attributes", 4, column.String, protowire.BytesType},
		{"dropped_attrs", 5, column.Uint64, protowire.VarintType},
		{"flags", 6, column.Uint64, protowire.Fixed32Type},
	}},
}

// listArray decodes a column of events or links.
func listArray(mem memory.Allocator, c *column.Column, dt *arrow.ListType) (arrow.Array, error) {
	l := lists[c.Name]
	if l == nil {
		return nil, fault.Unsupportedf("a column of type %s as %s", c.Type, dt)
	}
	parts := make([]*column.Column, len(l.parts))
	for i, p := range l.parts {
		parts[i] = &column.Column{Name: c.Name + "." + p.name, Type: p.typ}
		if p.typ.Textual() {
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
	last := make([]wire.Field, len(l.parts))
	r := wire.NewReader(b, base)
	var f wire.Field
	for r.Next(&f) {
		if int(f.Num) > len(l.parts) {
			return fault.In(fault.Unsupportedf("a field that OTLP does not have: %d; read the column as it is stored", f.Num), "", int64(f.At))
		}
		last[f.Num-1] = f
	}
	var j wire.JSON
	for i, p := range l.parts {
		c, f := parts[i], &last[i]
		switch {
		case p.num == l.attributes:
			var err error
			if c.Values.Data, err = j.AppendAttributes(c.Values.Data, b, l.message); err != nil {
				return err
			}
			if j.UnknownFields > 0 {
				return fault.In(fault.Unsupportedf("attributes with fields that OTLP does not have; read the column as it is stored"), "", int64(base))
			}
		case p.typ.Textual():
			c.Values.Data = append(c.Values.Data, f.Data...)
		case p.wire == protowire.VarintType:
			c.Values.Numbers = append(c.Values.Numbers, uint64(uint32(f.Bits)))
		default:
			c.Values.Numbers = append(c.Values.Numbers, f.Bits)
		}
		if p.typ.Textual() {
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
	cells := make([]*cell, len(l.parts))
	for i, f := range items.DataType().(*arrow.StructType).Fields() {
		k := 0
		for k < len(l.parts) && l.parts[k].name != f.Name {
			k++
		}
		if k == len(l.parts) {
			return nil, fmt.Errorf("a field %q that is none of its structs", f.Name)
		}
		c, err := toColumn(items.Field(i), Field{Name: f.Name, Type: l.parts[k].typ})
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		cells[k] = newCell(c)
	}
	var d wire.Decoder
	return func(i int) (out []byte, err error) {
		start, end := a.ValueOffsets(i)
		for row := int(start); row < int(end); row++ {
			out = protowire.AppendTag(out, l.num, protowire.BytesType)
			at := len(out)
			for k, p := range l.parts {
				if out, err = l.append(out, p, cells[k], row, &d); err != nil {
					return nil, fmt.Errorf("field %q: %w", p.name, err)
				}
			}
			out = wire.InsertLen(out, at)
		}
		return out, nil
	}, nil
}

// append appends the field of a message.
func (l *list) append(out []byte, p part, c *cell, row int, d *wire.Decoder) ([]byte, error) {
	if c == nil || c.value[row] < 0 {
		return out, nil
	}
	k := int(c.value[row])
	if p.typ.Textual() {
		v := c.Values.Bytes(k)
		switch {
		case len(v) == 0:
			return out, nil
		case p.num == l.attributes:
			unknown := d.UnknownKeys
			out, err := d.AppendAttributes(out, v, l.message)
			if err == nil && d.UnknownKeys != unknown {
				err = fmt.Errorf("%q has keys that OTLP does not have", clip(v))
			}
			return out, err
		}
		return protowire.AppendBytes(protowire.AppendTag(out, p.num, p.wire), v), nil
	}
	v := c.Values.Numbers[k]
	if v == 0 {
		return out, nil
	}
	if p.wire != protowire.Fixed64Type && v > math.MaxUint32 {
		return out, fmt.Errorf("%d does not fit", v)
	}
	out = protowire.AppendTag(out, p.num, p.wire)
	switch p.wire {
	case protowire.Fixed64Type:
		return binary.LittleEndian.AppendUint64(out, v), nil
	case protowire.Fixed32Type:
		return binary.LittleEndian.AppendUint32(out, uint32(v)), nil
	}
	return protowire.AppendVarint(out, v), nil
}

// cell finds the values of a column by row.
type cell struct {
	*column.Column
	value []int32 // index of the value, -1 for null
}

func newCell(c *column.Column) *cell { return &cell{c, c.ByRow()} }
