package profile

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// column collects the values of a column or of a part of a nested one.
type column struct {
	path, name string
	depth      int
	items      bool // inside of a list or map
	dt         arrow.DataType
	plain      arrow.DataType // without dictionaries, runs and extension types

	count, nulls int64
	values       collector // nil for nested columns
	lengths      lengths   // of lists and maps
	children     []*column
}

// collector collects the values of a column without children.
type collector interface {
	// add adds the values of an array that are not null. row is the position of the first, or -1.
	add(arr arrow.Array, row int64) error
	finish(c *Column, dt arrow.DataType, o Options)
}

// nodesOf counts a type and the types inside of it.
func nodesOf(dt arrow.DataType) int {
	n := 1
	for _, f := range childFields(dt) {
		n += nodesOf(f.Type)
	}
	return n
}

// childFields are the parts of a nested type, with the names of paths.
func childFields(dt arrow.DataType) []arrow.Field {
	dt = kinds.Unwrapped(dt)
	fields := kinds.Fields(dt)
	for i, name := range kinds.Names(dt) {
		fields[i].Name = name
	}
	return fields
}

func newColumn(name, parent string, dt arrow.DataType, depth int, items bool, l limits) *column {
	c := &column{path: schema.JoinPath(parent, name), name: name, depth: depth, items: items, dt: dt}
	c.plain, _ = extension.Unwrap(dt)
	fields := childFields(dt)
	isStruct := kinds.Of(c.plain) == kinds.Record
	if len(fields) == 0 && !isStruct { // a struct may have no fields
		c.values = newCollector(c.plain, l)
		return c
	}
	for i, name := range arrowmap.UniqueNames(fields) {
		c.children = append(c.children, newColumn(name, c.path, fields[i].Type, depth+1, items || !isStruct, l))
	}
	return c
}

// add adds the values of an array. row is the position of the first in the table, or -1.
func (c *column) add(arr arrow.Array, row int64) error {
	c.count += int64(arr.Len())
	if _, ok := c.plain.(*arrow.NullType); ok {
		c.nulls += int64(arr.Len())
		return nil
	}
	if d, ok := arr.(*array.Dictionary); ok {
		if t, ok := c.values.(*texts); ok && arrowutil.BytesOf(d.Dictionary()) != nil {
			c.nulls += t.addCodes(d, row)
			return nil
		}
	}
	plain, err := arrowutil.Plain(memory.DefaultAllocator, arr)
	if err != nil {
		return fmt.Errorf("column %s: %w", c.path, err)
	}
	defer plain.Release()
	c.nulls += int64(arrowutil.NullN(plain))
	if c.values != nil {
		if err := c.values.add(plain, row); err != nil {
			return fmt.Errorf("column %s: %w", c.path, err)
		}
		return nil
	}
	if s, ok := plain.(*array.Struct); ok {
		return c.addFields(s, row)
	}
	return c.addItems(plain)
}

