package arrowutil

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// arrow-go does not join unions. Where there are some, at any depth, it joins structs in their place, in which each alternative has all rows:
//
//	dense_union<a: int32, b: utf8>   struct<int8 code, a: int32, b: utf8>

func isUnion(dt arrow.DataType) bool { return kinds.Of(dt) == kinds.Choice }

// withoutUnions is a type with structs in place of unions.
func withoutUnions(dt arrow.DataType) arrow.DataType {
	if !kinds.Has(dt, isUnion) {
		return dt
	}
	fields := kinds.Fields(dt)
	for i := range fields {
		fields[i].Type = withoutUnions(fields[i].Type)
		fields[i].Nullable = fields[i].Nullable || isUnion(dt)
	}
	if isUnion(dt) {
		return arrow.StructOf(slices.Insert(fields, 0, arrow.Field{Type: arrow.PrimitiveTypes.Int8})...)
	}
	return kinds.With(dt, fields)
}

// unionsToStructs is an array of the type of withoutUnions. The caller releases it.
func unionsToStructs(mem memory.Allocator, arr arrow.Array) (arrow.Array, error) {
	switch dt := arr.DataType(); {
	case !kinds.Has(dt, isUnion):
		arr.Retain()
		return arr, nil
	case !isUnion(dt):
		return Rebuild(mem, arr, withoutUnions(dt), func(_ int, part arrow.Array) (arrow.Array, error) { return unionsToStructs(mem, part) })
	}
	n := arr.Len()
	codes := NewBuffer(mem, n)
	copy(codes.Bytes(), Values[byte](arr))
	children := []arrow.Array{Make(arrow.PrimitiveTypes.Int8, n, []*memory.Buffer{nil, codes}, nil, 0)}
	defer func() { ReleaseAll(children) }()
	for i := range kinds.Fields(arr.DataType()) {
		rows, err := alternative(mem, arr, i, false)
		if err != nil {
			return nil, err
		}
		child, err := unionsToStructs(mem, rows)
		rows.Release()
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	return Make(withoutUnions(arr.DataType()), n, []*memory.Buffer{nil}, DataOf(children), 0), nil
}

// Alternative has the rows of an alternative of a union, and nulls where another one is chosen. It does not look at rows that the union does
// not refer to. The caller releases it.
func Alternative(mem memory.Allocator, arr arrow.Array, part int) (arrow.Array, error) {
	return alternative(mem, arr, part, true)
}

// Chosen has the values of an alternative of a union in the rows that choose it, and no others. The caller releases it.
func Chosen(mem memory.Allocator, arr arrow.Array, part int) (arrow.Array, error) {
	v := kinds.Open(arr)
	var rows []int64
	adjacent := true
	for i := range arr.Len() {
		if chosen, row := v.Choice(i); chosen == part {
			rows = append(rows, int64(row))
			adjacent = adjacent && rows[len(rows)-1] == rows[0]+int64(len(rows)-1)
		}
	}
	if adjacent && len(rows) > 0 {
		return array.NewSlice(v.Parts[part], rows[0], rows[0]+int64(len(rows))), nil
	}
	return Take(mem, v.Parts[part], rows)
}

// alternative is Alternative, or with any values where another one is chosen.
func alternative(mem memory.Allocator, arr arrow.Array, part int, nulls bool) (arrow.Array, error) {
	v, rows := kinds.Open(arr), make([]int64, arr.Len())
	first, used, aligned := 0, false, !nulls
	for i := range rows {
		rows[i] = -1
		if chosen, row := v.Choice(i); chosen == part {
			if !used {
				first, used = row-i, true
			}
			rows[i], aligned = int64(row), aligned && row-i == first
		}
	}
	from := v.Parts[part]
	switch {
	case !used:
		return Nulls(mem, from.DataType(), len(rows)), nil
	case aligned && first >= 0 && first+len(rows) <= from.Len():
		return array.NewSlice(from, int64(first), int64(first+len(rows))), nil
	}
	return Take(mem, from, rows)
}

// structsToUnions is the inverse of unionsToStructs, of type dt. The caller releases it.
func structsToUnions(mem memory.Allocator, arr arrow.Array, dt arrow.DataType) (arrow.Array, error) {
	switch ext, ok := dt.(arrow.ExtensionType); {
	case !kinds.Has(dt, isUnion):
		arr.Retain()
		return arr, nil
	case ok:
		storage, err := structsToUnions(mem, arr, ext.StorageType())
		if err != nil {
			return nil, err
		}
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(ext, storage), nil
	case !isUnion(dt):
		fields := kinds.Fields(dt)
		return Rebuild(mem, arr, dt, func(i int, part arrow.Array) (arrow.Array, error) { return structsToUnions(mem, part, fields[i].Type) })
	}
	s := arr.(*array.Struct)
	var children []arrow.Array
	defer func() { ReleaseAll(children) }()
	for i, f := range kinds.Fields(dt) {
		child, err := structsToUnions(mem, s.Field(i+1), f.Type)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	codes := NewBuffer(mem, arr.Len())
	copy(codes.Bytes(), Values[byte](s.Field(0)))
	return Union(mem, dt.(arrow.UnionType), codes, children), nil
}

// unionValidity has a bit for each row of a union whose alternative is not null there.
func unionValidity(arr arrow.Array) bitmap.Bits {
	bits, null := bitmap.All(arr.Len()), kinds.Nulls(arr)
	if null != nil {
		bits.Data = make([]byte, (bits.Len+7)/8)
		for i := range bits.Len {
			if !null(i) {
				bitmap.SetRange(bits.Data, i, 1)
			}
		}
	}
	return bits
}

// Union makes a union of alternatives that have all rows: code i says which one counts in row i. In a dense union nothing refers to the
// other rows. It takes ownership of the caller's reference to codes, not of those to children.
func Union(mem memory.Allocator, dt arrow.UnionType, codes *memory.Buffer, children []arrow.Array) arrow.Array {
	buffers := []*memory.Buffer{nil, codes}
	if dt.Mode() == arrow.DenseMode {
		offsets := NewBuffer(mem, 4*codes.Len())
		for i, rows := 0, As[int32](offsets.Bytes()); i < len(rows); i++ {
			rows[i] = int32(i)
		}
		buffers = append(buffers, offsets)
	}
	return Make(dt, codes.Len(), buffers, DataOf(children), 0)
}

// DataOf is the content of arrays, for an array around them.
func DataOf(arrays []arrow.Array) []arrow.ArrayData {
	out := make([]arrow.ArrayData, len(arrays))
	for i, arr := range arrays {
		out[i] = arr.Data()
		out[i].Retain()
	}
	return out
}
