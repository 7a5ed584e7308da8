package parquet

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/amudai/amudai-go/internal/arrow/projection"
	"github.com/amudai/amudai-go/table"
)

// readColumn describes how a requested column is read.
type readColumn struct {
	at       int            // index among the columns of pqarrow, which are in the order of the file
	read     arrow.DataType // type in which pqarrow reads it
	shape    arrow.DataType // by the rules of Parquet, before the stored type is restored
	restored arrow.DataType
	rest     *projection.Part // the requested part of the column
}

// project finds the requested columns and their leaves. If a part of a column is requested, and all types above it
// are structs and lists, only the leaves of this part are read, else all leaves.
func (s *source) project() error {
	all, err := s.arrow.Schema()
	if err != nil {
		return err
	}
	by := shaper{}
	for leaf, unit := range s.units {
		by[s.file.MetaData().Schema.Column(leaf).SchemaNode()] = unit
	}
	shapes, given := all.Fields(), all.Fields()
	for i, root := 0, s.file.MetaData().Schema.Root(); i < len(shapes) && len(shapes) == root.NumFields(); i++ {
		shapes[i].Type = by.typeOf(root.Field(i), shapes[i].Type)
	}
	read := all.Metadata()
	all = restoredSchema(arrow.NewSchema(shapes, &read), s.stored)
	if s.wanted, err = table.Project(all, s.o.Columns); err != nil {
		return err
	}
	s.reads = make([]readColumn, s.wanted.NumColumns())
	s.leaves = nil
	columns := make([]int, len(s.reads)) // in the order of the file
	for k := range s.reads {
		columns[k] = s.wanted.Index(k)
	}
	slices.Sort(columns)
	for k := range s.reads {
		i, part := s.wanted.Index(k), s.wanted.Part(k)
		at, _ := slices.BinarySearch(columns, i)
		r := readColumn{at: at, read: given[i].Type, shape: shapes[i].Type, restored: all.Field(i).Type, rest: part}
		leaves, ok := partLeaves(nil, s.arrow.Manifest.Fields[i], r.shape, r.restored, part)
		if ok {
			r.read, r.shape, r.restored, r.rest = part.Type(r.read), part.Type(r.shape), part.Type(r.restored), nil
		} else {
			leaves = appendLeaves(nil, s.arrow.Manifest.Fields[i])
		}
		s.leaves = append(s.leaves, leaves...)
		s.reads[k] = r
	}
	slices.Sort(s.leaves)
	if s.o.Columns == nil {
		s.leaves = nil // pqarrow takes nil for all
	}
	return nil
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
	switch read := f.Field.Type.(type) {
	case *arrow.StructType:
		shaped, isStruct := shape.(*arrow.StructType)
		to, alsoStruct := restored.(*arrow.StructType)
		n := len(f.Children)
		if !isStruct || !alsoStruct || read.NumFields() != n || shaped.NumFields() != n || to.NumFields() != n {
			return nil, false
		}
		asked := part.Children(n)
		for i, child := range f.Children {
			if _, found := slices.BinarySearch(asked, i); !found {
				ok = !hasMap(child.Field.Type)
			} else {
				leaves, ok = partLeaves(leaves, child, shaped.Field(i).Type, to.Field(i).Type, part.Child(i))
			}
			if !ok {
				return nil, false
			}
		}
		return leaves, true
	case *arrow.MapType:
		return nil, false
	case arrow.ListLikeType:
		shaped, isList := shape.(arrow.ListLikeType)
		to, alsoList := restored.(arrow.ListLikeType)
		if !isList || !alsoList || len(f.Children) != 1 || !arrow.TypeEqual(read, shape) {
			return nil, false
		}
		return partLeaves(leaves, f.Children[0], shaped.Elem(), to.Elem(), part.Child(0))
	}
	return nil, false
}

func hasMap(t arrow.DataType) bool {
	if t.ID() == arrow.MAP {
		return true
	}
	nested, ok := t.(arrow.NestedType)
	return ok && slices.ContainsFunc(nested.Fields(), func(f arrow.Field) bool { return hasMap(f.Type) })
}

// take checks a batch, and returns its columns in the requested order and types.
func (s *source) take(from arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, len(s.reads))
	for k, r := range s.reads {
		c, err := s.column(from, r, s.wanted.Schema().Field(k).Name)
		if err != nil {
			return nil, err
		}
		defer c.Release()
		columns[k] = c
	}
	return array.NewRecordBatch(s.wanted.Schema(), columns, from.NumRows()), nil
}

// column checks a column of a batch and converts it to its type. The caller releases it.
func (s *source) column(from arrow.RecordBatch, r readColumn, name string) (arrow.Array, error) {
	c := retyped(from.Column(r.at), r.read)
	defer c.Release()
	if err := array.ValidateFull(c); err != nil {
		return nil, fmt.Errorf("column %q: %w", name, err)
	}
	if c.Len() != int(from.NumRows()) {
		return nil, fmt.Errorf("column %q has %d rows, others have %d", name, c.Len(), from.NumRows())
	}
	c, err := shaped(s.o.Allocator, c, r.shape)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", name, err)
	}
	defer c.Release()
	if !restorable(c.DataType(), r.restored) {
		return nil, fmt.Errorf("column %q came as %s, not as %s", name, c.DataType(), r.restored)
	}
	restored, err := restore(s.o.Allocator, c, r.restored)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", name, err)
	}
	defer restored.Release()
	return r.rest.Array(restored), nil
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
	var types []arrow.DataType
	switch t := t.(type) {
	case *arrow.StructType:
		for _, f := range t.Fields() {
			types = append(types, f.Type)
		}
	case *arrow.MapType:
	case arrow.ListLikeType:
		types = []arrow.DataType{t.Elem()}
	}
	if len(types) != len(d.Children()) { // a type that is read as a whole
		d.Retain()
		return d
	}
	children := make([]arrow.ArrayData, len(types))
	for i := range types {
		children[i] = retypedData(d.Children()[i], types[i])
		defer children[i].Release()
	}
	return array.NewData(t, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}
