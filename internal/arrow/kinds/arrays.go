package kinds

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// View is an array and its parts, as its shape says. Rows are counted from the first of the array.
type View struct {
	Shape Shape
	// Parts are as [Fields] of the type. They belong to the array, and live as long. Rows of a [Record] are those of its parts.
	Parts []arrow.Array
	// Row is the row of the part of a [Wrap]. A null may have none.
	Row func(i int) int
	// Range is the range of rows of the parts of a [List].
	Range func(i int) (from, to int64)
	// Choice is the part of a row of a [Choice], and the row in it.
	Choice func(i int) (part, row int)
}

// Open takes an array apart.
func Open(arr arrow.Array) View {
	k := of(arr.DataType())
	v := View{Shape: k.shape}
	if k.open != nil {
		k.open(arr, &v)
	}
	return v
}

// Span is the range of rows of the parts that a list of n rows refers to, from its first to its last one. The ranges of list views,
// which may be in any order, are not within it.
func (v *View) Span(n int) (from, to int64) {
	if n == 0 {
		return 0, 0
	}
	from, _ = v.Range(0)
	_, to = v.Range(n - 1)
	return from, to
}

// Inside follows a row through wraps and choices to the array that has its value, and to the row in it. ok is false for a null.
// It allocates nothing.
func Inside(arr arrow.Array, row int) (at arrow.Array, in int, ok bool) {
	for arr.DataType().ID() != arrow.NULL && !arr.IsNull(row) {
		inside := of(arr.DataType()).inside
		if inside == nil {
			return arr, row, true
		}
		arr, row = inside(arr, row)
	}
	return nil, 0, false
}

// Nulls tells the nulls of an array, also those in dictionaries, runs and unions, which their own bitmaps lack. It is nil if there
// are none.
func Nulls(arr arrow.Array) func(row int) bool {
	v := Open(arr)
	var own func(row int) bool
	if d := arr.Data(); d.DataType().ID() == arrow.NULL {
		return func(int) bool { return true }
	} else if len(d.Buffers()) > 0 && d.Buffers()[0] != nil && v.Shape != Choice && arr.NullN() > 0 {
		own = arr.IsNull
	}
	switch v.Shape {
	case Wrap:
		inner := Nulls(v.Parts[0])
		switch {
		case inner == nil:
			return own
		case own == nil:
			return func(row int) bool { return inner(v.Row(row)) }
		}
		return func(row int) bool { return own(row) || inner(v.Row(row)) }
	case Choice:
		inner := make([]func(int) bool, len(v.Parts))
		for i, p := range v.Parts {
			inner[i] = Nulls(p)
		}
		return func(row int) bool {
			part, at := v.Choice(row)
			return inner[part] != nil && inner[part](at)
		}
	}
	return own
}

// Relabel is data as another type of the same layout. The caller releases it.
func Relabel(d arrow.ArrayData, dt arrow.DataType) arrow.ArrayData {
	out := array.NewData(dt, d.Len(), d.Buffers(), d.Children(), d.NullN(), d.Offset())
	if dictionary, ok := d.Dictionary().(*array.Data); ok && dictionary != nil {
		out.SetDictionary(dictionary)
	}
	return out
}

// Rebuild is data of type dt with other parts: those that change returns, and gives up, for the parts of d, with as many rows. Parts
// are whole, even if d is sliced. Those that become nil are left out. The caller releases the result.
func Rebuild(d arrow.ArrayData, dt arrow.DataType, change func(i int, part arrow.ArrayData) (arrow.ArrayData, error)) (arrow.ArrayData, error) {
	var parts []arrow.ArrayData
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	k, from := of(d.DataType()), d.Children()
	switch {
	case d.DataType().ID() == arrow.EXTENSION:
		storage := Relabel(d, Inner(d.DataType()))
		defer storage.Release()
		from = []arrow.ArrayData{storage}
	case k.parts != nil:
		from = k.parts(d)
	}
	for i, part := range from {
		changed, err := change(i, part)
		if err != nil {
			return nil, err
		}
		if changed != nil {
			parts = append(parts, changed)
		}
	}
	if k.put != nil {
		return k.put(d, dt, slices.Clone(parts)), nil
	}
	return array.NewData(dt, d.Len(), d.Buffers(), slices.Clone(parts), d.NullN(), d.Offset()), nil
}
