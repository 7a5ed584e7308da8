package diff

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text/cast"
	"github.com/amudai/amudai-go/internal/text/values"
)

// withoutLayout is the type of the same values without a special representation: 64-bit offsets, views, dictionaries, runs.
func withoutLayout(t arrow.DataType) arrow.DataType {
	if t = kinds.Decoded(t); t.ID() == arrow.EXTENSION {
		return t
	}
	fields := kinds.Fields(t)
	for i := range fields {
		fields[i] = arrow.Field{Name: fields[i].Name, Type: withoutLayout(fields[i].Type), Nullable: t.ID() != arrow.MAP || i > 0}
	}
	switch id := t.ID(); {
	case id == arrow.LARGE_STRING || id == arrow.STRING_VIEW:
		return arrow.BinaryTypes.String
	case id == arrow.LARGE_BINARY || id == arrow.BINARY_VIEW:
		return arrow.BinaryTypes.Binary
	case kinds.Of(t) == kinds.List && len(fields) == 2: // whether the keys of a map are sorted does not count
		return arrow.MapOfFields(fields[0], fields[1])
	case kinds.Of(t) == kinds.List && kinds.LayoutOf(t).Each == 0:
		return arrow.ListOf(fields[0].Type)
	case kinds.Of(t) == kinds.List:
		fields[0].Name = "item"
	}
	return kinds.With(t, fields)
}

// common is the type in which values of two types are compared, or nil if they cannot be compared. mixed means that they have
// only their text in common.
func common(a, b arrow.DataType) (t arrow.DataType, mixed bool) {
	if a, b = kinds.Decoded(a), kinds.Decoded(b); arrow.TypeEqual(a, b) {
		return a, false
	}
	if t = withoutLayout(a); arrow.TypeEqual(t, withoutLayout(b)) {
		return t, false
	}
	if arrow.IsDecimal(a.ID()) && arrow.IsFloating(b.ID()) || arrow.IsFloating(a.ID()) && arrow.IsDecimal(b.ID()) {
		return arrow.PrimitiveTypes.Float64, false
	}
	t, mixed, err := cast.Common([]arrow.DataType{a, b}, false)
	if err != nil {
		return nil, false
	}
	return t, mixed
}

// convert converts an array to the type of the comparison.
func convert(mem memory.Allocator, a arrow.Array, to arrow.DataType) (arrow.Array, error) {
	from := kinds.Decoded(a.DataType())
	switch {
	case arrow.TypeEqual(a.DataType(), to):
		a.Retain()
		return a, nil
	case arrow.TypeEqual(from, to): // in dictionaries or runs
		return unwrapped(mem, a, to)
	case arrow.IsDecimal(from.ID()) && to.ID() == arrow.FLOAT64:
		return nearestFloats(mem, a)
	}
	return cast.Array(mem, a, to)
}

// nearestFloats are the floats nearest to decimals: those that a text of the decimal would be read as.
func nearestFloats(mem memory.Allocator, a arrow.Array) (arrow.Array, error) {
	b := array.NewFloat64Builder(mem)
	defer b.Release()
	text := values.Text(a)
	var buf []byte
	for i := range a.Len() {
		if values.IsNull(a, i) {
			b.AppendNull()
			continue
		}
		buf = text(buf[:0], i)
		v, err := strconv.ParseFloat(string(buf), 64)
		if err != nil {
			return nil, err
		}
		b.Append(v)
	}
	return b.NewArray(), nil
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
