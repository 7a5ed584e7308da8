package tempo

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// columns has the arrays of a struct by the names of its fields. It keeps the first error about a field.
type columns struct {
	path   string
	arrays map[string]arrow.Array
	err    *error
}

// columnsOf lists the fields of a struct. No struct has no fields.
func columnsOf(path string, a arrow.Array, err *error) columns {
	c := columns{path, map[string]arrow.Array{}, err}
	s, isStruct := a.(*array.Struct)
	switch {
	case isStruct:
		for i, f := range s.DataType().(*arrow.StructType).Fields() {
			c.arrays[f.Name] = s.Field(i)
		}
	case a != nil:
		c.fail(fault.Unsupportedf("the type is %s, not a struct", a.DataType()))
	}
	return c
}

func (c columns) fail(err error) {
	if *c.err == nil {
		*c.err = fault.InColumn(err, c.path)
	}
}

func (c columns) wrongType(name string, a arrow.Array, want string) {
	if *c.err == nil {
		*c.err = fault.InColumn(fault.Unsupportedf("the type is %s, not %s", a.DataType(), want), c.path+"."+name)
	}
}

// need reports an error if a field is missing.
func (c columns) need(names ...string) {
	for _, name := range names {
		if c.arrays[name] == nil {
			c.fail(fault.Unsupportedf("there is no column %s", name))
		}
	}
}

// group is a field that is a struct.
func (c columns) group(name string) columns {
	return columnsOf(c.path+"."+name, c.arrays[name], c.err)
}

// list is a field that is a list, and its items. ok is false if there is none.
func (c columns) list(name string) (l list, items arrow.Array, ok bool) {
	a, found := c.arrays[name]
	if !found {
		return list{}, nil, false
	}
	of, isList := a.(array.ListLike)
	if !isList {
		c.wrongType(name, a, "a list")
		return list{}, nil, false
	}
	return list{a, of.ValueOffsets}, of.ListValues(), true
}

// list is a column that has a range of items in each row. The zero value has empty ranges only.
type list struct {
	rows    arrow.Array
	offsets func(i int) (from, to int64) // nil: row i has one item, item i
}

// span is the range of the items of row i.
func (l list) span(i int) (from, to int) {
	switch {
	case l.rows == nil || l.rows.IsNull(i):
		return 0, 0
	case l.offsets == nil:
		return i, i + 1
	}
	start, end := l.offsets(i)
	return int(start), int(end)
}

// form is a type of values.
type form[T any] struct {
	name string                            // in errors
	of   func(a arrow.Array) func(i int) T // nil for arrays of other types
}

var (
	texts    = form[[]byte]{"a string", arrowutil.BytesOf}
	integers = form[int64]{"an integer", func(a arrow.Array) func(i int) int64 {
		if !arrow.IsInteger(a.DataType().ID()) { // of times, too, there are integers
			return nil
		}
		return arrowutil.Integers(a)
	}}
	doubles = form[float64]{"a double", arrowutil.Floats}
	bools   = form[bool]{"a boolean", func(a arrow.Array) func(i int) bool {
		if b, ok := a.(*array.Boolean); ok {
			return b.Value
		}
		return nil
	}}
)

// cells is a column of values of a form. The zero value has nulls only.
type cells[T any] struct {
	a     arrow.Array
	value func(i int) T
}

// get is the value of row i, the zero value for a null.
func (c cells[T]) get(i int) (v T) {
	if c.a == nil || c.a.IsNull(i) {
		return v
	}
	return c.value(i)
}

func (c columns) texts(name string) cells[[]byte]  { return cellsOf(c, name, c.arrays[name], texts) }
func (c columns) numbers(name string) cells[int64] { return cellsOf(c, name, c.arrays[name], integers) }

// cellsOf are the values of an array, a field or the items of one. A field that is missing has none.
func cellsOf[T any](c columns, name string, a arrow.Array, f form[T]) (found cells[T]) {
	if a == nil {
		return found
	}
	value := f.of(a)
	if value == nil {
		c.wrongType(name, a, f.name)
		return found
	}
	return cells[T]{a, value}
}
