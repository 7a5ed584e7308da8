package tempo

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

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

// texts is a column of strings or bytes. The zero value has nulls only.
type texts struct {
	a     arrow.Array
	value func(i int) string
}

// get is the value of row i. ok is false for a null.
func (t texts) get(i int) (v string, ok bool) {
	if t.a == nil || t.a.IsNull(i) {
		return "", false
	}
	return t.value(i), true
}

func (c columns) texts(name string) texts { return find(c, name, "a string", textsOf) }

func textsOf(a arrow.Array) (texts, bool) {
	switch of := a.(type) {
	case interface{ Value(int) string }: // strings of all layouts
		return texts{a, of.Value}, true
	case interface{ Value(int) []byte }:
		return texts{a, func(i int) string { return string(of.Value(i)) }}, true
	}
	return texts{}, false
}

// numbers is a column of integers. Their 64 bits are those of the signed or unsigned value. The zero value has nulls only.
type numbers struct {
	a     arrow.Array
	value func(i int) uint64
}

// get is the value of row i. ok is false for a null.
func (n numbers) get(i int) (v uint64, ok bool) {
	if n.a == nil || n.a.IsNull(i) {
		return 0, false
	}
	return n.value(i), true
}

// or0 is the value of row i, 0 for a null.
func (n numbers) or0(i int) uint64 {
	v, _ := n.get(i)
	return v
}

func (c columns) numbers(name string) numbers { return find(c, name, "an integer", numbersOf) }

func numbersOf(a arrow.Array) (numbers, bool) {
	switch of := a.(type) {
	case *array.Int32:
		return numbers{a, func(i int) uint64 { return uint64(int64(of.Value(i))) }}, true
	case *array.Int64:
		return numbers{a, func(i int) uint64 { return uint64(of.Value(i)) }}, true
	case *array.Uint32:
		return numbers{a, func(i int) uint64 { return uint64(of.Value(i)) }}, true
	case *array.Uint64:
		return numbers{a, of.Value}, true
	}
	return numbers{}, false
}

// bools is a column of truth values. A null is false.
type bools struct{ a *array.Boolean }

func (b bools) get(i int) bool { return b.a != nil && b.a.IsValid(i) && b.a.Value(i) }

func (c columns) bools(name string) bools {
	return find(c, name, "a boolean", func(a arrow.Array) (bools, bool) {
		of, ok := a.(*array.Boolean)
		return bools{of}, ok
	})
}

// find is a field in the form that of gives it, the zero value if there is none.
func find[T any](c columns, name, want string, of func(arrow.Array) (T, bool)) (found T) {
	if a, ok := c.arrays[name]; ok {
		if found, ok = of(a); !ok {
			c.wrongType(name, a, want)
		}
	}
	return found
}
