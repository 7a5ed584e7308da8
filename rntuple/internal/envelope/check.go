package envelope

import (
	"fmt"
	"math"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
)

// maxDepth bounds how deep fields are nested, so that code which walks the tree may recurse.
const maxDepth = 256

// Check tells whether references within the schema lead somewhere, and makes its indexes: until then, a schema that was made by
// hand has no children, columns of fields, or fields at the top. A parsed one is checked.
func (s *Schema) Check() error {
	if err := s.checkReferences(); err != nil {
		return err
	}
	for i := range s.Columns {
		if err := s.checkColumn(&s.Columns[i]); err != nil {
			return fault.In(err, fmt.Sprintf("column %d", i), -1)
		}
	}
	for i, a := range s.Aliases {
		if int64(a.Column) >= int64(len(s.Columns)) || int64(a.Field) >= int64(len(s.Fields)) {
			return fault.In(fault.Corruptf("column %d and field %d are not both in the schema", a.Column, a.Field), fmt.Sprintf("alias column %d", i), -1)
		}
	}
	s.index()
	reached := make([]bool, len(s.Fields))
	if err := s.descend(s.top, 1, reached); err != nil {
		return err
	}
	if i := slices.Index(reached, false); i >= 0 {
		return s.fieldError(i, "its parents form a circle")
	}
	return s.checkRepresentations()
}

func (s *Schema) index() {
	fields := len(s.Fields)
	s.children = newIndex(fields, fields, func(i int) (uint32, bool) { p := s.Fields[i].Parent; return p, p != uint32(i) })
	s.columns = newIndex(fields, len(s.Columns), func(i int) (uint32, bool) { return s.Columns[i].Field, true })
	s.aliases = newIndex(fields, len(s.Aliases), func(i int) (uint32, bool) { return s.Aliases[i].Field, true })
	s.top = make([]uint32, 0, fields-len(s.children.items))
	for i := range s.Fields {
		if s.Fields[i].Parent == uint32(i) {
			s.top = append(s.top, uint32(i))
		}
	}
}

// checkReferences tells whether parents and sources of projections are in the schema.
func (s *Schema) checkReferences() error {
	for i := range s.Fields {
		f := &s.Fields[i]
		if int64(f.Parent) >= int64(len(s.Fields)) {
			return s.fieldError(i, "parent %d of %d fields", f.Parent, len(s.Fields))
		}
		if f.Projected() && int64(f.Source) >= int64(len(s.Fields)) {
			return s.fieldError(i, "source %d of %d fields", f.Source, len(s.Fields))
		}
		if f.Projected() && s.Fields[f.Source].Projected() {
			return s.fieldError(i, "its source, field %d, is a projection too", f.Source)
		}
	}
	return nil
}

// descend marks fields, and all below them, as reached. It fails where they are nested too deep.
func (s *Schema) descend(fields []uint32, depth int, reached []bool) error {
	for _, id := range fields {
		if depth > maxDepth {
			return fault.In(fault.Limitf("nested deeper than %d fields", maxDepth), fmt.Sprintf("field %d %q", id, s.Fields[id].Name), -1)
		}
		reached[id] = true
		if err := s.descend(s.Children(id), depth+1, reached); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) fieldError(field int, format string, args ...any) error {
	return fault.In(fault.Corruptf(format, args...), fmt.Sprintf("field %d %q", field, s.Fields[field].Name), -1)
}

func (s *Schema) checkColumn(c *Column) error {
	if int64(c.Field) >= int64(len(s.Fields)) {
		return fault.Corruptf("field %d of %d", c.Field, len(s.Fields))
	}
	if !c.Type.Known() {
		return nil
	}
	if low, high := c.Type.Bits(); c.Bits < low || c.Bits > high {
		return fault.Corruptf("%v of %d bits", c.Type, c.Bits)
	}
	if c.Type != column.Real32Quant {
		return nil
	}
	if c.Flags&ColumnRange == 0 {
		return fault.Corruptf("%v without a range", c.Type)
	}
	if !(c.Min < c.Max) || math.IsInf(c.Min, 0) || math.IsInf(c.Max-c.Min, 0) {
		return fault.Corruptf("%v with range %v to %v", c.Type, c.Min, c.Max)
	}
	return nil
}

// checkRepresentations tells whether the representations of each field are numbered from 0, in order, and have the same number of columns.
func (s *Schema) checkRepresentations() error {
	for f := range s.Fields {
		columns := s.ColumnsOf(uint32(f))
		if len(columns) == 0 || s.Columns[columns[len(columns)-1]].Representation == 0 && s.Columns[columns[0]].Representation == 0 {
			continue
		}
		n := len(columns) / (int(s.Columns[columns[len(columns)-1]].Representation) + 1)
		for i, c := range columns {
			if n == 0 || i/n != int(s.Columns[c].Representation) {
				return s.fieldError(f, "column %d has representation %d, out of order or of another number of columns", c, s.Columns[c].Representation)
			}
		}
	}
	return nil
}
