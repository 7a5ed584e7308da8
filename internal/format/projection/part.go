package projection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// Type is the part of a type. A part of an extension type is one of its storage type, and some alternatives of a union are a struct, in which
// they are null where another one is chosen.
func (p *Part) Type(t arrow.DataType) arrow.DataType {
	if p.Whole() {
		return t
	}
	var kept []arrow.Field
	for i, f := range kinds.Fields(t) {
		if child, ok := p.in(t, i); ok {
			f.Type = child.Type(f.Type)
			kept = append(kept, f)
		}
	}
	if kinds.Of(t) == kinds.Choice {
		for i := range kept {
			kept[i].Nullable = true
		}
		return arrow.StructOf(kept...)
	}
	return kinds.With(t, kept)
}

// in is the part of a part of a type. ok is false if it is left out: only structs and unions do without some.
func (p *Part) in(t arrow.DataType, i int) (child *Part, ok bool) {
	switch kinds.Of(t) {
	case kinds.Wrap:
		return p, true
	case kinds.Record, kinds.Choice:
		return p.children[i], p.children[i] != nil
	}
	return p.children[i], true
}

// Array is the part of an array, of the type that Type says. It shares the array's memory, but for alternatives of unions;
// the caller releases it.
func (p *Part) Array(a arrow.Array) (arrow.Array, error) {
	if p.Whole() {
		a.Retain()
		return a, nil
	}
	d, err := p.data(a.Data())
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

// data is the part of what an array consists of; the caller releases it.
func (p *Part) data(d arrow.ArrayData) (arrow.ArrayData, error) {
	dt := d.DataType()
	switch {
	case p.Whole() || kinds.Of(dt) == kinds.Leaf:
		d.Retain()
		return d, nil
	case kinds.Of(dt) == kinds.Choice:
		return p.alternatives(d)
	}
	return kinds.Rebuild(d, p.Type(dt), func(i int, part arrow.ArrayData) (arrow.ArrayData, error) {
		if child, ok := p.in(dt, i); ok {
			return child.data(part)
		}
		return nil, nil
	})
}

// alternatives is the struct of some alternatives of a union.
func (p *Part) alternatives(d arrow.ArrayData) (arrow.ArrayData, error) {
	union := array.MakeFromData(d)
	defer union.Release()
	var parts []arrow.ArrayData
	for i := range kinds.Fields(d.DataType()) {
		child, ok := p.in(d.DataType(), i)
		if !ok {
			continue
		}
		rows, err := arrowutil.Alternative(memory.DefaultAllocator, union, i)
		if err != nil {
			return nil, err
		}
		defer rows.Release()
		part, err := child.data(rows.Data())
		if err != nil {
			return nil, err
		}
		defer part.Release()
		parts = append(parts, part)
	}
	return array.NewData(p.Type(d.DataType()), d.Len(), []*memory.Buffer{nil}, parts, 0, 0), nil
}

// Missing is the error of a column whose type a caller sets, but that an input with certain fields lacks. It lists
// their names. For the path of a nested field, its hint is the type of the whole column.
func Missing(column arrow.Field, input string, fields []arrow.Field) error {
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		if names = append(names, f.Name); len(names) > mostNames {
			names[mostNames] = "…"
			break
		}
	}
	list := " (its columns: " + strings.Join(names, ", ") + ")"
	path := schema.SplitPath(column.Name)
	i := slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == path[0] })
	if len(path) == 1 || i < 0 {
		return fmt.Errorf("column %q of the schema is not in %s%s", column.Name, input, list)
	}
	err := fmt.Errorf("%q of the schema is no column of %s, only a path in the column %q%s", column.Name, input, path[0], list)
	if t, ok := retypedAt(fields[i].Type, path[1:], column.Type); ok {
		return &wholeColumn{err, text.Field(arrowutil.Retyped(fields[i], t))}
	}
	return err
}

// mostNames is the number of columns that an error lists.
const mostNames = 12

// retypedAt is a type with another type for the field at a path through structs.
func retypedAt(t arrow.DataType, path []string, to arrow.DataType) (arrow.DataType, bool) {
	if len(path) == 0 {
		return to, true
	}
	s, ok := t.(*arrow.StructType)
	if !ok {
		return nil, false
	}
	i, ok := s.FieldIdx(path[0])
	if !ok {
		return nil, false
	}
	fields := s.Fields()
	if fields[i].Type, ok = retypedAt(fields[i].Type, path[1:], to); !ok {
		return nil, false
	}
	return arrow.StructOf(fields...), true
}

// wholeColumn is an error about a nested field, with the column around it.
type wholeColumn struct {
	error
	column string
}

// Hint sets the type of the whole column.
func (e *wholeColumn) Hint() string {
	return fmt.Sprintf("--schema '%s' sets the type of the whole column", e.column)
}