// addFields adds the fields of structs. Those of a null are null.
func (c *column) addFields(s *array.Struct, row int64) error {
	for i, child := range c.children {
		f := s.Field(i)
		f.Retain()
		if arrowutil.NullN(s) > 0 {
			masked, err := arrowutil.Mask(memory.DefaultAllocator, f, arrowutil.Validity(s))
			f.Release()
			if err != nil {
				return fmt.Errorf("column %s: %w", child.path, err)
			}
			f = masked
		}
		err := child.add(f, row)
		f.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// addItems adds the items of lists, or the keys and values of maps. What is in the range of a null does not count.
func (c *column) addItems(arr arrow.Array) error {
	if kinds.Of(arr.DataType()) != kinds.List {
		return nil
	}
	if arrowutil.NullN(arr) > 0 {
		var rows []int64
		for i := range arr.Len() {
			if arr.IsValid(i) {
				rows = append(rows, int64(i))
			}
		}
		taken, err := arrowutil.Take(memory.DefaultAllocator, arr, rows)
		if err != nil {
			return fmt.Errorf("column %s: %w", c.path, err)
		}
		defer taken.Release()
		arr = taken
	}
	v := kinds.Open(arr)
	for i := range arr.Len() {
		start, end := v.Range(i)
		c.lengths.add(end-start, 1)
	}
	begin, end := v.Span(arr.Len())
	for i, part := range v.Parts {
		items := array.NewSlice(part, begin, end)
		err := c.children[i].add(items, -1)
		items.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// finish appends the description of the column, and of those inside of it.
func (c *column) finish(out []*Column, o Options) []*Column {
	r := &Column{Path: c.path, Name: c.name, Depth: c.depth, Type: c.dt, Class: classOf(c.plain), Count: c.count, Nulls: c.nulls, Items: c.items, Distinct: -1}
	if c.count == c.nulls {
		r.Distinct, r.DistinctExact = 0, true
	}
	out = append(out, r)
	if c.values != nil {
		c.values.finish(r, c.dt, o)
		return out
	}
	if r.Class != Struct {
		r.Lengths = c.lengths.result()
		r.Bytes = 4 * c.count
	}
	for _, child := range c.children {
		out = child.finish(out, o)
	}
	return out
}

// classOf is the class of a type without wrappers.
func classOf(dt arrow.DataType) Class {
	switch kinds.Of(dt) {
	case kinds.Record:
		return Struct
	case kinds.List:
		if len(kinds.Fields(dt)) == 2 {
			return Map
		}
		return List
	}
	switch dt.ID() {
	case arrow.BOOL:
		return Bool
	case arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP:
		return Time
	case arrow.DURATION:
		return Span
	}
	switch id := dt.ID(); {
	case kinds.IsText(dt):
		return Text
	case kinds.IsBinary(dt):
		return Binary
	case arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id):
		return Number
	}
	return Other
}

// newCollector returns the collector for a type without wrappers.
func newCollector(dt arrow.DataType, l limits) collector {
	switch classOf(dt) {
	case Bool:
		return &bools{}
	case Text, Binary:
		return newTexts(classOf(dt) == Binary, l)
	case Other:
		return nothing{}
	}
	switch t := dt.(type) {
	case arrow.DecimalType:
		if t.GetPrecision() > maxInt64Digits {
			return newNumbers(l, readDecimals, 0)
		}
		return newNumbers(l, readInts, t.GetScale())
	case *arrow.Uint64Type:
		return newNumbers(l, readUints, 0)
	}
	if arrow.IsFloating(dt.ID()) {
		return newNumbers(l, readFloats, 0)
	}
	return newNumbers(l, readInts, 0)
}

// nothing is the collector of types whose values are only counted.
type nothing struct{}

func (nothing) add(arrow.Array, int64) error            { return nil }
func (nothing) finish(*Column, arrow.DataType, Options) {}

// bools counts booleans.
type bools struct{ counts Bools }

func (b *bools) add(arr arrow.Array, _ int64) error {
	a := arr.(*array.Boolean)
	for i := range a.Len() {
		switch {
		case a.IsNull(i):
		case a.Value(i):
			b.counts.True++
		default:
			b.counts.False++
		}
	}
	return nil
}

func (b *bools) finish(c *Column, _ arrow.DataType, _ Options) {
	c.Bools = &b.counts
	c.Distinct, c.DistinctExact = min(b.counts.True, 1)+min(b.counts.False, 1), true
	c.Bytes = (c.Count + 7) / 8
	value := func(t bool) *Value { return &Value{Text: fmt.Sprint(t)} }
	top := &Top{All: true}
	for _, v := range []TopValue{{*value(true), b.counts.True}, {*value(false), b.counts.False}} {
		if v.Count > 0 {
			top.Values = append(top.Values, v)
		}
	}
	if len(top.Values) == 0 {
		return
	}
	if b.counts.False > b.counts.True && len(top.Values) == 2 {
		top.Values[0], top.Values[1] = top.Values[1], top.Values[0]
	}
	c.Top, c.Min, c.Max = top, value(b.counts.False == 0), value(b.counts.True > 0)
}

// lengths are the lengths of values.
type lengths struct {
	n, sum   int64
	min, max int64
	empty    int64
}

func (l *lengths) add(length, n int64) {
	if l.n == 0 {
		l.min = length
	}
	l.min, l.max = min(l.min, length), max(l.max, length)
	l.n += n
	l.sum += n * length
	if length == 0 {
		l.empty += n
	}
}

func (l *lengths) result() *Lengths {
	if l.n == 0 {
		return nil
	}
	return &Lengths{Min: l.min, Max: l.max, Mean: float64(l.sum) / float64(l.n), Empty: l.empty}
}
