// Package cast converts Arrow arrays to other types. It changes no value: one that its new type cannot hold exactly is
// an error.
package cast

import (
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

// Misfit is the error of a value that does not fit.
type Misfit struct {
	Row   int
	Path  string // the place within the value: ".a" or "[]"
	Value string // its text, shortened
	Err   error  // the reason
}

// Error is the reason.
func (m *Misfit) Error() string { return m.Err.Error() }

// Unwrap returns the reason.
func (m *Misfit) Unwrap() error { return m.Err }

// Array converts an array. The caller releases the result. A value that does not fit is a [*Misfit]. Any other error means
// that there is no way from one type to the other.
func Array(mem memory.Allocator, a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	from := a.DataType()
	switch {
	case arrow.TypeEqual(from, to):
		a.Retain()
		return a, nil
	case from.ID() == arrow.NULL:
		return arrowutil.Nulls(mem, to, a.Len()), nil
	}
	if out := quick(mem, a, to); out != nil {
		return out, nil
	}
	shape := kinds.Of(to)
	if t, ok := to.(*arrow.StructType); ok && shape == kinds.Of(from) && coversFields(from.(*arrow.StructType), t) {
		return structs(mem, a.(*array.Struct), t)
	}
	if isList(from) && isList(to) && to.(arrow.ListLikeType).ElemField().Nullable && fits(from, to) {
		return lists(mem, a, to.(arrow.ListLikeType))
	}
	if from.ID() == arrow.MAP && to.ID() == arrow.MAP {
		return maps(mem, a, to.(*arrow.MapType))
	}
	if d, ok := a.(*array.Dictionary); ok && (shape == kinds.Leaf || to.ID() == arrow.EXTENSION) {
		return dictionary(mem, d, to)
	}
	return eachByText(mem, a, to)
}

// eachByText converts the values one by one.
func eachByText(mem memory.Allocator, a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	b := array.NewBuilder(mem, to)
	defer b.Release()
	set, err := newSetter(a, b)
	if err != nil {
		return nil, err
	}
	b.Reserve(a.Len())
	for i := range a.Len() {
		if values.IsNull(a, i) {
			b.AppendNull()
		} else if err := set(i); err != nil {
			m := &Misfit{Row: i, Value: text.Clip(string(values.Text(a)(nil, i))), Err: err}
			var inner *values.Misfit
			if errors.As(err, &inner) {
				m.Path, m.Err = inner.Path, inner.Err
			}
			return nil, m
		}
	}
	return b.NewArray(), nil
}

// dictionary converts the entries of a dictionary that rows use, then expands it.
func dictionary(mem memory.Allocator, a *array.Dictionary, to arrow.DataType) (arrow.Array, error) {
	plain, err := arrowutil.Plain(mem, a)
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	return Array(mem, plain, to)
}

// isList reports whether values are lists of one part.
func isList(t arrow.DataType) bool { return kinds.Of(t) == kinds.List && t.ID() != arrow.MAP }

// fits reports whether lists of a type have as many items as those of another type need.
func fits(from, to arrow.DataType) bool {
	t, ok := to.(*arrow.FixedSizeListType)
	f, same := from.(*arrow.FixedSizeListType)
	return !ok || same && f.Len() == t.Len()
}

// coversFields reports whether all fields of a struct are nullable ones of a type, and names are unique.
func coversFields(from, to *arrow.StructType) bool {
	for _, f := range from.Fields() {
		if len(to.FieldIndices(f.Name)) != 1 || len(from.FieldIndices(f.Name)) != 1 {
			return false
		}
	}
	return !slices.ContainsFunc(to.Fields(), func(f arrow.Field) bool { return !f.Nullable })
}
