package diff

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
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
	return nil
}

// convert converts an array to the type of the comparison.
func convert(mem memory.Allocator, a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	if arrow.TypeEqual(a.DataType(), to) {
		a.Retain()
		return a, nil
	}
	return arrowutil.Plain(mem, a)
}
