package envelope

import (
	"fmt"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
)

// maxDepth bounds how deep fields are nested, so that code which walks the tree may recurse.
const maxDepth = 256

// Check tells whether references within the schema lead somewhere, and makes its indexes: until then, a schema that was made by
// hand has no children, columns of fields, or fields at the top. A parsed one is checked.
func (s *Schema) Check() error {
	if err := s.checkFields(); err != nil {
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

// checkFields tells whether every chain of parents, and every chain of sources of projections, ends.
func (s *Schema) checkFields() error {
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
	depth := make([]uint16, len(s.Fields)) // 0: not known yet
	for i := range s.Fields {
		if !s.measure(uint32(i), depth) {
			return s.depthError(i)
		}
	}
	return nil
}

// depthError says why a field has too many parents.
func (s *Schema) depthError(field int) error {
	at := uint32(field)
	for range s.Fields {
		at = s.Fields[at].Parent
	}
	if s.Fields[at].Parent != at {
		return s.fieldError(field, "its parents form a circle")
	}
	return fault.In(fault.Limitf("nested deeper than %d fields", maxDepth), fmt.Sprintf("field %d %q", field, s.Fields[field].Name), -1)
}

// measure sets the depths of a field and of those above it. It fails where the chain of parents is too long.
func (s *Schema) measure(field uint32, depth []uint16) bool {
	var chain [maxDepth]uint32
	n := 0
	for depth[field] == 0 && s.Fields[field].Parent != field {
		if n == maxDepth {
			return false
		}
		chain[n] = field
		n++
		field = s.Fields[field].Parent
	}
	depth[field] = max(depth[field], 1)
	known := int(depth[field])
	if known+n > maxDepth {
		return false
	}
	for i := range n {
		depth[chain[i]] = uint16(known + n - i)
	}
	return true
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
