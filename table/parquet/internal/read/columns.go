package read

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/table/parquet/internal/chunk"
	"github.com/amudai/amudai-go/table/parquet/internal/convert"
)

// column is a column as it is read: a top-level column of the file, or a part of it.
type column struct {
	top      int            // position in the file
	read     arrow.DataType // type in which pqarrow reads it
	shape    arrow.DataType // by the rules of Parquet, before the stored type is restored
	restored arrow.DataType
	rest     *projection.Part // the part of it that is wanted
	leaves   []int
}

// as is the column as another type.
func (c column) as(t arrow.DataType) *column {
	c.restored = t
	return &c
}

// columnOf returns how a part of a top-level column is read as type t. If all types above the part are structs and
// lists, only its leaves are read, else all leaves.
func (f *File) columnOf(top int, part *projection.Part, t arrow.DataType) column {
	field := f.arrow.Manifest.Fields[top]
	c := column{top: top, read: f.read[top].Type, shape: f.shapes[top].Type, restored: f.schema.Field(top).Type, rest: part}
	leaves, ok := partLeaves(nil, field, c.shape, c.restored, part)
	if !ok {
		c.leaves = appendLeaves(nil, field)
		return c
	}
	c.read, c.shape, c.restored, c.rest, c.leaves = part.Type(c.read), part.Type(c.shape), t, nil, leaves
	return c
}

func appendLeaves(leaves []int, f pqarrow.SchemaField) []int {
	if f.IsLeaf() {
		return append(leaves, f.ColIndex)
	}
	for _, c := range f.Children {
		leaves = appendLeaves(leaves, c)
	}
	return leaves
}

// partLeaves appends the leaves of a part of a field. It fails if the field, its shape and its restored type have
// different nesting, and at maps, which pqarrow reads as a whole.
func partLeaves(leaves []int, f pqarrow.SchemaField, shape, restored arrow.DataType, part *projection.Part) (_ []int, ok bool) {
	if part.Whole() {
		return appendLeaves(leaves, f), true
	}
	read, n := f.Field.Type, len(f.Children)
	from, shaped, to := kinds.Fields(read), kinds.Fields(shape), kinds.Fields(restored)
	isList := kinds.Of(read) == kinds.List
	switch {
	case isList && len(from) > 1 || !isList && kinds.Of(read) != kinds.Record || kinds.Of(read) != kinds.Of(shape) || kinds.Of(read) != kinds.Of(restored),
		len(from) != n || len(shaped) != n || len(to) != n,
		isList && !arrow.TypeEqual(read, shape):
		return nil, false
	}
	asked := part.Children(n)
	for i, child := range f.Children {
		if _, found := slices.BinarySearch(asked, i); !found && !isList {
			ok = !kinds.HasID(child.Field.Type, arrow.MAP)
		} else {
			leaves, ok = partLeaves(leaves, child, shaped[i].Type, to[i].Type, part.Child(i))
		}
		if !ok {
			return nil, false
		}
	}
	return leaves, true
}

// checked checks an array of pqarrow, of so many rows, and converts it to the type of the column. The caller releases it.
func (c *column) checked(mem memory.Allocator, from arrow.Array, rows int) (arrow.Array, error) {
	a := retyped(from, c.read)
	defer a.Release()
	if err := arrowutil.ValidateFull(a); err != nil {
		return nil, err
	}
	if a.Len() != rows {
		return nil, fmt.Errorf("%d rows, others have %d", a.Len(), rows)
	}
	return c.restore(mem, a)
}

// restore converts an array of type read to the type of the column. The caller releases it.
func (c *column) restore(mem memory.Allocator, a arrow.Array) (arrow.Array, error) {
	shaped, err := convert.Shaped(mem, a, c.shape)
	if err != nil {
		return nil, err
	}
	defer shaped.Release()
	if !convert.Restorable(shaped.DataType(), c.restored) {
		return nil, fmt.Errorf("it came as %s, not as %s", shaped.DataType(), c.restored)
	}
	restored, err := convert.Restore(mem, shaped, c.restored)
	if err != nil {
		return nil, err
	}
	defer restored.Release()
	return c.rest.Array(restored)
}

// retyped converts an array, of which a part was read, to the type of this part. pqarrow converts the outer array,
// but leaves the items of lists, and the fields of structs in them, in the types of the file. The caller releases it.
func retyped(a arrow.Array, t arrow.DataType) arrow.Array {
	if arrow.TypeEqual(a.DataType(), t) {
		a.Retain()
		return a
	}
	d := retypedData(a.Data(), t)
	defer d.Release()
	return array.MakeFromData(d)
}

func retypedData(d arrow.ArrayData, t arrow.DataType) arrow.ArrayData {
	fields := kinds.Fields(t)
	if kinds.Of(d.DataType()) != kinds.Of(t) || t.ID() == arrow.MAP || len(fields) != len(d.Children()) || kinds.Inner(t) != nil { // read as a whole
		d.Retain()
		return d
	}
	out, _ := kinds.Rebuild(d, t, func(i int, part arrow.ArrayData) (arrow.ArrayData, error) {
		return retypedData(part, fields[i].Type), nil
	})
	return out
}

// scalarOf tells how a top-level column is decoded. ok is false for columns that arrow-go assembles.
func (f *File) scalarOf(top int) (s chunk.Scalar, ok bool) {
	field := f.arrow.Manifest.Fields[top]
	if !field.IsLeaf() {
		return s, false
	}
	leaf := f.meta().Schema.Column(field.ColIndex)
	if leaf.MaxRepetitionLevel() > 0 || leaf.MaxDefinitionLevel() > 1 {
		return s, false
	}
	return chunk.ScalarOf(leaf, f.read[top].Type)
}
