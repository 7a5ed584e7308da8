package stripe

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
)

// Readers make arrays of physical types, which have no dictionaries, runs, extension
// types or views at any depth. [Logical] adds these at the end, so that code that
// selects or joins rows meets few types.
//
//	logical   list_view<extension<uuid>>
//	physical  list<fixed_size_binary[16]>

// Physical is the column without dictionaries, runs, extension types and views at any
// depth. ok is false if it has none of them, and is returned as it is.
func Physical(col arrowmap.Column) (physical arrowmap.Column, ok bool) {
	physical = col
	physical.Wraps = nil
	var kids []arrow.DataType
	if len(col.Children) > 0 {
		physical.Children = make([]arrowmap.Column, len(col.Children))
		for i, c := range col.Children {
			kid, differs := Physical(c)
			physical.Children[i] = kid
			kids = append(kids, kid.Plain)
			ok = ok || differs
		}
	}
	if ok {
		physical.Plain = kinds.WithTypes(col.Plain, kids)
	}
	physical.Plain = arrowutil.WithoutView(physical.Plain)
	if !ok && len(col.Wraps) == 0 && physical.Plain.ID() == col.Plain.ID() {
		return col, false
	}
	physical.Arrow.Type = physical.Plain
	return physical, true
}

// Logical makes an array of a column's Arrow type from one of its physical type. The
// caller releases it; arr stays the caller's.
func Logical(mem memory.Allocator, arr arrow.Array, col arrowmap.Column) (arrow.Array, error) {
	if _, ok := Physical(col); !ok {
		arr.Retain()
		return arr, nil
	}
	plain, err := logicalChildren(mem, arr, &col)
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	return arrowutil.Wrap(mem, plain, col.Arrow.Type)
}

// logicalChildren makes the children of an array logical.
func logicalChildren(mem memory.Allocator, arr arrow.Array, col *arrowmap.Column) (arrow.Array, error) {
	d := arr.Data()
	dt := arrowutil.WithoutView(col.Plain)
	kids := d.Children()
	if m, ok := dt.(*arrow.MapType); ok {
		entries, err := logicalEntries(mem, kids[0], m, col)
		if err != nil {
			return nil, err
		}
		defer entries.Release()
		kids = []arrow.ArrayData{entries}
	} else if len(col.Children) == len(kids) {
		var err error
		if kids, err = logicalAll(mem, kids, col.Children); err != nil {
			return nil, err
		}
		defer releaseData(kids)
	}
	out := array.NewData(dt, d.Len(), d.Buffers(), kids, d.NullN(), d.Offset())
	defer out.Release()
	return array.MakeFromData(out), nil
}

// logicalEntries makes the keys and values of a map logical.
func logicalEntries(mem memory.Allocator, entries arrow.ArrayData, m *arrow.MapType, col *arrowmap.Column) (arrow.ArrayData, error) {
	kids, err := logicalAll(mem, entries.Children(), col.Children)
	if err != nil {
		return nil, err
	}
	defer releaseData(kids)
	return array.NewData(m.Elem(), entries.Len(), entries.Buffers(), kids, entries.NullN(), entries.Offset()), nil
}

func logicalAll(mem memory.Allocator, kids []arrow.ArrayData, columns []arrowmap.Column) ([]arrow.ArrayData, error) {
	out := make([]arrow.ArrayData, 0, len(kids))
	for i, kid := range kids {
		physical := array.MakeFromData(kid)
		arr, err := Logical(mem, physical, columns[i])
		physical.Release()
		if err != nil {
			releaseData(out)
			return nil, err
		}
		arr.Data().Retain()
		out = append(out, arr.Data())
		arr.Release()
	}
	return out, nil
}

func releaseData(list []arrow.ArrayData) {
	for _, d := range list {
		d.Release()
	}
}
