package diff

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/cast"
	"github.com/amudai/amudai-go/internal/tables"
)

// plainType is the type of the values of dictionaries and runs.
func plainType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return plainType(t.ValueType)
	case *arrow.RunEndEncodedType:
		return plainType(t.Encoded())
	}
	return t
}

// common is the type in which values of two types are compared, or nil if they cannot be compared.
func common(a, b arrow.DataType) arrow.DataType {
	if a, b = plainType(a), plainType(b); arrow.TypeEqual(a, b) {
		return a
	}
	t, _, err := tables.Common(a, b)
	if err != nil {
		return nil
	}
	return t
}

// convert converts an array to the type of the comparison.
func convert(mem memory.Allocator, a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	if !arrow.TypeEqual(plainType(a.DataType()), to) {
		return cast.Array(mem, a, to)
	}
	if !arrow.TypeEqual(a.DataType(), to) { // dictionaries or runs
		return unwrapped(mem, a, to)
	}
	a.Retain()
	return a, nil
}

// unwrapped expands dictionaries and runs.
func unwrapped(mem memory.Allocator, a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	plain, err := arrowutil.Plain(mem, a)
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	return arrowutil.Wrap(mem, plain, to)
}
